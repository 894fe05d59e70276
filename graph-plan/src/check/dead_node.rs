//! Nodes whose results nothing uses.

use crate::scope::Scopes;
use crate::{Access, Code, Diagnostic, Draft, Memory, Nest, NodeKind, Subject};

/// Nodes that only write scratch memory which nothing reads afterwards, and nodes that only write for such nodes.
pub(super) fn dead_nodes(draft: &Draft, order: &Nest) -> Vec<Diagnostic> {
    if !draft.has(Memory::Scratch) {
        return Vec::new();
    }
    let scopes = Scopes::new(draft);
    let ranges = draft.access_ranges();
    let accesses = |node: usize| &draft.accesses[ranges[node].clone()];
    let candidate = |&node: &usize| {
        let declared = &draft.nodes[node];
        let mut writes = accesses(node).iter().filter(|access| access.mode.writes()).peekable();
        matches!(declared.kind, NodeKind::Kernel | NodeKind::Memcpy | NodeKind::Memset)
            && !declared.opaque
            && writes.peek().is_some()
            && writes.all(|access| draft.is_scratch(access.resource))
    };
    let candidates: Vec<usize> = (0..draft.nodes.len()).filter(candidate).collect();
    let mut readers = vec![Vec::new(); draft.resources.len()];
    for access in draft.accesses.iter().filter(|access| access.reads()) {
        readers[access.resource].push(access);
    }
    let mut dead = vec![false; draft.nodes.len()];
    loop {
        let used = |write: &Access| {
            // The search starts at the write: most memory is read soon after it.
            let readers = &readers[write.resource];
            let (before, after) = readers.split_at(readers.partition_point(|reader| reader.node <= write.node));
            after.iter().chain(before).any(|reader| {
                !dead[reader.node]
                    && reader.region.overlaps_in_some_iterations(&write.region)
                    && may_follow(order, &scopes, write, reader)
            })
        };
        let unused =
            |&&node: &&usize| !dead[node] && !accesses(node).iter().any(|access| access.mode.writes() && used(access));
        let found: Vec<usize> = candidates.iter().filter(unused).copied().collect();
        if found.is_empty() {
            break;
        }
        found.into_iter().for_each(|node| dead[node] = true);
    }
    let reader_of = |node: usize| {
        let mut writes = accesses(node).iter().filter(|access| access.mode.writes());
        writes.find_map(|write| {
            let reads = |reader: &&&Access| {
                reader.node != node
                    && reader.region.overlaps_in_some_iterations(&write.region)
                    && may_follow(order, &scopes, write, reader)
            };
            readers[write.resource].iter().find(reads).map(|reader| reader.node)
        })
    };
    let of_node = |&node: &usize| dead[node].then(|| diagnostic(draft, node, accesses(node), reader_of(node)));
    candidates.iter().filter_map(of_node).collect()
}

/// Whether `reader` may run after `write`, perhaps in the next iteration of a loop.
fn may_follow(order: &Nest, scopes: &Scopes, write: &Access, reader: &Access) -> bool {
    let again = || {
        scopes
            .repetitions(reader.node)
            .any(|scope| scopes.contains(scope, write.node))
    };
    write.node != reader.node && (!order.before(reader.node, write.node) || again())
}

/// `reader` is a node that reads what it writes, if there is one; it is dead too.
fn diagnostic(draft: &Draft, node: usize, accesses: &[Access], reader: Option<usize>) -> Diagnostic {
    let mut names: Vec<String> = Vec::new();
    for access in accesses.iter().filter(|access| access.mode.writes()) {
        let name = format!("`{}`", draft.resources[access.resource].name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let (name, names) = (&draft.nodes[node].name, names.join(" and "));
    let message = format!("nothing uses what `{name}` writes");
    let note = match reader {
        Some(reader) => {
            let reader = &draft.nodes[reader].name;
            format!("it writes only {names}: scratch memory that `{reader}` reads, of which nothing is used either")
        }
        None => format!("it writes only {names}: scratch memory that no node reads after it"),
    };
    let turned = turned(draft, node, accesses).unwrap_or_default();
    Diagnostic::new(Code::DeadNode, Subject::Node(node), message)
        .note(note)
        .help(format!(
            "remove `{name}`, or use what it writes{turned}; `#[allow(dead_node)]` on it keeps it"
        ))
}

/// The part of the help about a copy from other memory, which may go in the wrong direction.
fn turned(draft: &Draft, node: usize, accesses: &[Access]) -> Option<String> {
    let place = |reads: bool| {
        let mut found = accesses.iter().filter(|access| access.mode.writes() != reads);
        let (access, None) = (found.next()?, found.next()) else {
            return None;
        };
        Some((
            access.resource,
            format!("{}{}", draft.resources[access.resource].name, access.region),
        ))
    };
    let (source, from) = place(true)?;
    let (_, to) = place(false)?;
    let may_be = draft.is_text && draft.nodes[node].kind == NodeKind::Memcpy && !draft.is_scratch(source);
    may_be.then(|| format!(", or write `{to} -> {from}` if it is to copy the other way"))
}

#[cfg(test)]
mod tests {
    use crate::test_draft::draft_of;
    use crate::{Code, Draft, Mode, NodeKind, Region, Subject, check};

    fn dead(draft: &Draft) -> Vec<Subject> {
        let outcome = check(draft);
        assert_eq!(outcome.errors, []);
        let warnings = outcome
            .warnings
            .into_iter()
            .filter(|warning| warning.code == Code::DeadNode);
        warnings.map(|warning| warning.subject).collect()
    }

    #[test]
    fn readers_of_other_parts_and_of_earlier_contents_are_not_named() {
        // `earlier` reads the part that `first` writes, before that, and `third` reads the other part, after it.
        let draft = draft_of(
            "device input; scratch a, b; kernel first: input, a[0..4]* after earlier; kernel second: a[4..8], b* after third;
             kernel earlier: a[0..4], b* after fill; kernel third: a[4..8], b* after first; memset fill: a=;",
        );
        let outcome = check(&draft);
        let of_first = outcome
            .warnings
            .iter()
            .find(|warning| warning.subject == Subject::Node(0));
        let expected = ["it writes only `a`: scratch memory that no node reads after it"];
        assert_eq!(of_first.expect("nothing reads it").notes, expected);
    }

    #[test]
    fn a_copy_may_go_the_wrong_way() {
        let help = |draft: &str| {
            let mut draft = draft_of(draft);
            draft.is_text = true;
            check(&draft).warnings[0].help.clone().expect("there is one")
        };
        let other_way = "or write `a -> loss` if it is to copy the other way";
        assert!(help("host loss; scratch a; memcpy down: loss, a=;").contains(other_way));
        let between_scratch = "scratch a, b; memset fill: a=; memcpy copy: a, b= after fill;";
        assert!(!help(between_scratch).contains("other way"));
    }

    #[test]
    fn whatever_may_do_more_is_not_dead() {
        let mut draft =
            draft_of("device input, counter; scratch a, b; kernel first: input, a*; then kernel second: a, b*;");
        draft.nodes[1].opaque = true;
        assert_eq!(dead(&draft), []);
        draft.nodes[1].opaque = false;
        draft.nodes[1].kind = NodeKind::Capture;
        assert_eq!(dead(&draft), []);
        draft.nodes[1].kind = NodeKind::Kernel;
        draft.access(1, 1, Region::Whole, Mode::ReadWrite);
        assert_eq!(dead(&draft), [], "it writes a variable of its module");
    }

    #[test]
    fn the_next_iteration_may_read() {
        let dead = |keyword: &str| {
            dead(&draft_of(&format!(
                "device flag; scratch tmp; memset set: tmp=;
                 then {keyword} repeat: flag {{ kernel reader: tmp, flag*; then kernel writer: tmp*; }}"
            )))
        };
        assert_eq!(dead("while"), []);
        assert_eq!(dead("if"), [Subject::Node(3)]);
    }
}
