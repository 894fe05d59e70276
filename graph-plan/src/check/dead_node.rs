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
    Diagnostic::new(Code::DeadNode, Subject::Node(node), message)
        .note(note)
        .help(format!(
            "remove `{name}`, or use what it writes; `#[allow(dead_node)]` on it keeps it"
        ))
}

#[cfg(test)]
mod tests {
    use crate::{Code, Draft, Memory, Mode, NodeKind, Region, Role, Subject, check};

    fn dead(draft: &Draft) -> Vec<Subject> {
        let outcome = check(draft);
        assert_eq!(outcome.errors, []);
        let warnings = outcome
            .warnings
            .into_iter()
            .filter(|warning| warning.code == Code::DeadNode);
        warnings.map(|warning| warning.subject).collect()
    }

    /// `input -> a -> b`, as kernels.
    fn chain() -> (Draft, [usize; 3]) {
        let mut draft = Draft::new("Test");
        let memory = [
            draft.resource("input", Memory::Device),
            draft.resource("a", Memory::Scratch),
            draft.resource("b", Memory::Scratch),
        ];
        for (name, from) in [("first", 0), ("second", 1)] {
            let node = draft.node(name, NodeKind::Kernel);
            draft.access(node, memory[from], Region::Whole, Mode::Read);
            draft.access(node, memory[from + 1], Region::Whole, Mode::ReadWrite);
        }
        draft.edge(0, 1);
        (draft, memory)
    }

    #[test]
    fn readers_of_other_parts_and_of_earlier_contents_are_not_named() {
        let (mut draft, memory) = chain();
        draft.accesses[1].region = Region::span(0, 4);
        draft.accesses[2].region = Region::span(0, 4);
        // It reads the part that `first` writes, before that, and `third` reads the other part, after it.
        for (name, region) in [("earlier", Region::span(0, 4)), ("third", Region::span(4, 8))] {
            let node = draft.node(name, NodeKind::Kernel);
            draft.access(node, memory[1], region, Mode::Read);
            draft.access(node, memory[2], Region::Whole, Mode::ReadWrite);
        }
        let fill = draft.node("fill", NodeKind::Memset);
        draft.access(fill, memory[1], Region::Whole, Mode::Write);
        draft.edges.clear();
        for (from, to) in [(fill, 2), (2, 0), (0, 3), (3, 1)] {
            draft.edge(from, to);
        }
        draft.accesses[2].region = Region::span(4, 8);
        let outcome = check(&draft);
        let of_first = outcome
            .warnings
            .iter()
            .find(|warning| warning.subject == Subject::Node(0));
        let expected = ["it writes only `a`: scratch memory that no node reads after it"];
        assert_eq!(of_first.expect("nothing reads it").notes, expected);
    }

    #[test]
    fn whatever_may_do_more_is_not_dead() {
        let (mut draft, _) = chain();
        draft.nodes[1].opaque = true;
        assert_eq!(dead(&draft), []);
        draft.nodes[1].opaque = false;
        draft.nodes[1].kind = NodeKind::Capture;
        assert_eq!(dead(&draft), []);
        draft.nodes[1].kind = NodeKind::Kernel;
        let counter = draft.resource("counter", Memory::Device);
        draft.access(1, counter, Region::Whole, Mode::ReadWrite);
        assert_eq!(dead(&draft), [], "it writes a variable of its module");
    }

    #[test]
    fn the_next_iteration_may_read() {
        let mut draft = Draft::new("Test");
        let flag = draft.resource("flag", Memory::Device);
        let tmp = draft.resource("tmp", Memory::Scratch);
        let set = draft.node("set", NodeKind::Memset);
        draft.access(set, tmp, Region::Whole, Mode::Write);
        let repeat = draft.node("repeat", NodeKind::While);
        draft.access(repeat, flag, Region::Whole, Mode::Read);
        draft.edge(set, repeat);
        let body = draft.body(repeat, Role::While);
        let reader = draft.node_in(body, "reader", NodeKind::Kernel);
        draft.access(reader, tmp, Region::Whole, Mode::Read);
        draft.access(reader, flag, Region::Whole, Mode::ReadWrite);
        let writer = draft.node_in(body, "writer", NodeKind::Kernel);
        draft.access(writer, tmp, Region::Whole, Mode::ReadWrite);
        draft.edge(reader, writer);
        assert_eq!(dead(&draft), []);
        draft.bodies[body].role = Role::Then;
        draft.nodes[repeat].kind = NodeKind::If;
        assert_eq!(dead(&draft), [Subject::Node(writer)]);
    }
}
