//! Programmatic edges between nodes that cannot have them. A collective can: its kernel waits, and is not disabled.

use super::advice::spelled;
use crate::{Code, Diagnostic, Draft, Edge, NodeKind, Shift, Subject};

/// Reports programmatic edges from or to a node that does not launch a kernel, of the author's or built in. `usable`
/// has the indices of the edges without other mistakes. Edges between iterations count too.
pub(super) fn other_nodes(draft: &Draft, usable: &[usize], errors: &mut Vec<Diagnostic>) {
    let used = draft
        .programmatic
        .iter()
        .filter(|index| usable.binary_search(index).is_ok())
        .map(|&index| {
            let edge = draft.edges[index];
            (Subject::Edge(index), edge, draft.nodes[edge.from].name.to_string())
        });
    let shifts = draft.shifts.iter().enumerate().filter(|(_, shift)| shift.programmatic);
    let shifts = shifts.map(|(index, shift)| {
        let Shift { from, to, .. } = *shift;
        (Subject::Shift(index), Edge { from, to }, spelled(draft, shift))
    });
    for (subject, Edge { from, to }, before) in used.chain(shifts) {
        let ends = [from, to].map(|node| &draft.nodes[node]);
        let is_other = |kind: NodeKind| kind != NodeKind::Kernel && !kind.is_collective();
        let Some(other) = ends.iter().find(|node| is_other(node.kind)) else {
            continue;
        };
        let (after, name, keyword) = (&ends[1].name, &other.name, other.kind.keyword());
        let message =
            format!("node `{after}` has a programmatic edge from `{before}`, but `{name}` is a {keyword} node");
        errors.push(
            Diagnostic::new(Code::ProgrammaticEdge, subject, message)
                .note("a programmatic edge joins two kernels: the later one starts early, and waits in its own code")
                .help(format!("write `after {before}`")),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::test_draft::draft_of;
    use crate::{Code, NodeKind, check};

    #[test]
    fn kernels_and_collectives_start_early() {
        for kind in NodeKind::ALL {
            let may = *kind == NodeKind::Kernel || kind.is_collective();
            let keyword = kind.keyword();
            let draft = draft_of(&format!("kernel a; {keyword} b after ~a; kernel c after ~b;"));
            let found = check(&draft).errors;
            let refused = found.iter().filter(|error| error.code == Code::ProgrammaticEdge);
            assert_eq!(refused.count(), if may { 0 } else { 2 }, "{kind:?}");
        }
    }

    #[test]
    fn one_pair_has_one_edge() {
        let draft = draft_of("kernel a; kernel b after ~a, a;");
        let errors = check(&draft).errors;
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].code, Code::DuplicateDependency);
    }

    #[test]
    fn edges_that_are_left_out_renumber_the_others() {
        let mut draft = draft_of("kernel a; kernel b; kernel c;");
        draft.programmatic_edge(0, 7);
        draft.edge(0, 1);
        draft.programmatic_edge(1, 2);
        draft.retain_edges(|edge| edge.to < 3);
        assert_eq!((draft.edges.len(), &draft.programmatic[..]), (2, &[1][..]));
        assert!(draft.is_programmatic(1) && !draft.is_programmatic(0));
    }
}
