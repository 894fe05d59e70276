//! Loops: nothing outside a `for` runs between its nodes.

use super::Found;
use super::advice::line_of_edge;
use crate::draft::Link;
use crate::{Code, Diagnostic, Draft, Edge, Nest, Subject, cycles};

/// Reports nodes outside a `for` that run after one of its nodes and before another: they would have to run after its
/// last iteration and before its first. `usable` are the edges to look at; edges that the order leaves out are part of
/// a cycle that was reported.
pub(super) fn cycles_of_loops(draft: &Draft, usable: &[usize], order: &Nest, found: &mut Found) {
    if draft.loops.is_empty() {
        return;
    }
    let around: Vec<Vec<usize>> = (0..draft.nodes.len()).map(|node| around(draft, node)).collect();
    let ordered = |&&index: &&usize| order.before(draft.edges[index].from, draft.edges[index].to);
    let lifted: Vec<(usize, Edge)> = usable
        .iter()
        .filter(ordered)
        .map(|&index| (index, lift(draft.edges[index], &around)))
        .collect();
    let edges: Vec<Edge> = lifted.iter().map(|&(_, edge)| edge).collect();
    for cycle in cycles(draft.nodes.len() + draft.loops.len(), &edges) {
        for (node, around) in around.iter().enumerate() {
            found.broken[node] |= around.iter().any(|item| cycle.component.contains(item));
        }
        let (diagnostic, links) = cyclic(draft, &cycle.shortest, &lifted);
        found.cycle(diagnostic, links, Some("move what runs in between into the `for`"));
    }
}

/// The `for`s around a node in its body, from the outermost, and then the node itself, as numbers: `for`s are numbered
/// after the nodes. An `each` is no place of its own: nodes outside may run between its nodes.
fn around(draft: &Draft, node: usize) -> Vec<usize> {
    let loops = draft.loops_in_body(node).into_iter();
    let ordered = loops.filter(|&around| !draft.loops[around].parallel);
    ordered.map(|around| draft.nodes.len() + around).chain([node]).collect()
}

/// The edge lifted to the innermost place around both nodes: it joins the node or `for` that each of them is, or is
/// in, directly in that place. Every node and every `for` is in one place, so the edges of all places form one graph,
/// and each cycle of it is in one place.
fn lift(edge: Edge, around: &[Vec<usize>]) -> Edge {
    let (from, to) = (&around[edge.from], &around[edge.to]);
    let mut both = from.iter().zip(to);
    let different = both.find(|(from, to)| from != to);
    different.map_or(edge, |(&from, &to)| Edge { from, to })
}

/// The mistake of a cycle, and its edges.
fn cyclic(draft: &Draft, shortest: &[usize], lifted: &[(usize, Edge)]) -> (Diagnostic, Vec<Link>) {
    let nodes = draft.nodes.len();
    let spelled = |item: usize| match item.checked_sub(nodes) {
        Some(for_loop) => format!("`for {}`", draft.loops[for_loop].variable.name),
        None => format!("`{}`", draft.nodes[item].name),
    };
    let all: Vec<String> = shortest
        .iter()
        .chain(&shortest[..1])
        .map(|&item| spelled(item))
        .collect();
    let (mut links, mut notes) = (Vec::new(), Vec::new());
    for (&from, &to) in shortest.iter().zip(shortest.iter().cycle().skip(1)) {
        let Some(&(index, _)) = lifted.iter().find(|(_, edge)| *edge == Edge { from, to }) else {
            continue;
        };
        let last = if from < nodes { "" } else { "the last " };
        let first = if to < nodes { "" } else { "the first " };
        let Edge { from, to } = draft.edges[index];
        let [before, after] = [from, to].map(|node| &draft.nodes[node].name);
        let line = line_of_edge(draft, index);
        notes.push(format!("{first}`{after}` runs after {last}`{before}`{line}"));
        links.insert(0, Link::Edge(index));
    }
    let message = format!("nodes run after each other in a cycle: {}", all.join(" -> "));
    let diagnostic = Diagnostic::new(Code::Cycle, Subject::Node(0), message);
    let diagnostic = notes.into_iter().fold(diagnostic, Diagnostic::note);
    let diagnostic =
        diagnostic.note("iterations of a `for` run one after the other, and nothing outside runs between them");
    (diagnostic, links)
}

#[cfg(test)]
mod tests {
    use crate::test_draft::draft_of;
    use crate::{Code, Draft, check};

    fn messages(draft: &Draft) -> Vec<String> {
        check(draft).errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn nothing_runs_between_the_nodes_of_a_loop() {
        let draft = draft_of("for i { join a; join b after x; } join x after a;");
        let expected = ["nodes run after each other in a cycle: `x` -> `for i` -> `x` [cycle]\n\
              note: the first `b` runs after `x`\n\
              note: `x` runs after the last `a`\n\
              note: iterations of a `for` run one after the other, and nothing outside runs between them\n\
              help: remove `a` from the `after` list of `x`, or move what runs in between into the `for`"];
        assert_eq!(messages(&draft), expected);
    }

    #[test]
    fn what_was_wrong_before_stays_so() {
        let mut draft = draft_of(
            "device data; for i { join a; join b after x; } join x after a; kernel c: data=; kernel d: data=;",
        );
        assert_eq!(messages(&draft).len(), 2, "the cycle and the race");
        draft.nodes[3].broken = true;
        assert_eq!(messages(&draft).len(), 1, "the cycle alone");
    }

    #[test]
    fn what_is_before_and_what_is_after_a_loop_is_right() {
        let right = draft_of(
            "join x; for i { join a after x; for j { join c after a, x; } join b after a, x, c; } join y after a, b;",
        );
        assert_eq!(messages(&right), [""; 0]);
    }

    #[test]
    fn loops_run_after_each_other_one_way() {
        let draft = |b: &str, d: &str| {
            draft_of(&format!(
                "for i {{ join a; join b {b}; }} for k {{ join c after a; join d {d}; }}"
            ))
        };
        let found = messages(&draft("after d", ""));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("nodes run after each other in a cycle: `for i` -> `for k` -> `for i` [cycle]"));
        assert_eq!(messages(&draft("", "after b")), [""; 0]);
    }

    #[test]
    fn inner_loops_are_single_things_inside_outer_ones() {
        let found = messages(&draft_of("for i { for j { join a; join b after x; } join x after a; }"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("`x` -> `for j` -> `x`"), "{found:?}");
    }

    #[test]
    fn a_cycle_of_nodes_is_one_mistake() {
        let found = messages(&draft_of("for i { join a after x; join b after a; } join x after a;"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("`a` -> `x` -> `a`"));
    }

    #[test]
    fn what_is_wrong_in_two_loops_is_no_race_as_well() {
        let draft = draft_of(
            "device data; for i { for j { kernel a: data=; join b after x, y; } join x after a; }
             join y after a; kernel other: data=;",
        );
        let found = messages(&draft);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found.iter().all(|message| message.contains(" in a cycle: ")),
            "{found:?}"
        );
    }

    #[test]
    fn loops_around_bodies_are_not_in_them() {
        let mut draft = draft_of(
            "device data; for i {
                 if choice { kernel first: data=; for l { kernel second: data= after first; } kernel third after second; }
             }",
        );
        assert_eq!(messages(&draft), [""; 0]);
        draft.edges.clear();
        let outcome = check(&draft);
        assert_eq!(
            outcome.errors.iter().map(|error| error.code).collect::<Vec<_>>(),
            [Code::Race]
        );
    }
}
