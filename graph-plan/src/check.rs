//! All rules over a [`Draft`], in one pass: what is wrong, each mistake once, and the order if there is one.

use crate::{Access, Code, Diagnostic, Draft, Edge, NodeKind, Order, Space, Subject, cycles, race, races};

/// What came of checking a graph.
#[derive(Debug)]
pub struct Outcome {
    /// Mistakes; a graph without any is acyclic and race-free.
    pub errors: Vec<Diagnostic>,
    /// What an author would want to know; empty where there are errors.
    pub warnings: Vec<Diagnostic>,
    /// The order of the nodes. Where edges were wrong it leaves those out.
    pub order: Order,
    /// For each of [`Order::redundant`], its index in [`Draft::edges`].
    pub redundant: Vec<usize>,
}

impl Outcome {
    /// The direct edges left after transitive reduction.
    pub fn reduced<'a>(&'a self, draft: &'a Draft) -> impl Iterator<Item = Edge> + 'a {
        let mut redundant = self.redundant.iter().copied().peekable();
        draft
            .edges
            .iter()
            .enumerate()
            .filter(move |(index, _)| redundant.next_if_eq(index).is_none())
            .map(|(_, edge)| *edge)
    }
}

/// Checks every rule that needs no types: edges, cycles, memory kinds, aliasing and races.
///
/// Nodes marked [`broken`](crate::Node::broken) and whatever comes after them take no part in the race rule: their order is not what
/// the author meant.
pub fn check(draft: &Draft) -> Outcome {
    let mut errors = Vec::new();
    let mut broken: Vec<bool> = draft.nodes.iter().map(|node| node.broken).collect();
    let usable = usable_edges(draft, &mut errors, &mut broken);
    wrong_memory(draft, &mut errors);
    aliased_arguments(draft, &mut errors);
    let (order, kept) = order(draft, usable, &mut errors, &mut broken);
    unordered(draft, &order, &broken, &mut errors);
    let redundant: Vec<usize> = order.redundant().iter().map(|&index| kept[index]).collect();
    let warnings = if errors.is_empty() {
        warnings(draft, &order, &redundant)
    } else {
        Vec::new()
    };
    Outcome {
        errors,
        warnings,
        order,
        redundant,
    }
}

/// The indices of edges that are neither loops nor repetitions; reports those that are.
fn usable_edges(draft: &Draft, errors: &mut Vec<Diagnostic>, broken: &mut [bool]) -> Vec<usize> {
    let name = |node: usize| &draft.nodes[node].name;
    let mut seen: Vec<(Edge, usize)> = draft.edges.iter().copied().zip(0..).collect();
    if !seen.is_sorted() {
        seen.sort_unstable();
    }
    let mut repeated: Vec<usize> = seen
        .windows(2)
        .filter(|pair| pair[0].0 == pair[1].0)
        .map(|pair| pair[1].1)
        .collect();
    repeated.sort_unstable();
    let mut repeated = repeated.into_iter().peekable();
    let mut usable = Vec::with_capacity(draft.edges.len());
    for (index, edge) in draft.edges.iter().enumerate() {
        let again = repeated.next_if_eq(&index).is_some();
        if edge.from == edge.to && !again {
            broken[edge.to] = true;
            let message = format!("node `{}` runs after itself", name(edge.to));
            errors.push(
                Diagnostic::new(Code::SelfDependency, Subject::Edge(index), message)
                    .help(format!("remove `{0}` from the `after` list of `{0}`", name(edge.to))),
            );
        } else if again && edge.from != edge.to {
            let message = format!(
                "node `{}` names `{}` twice in its `after` list",
                name(edge.to),
                name(edge.from)
            );
            errors.push(
                Diagnostic::new(Code::DuplicateDependency, Subject::Edge(index), message)
                    .help(format!("remove the second `{}`", name(edge.from))),
            );
        } else if edge.from != edge.to {
            usable.push(index);
        }
    }
    usable
}

/// Host memory as a kernel argument or under a memset.
fn wrong_memory(draft: &Draft, errors: &mut Vec<Diagnostic>) {
    for (index, access) in draft.accesses.iter().enumerate() {
        let (node, resource) = (&draft.nodes[access.node], &draft.resources[access.resource]);
        let user = match node.kind {
            NodeKind::Kernel => "kernel",
            NodeKind::Memset => "memset",
            NodeKind::Memcpy | NodeKind::Join => continue,
        };
        if resource.space == Space::Host {
            let (name, node) = (&resource.name, &node.name);
            let message = format!("`{name}` is host memory, but {user} node `{node}` needs device memory");
            let help = if access.mode.writes() {
                format!(
                    "declare a `device` resource of the same shape, use it here, and copy back: `memcpy download = ... -> {name} after {node}`"
                )
            } else {
                format!(
                    "declare a `device` resource of the same shape, use it here, and copy first: `memcpy upload = {name} -> ...`"
                )
            };
            errors.push(Diagnostic::new(Code::WrongMemory, Subject::Access(index), message).help(help));
        }
    }
}

/// One node gets overlapping memory twice, once for writing.
fn aliased_arguments(draft: &Draft, errors: &mut Vec<Diagnostic>) {
    for range in draft.access_ranges() {
        let accesses = &draft.accesses[range.clone()];
        for (index, second) in accesses.iter().enumerate() {
            let alias = accesses[..index].iter().find(|first| {
                first.resource == second.resource
                    && (first.mode.writes() || second.mode.writes())
                    && first.region.overlaps(&second.region)
            });
            if let Some(first) = alias {
                errors.push(aliased(draft, first, second, range.start + index));
            }
        }
    }
}

fn aliased(draft: &Draft, first: &Access, second: &Access, index: usize) -> Diagnostic {
    let (node, name) = (&draft.nodes[second.node], &draft.resources[second.resource].name);
    let (message, help) = if node.kind == NodeKind::Memcpy {
        let message = format!("node `{}` copies `{name}` onto itself", node.name);
        (
            message,
            "copy between two resources, or between parts that do not overlap",
        )
    } else {
        let how = |access: &Access| if access.mode.writes() { "`&mut`" } else { "`&`" };
        let again = if first.mode == second.mode {
            format!("as {} twice", how(first))
        } else {
            format!("as {} and again as {}", how(first), how(second))
        };
        let message = format!("node `{}` gets `{name}` {again}", node.name);
        (
            message,
            "pass another resource, or parts that do not overlap such as `x[..MID]` and `x[MID..]`",
        )
    };
    let diagnostic = Diagnostic::new(Code::AliasedArgument, Subject::Access(index), message).help(help);
    if first.region == second.region {
        return diagnostic;
    }
    diagnostic.note(format!(
        "`{name}{}` and `{name}{}` overlap",
        first.region, second.region
    ))
}

/// Orders the nodes; reports cycles and leaves the edges inside them out. Also returns the indices of the edges used.
fn order(draft: &Draft, usable: Vec<usize>, errors: &mut Vec<Diagnostic>, broken: &mut [bool]) -> (Order, Vec<usize>) {
    let nodes = draft.nodes.len();
    let pick = |kept: &[usize]| -> Vec<Edge> { kept.iter().map(|&index| draft.edges[index]).collect() };
    let edges = pick(&usable);
    if let Some(order) = Order::new(nodes, &edges) {
        return (order, usable);
    }
    let mut component = vec![usize::MAX; nodes];
    for (number, cycle) in cycles(nodes, &edges).iter().enumerate() {
        for &node in &cycle.component {
            component[node] = number;
            broken[node] = true;
        }
        errors.push(cyclic(draft, &cycle.shortest));
    }
    let inside = |edge: Edge| component[edge.from] != usize::MAX && component[edge.from] == component[edge.to];
    let kept: Vec<usize> = usable
        .into_iter()
        .filter(|&index| !inside(draft.edges[index]))
        .collect();
    let order =
        Order::new(nodes, &pick(&kept)).expect("no cycle is left once no edge joins two nodes of one component");
    (order, kept)
}

fn cyclic(draft: &Draft, shortest: &[usize]) -> Diagnostic {
    let name = |node: usize| &draft.nodes[node].name;
    let spelled: Vec<String> = shortest
        .iter()
        .chain(&shortest[..1])
        .map(|&node| format!("`{}`", name(node)))
        .collect();
    let (last, first) = (shortest[shortest.len() - 1], shortest[0]);
    let subject = draft
        .edges
        .iter()
        .position(|edge| edge.from == last && edge.to == first)
        .map_or(Subject::Node(first), Subject::Edge);
    Diagnostic::new(
        Code::Cycle,
        subject,
        format!("nodes run after each other in a cycle: {}", spelled.join(" -> ")),
    )
    .note("each of them waits for the one before it, so none could ever start")
    .help(format!(
        "remove one of these edges, for example `{}` from the `after` list of `{}`",
        name(last),
        name(first)
    ))
}

/// Races between nodes whose order is what the author meant.
fn unordered(draft: &Draft, order: &Order, broken: &[bool], errors: &mut Vec<Diagnostic>) {
    let all = races(draft, order);
    if all.is_empty() {
        return;
    }
    let uncertain: Vec<bool> = if broken.contains(&true) {
        let culprits: Vec<usize> = (0..broken.len()).filter(|&node| broken[node]).collect();
        (0..broken.len())
            .map(|node| broken[node] || culprits.iter().any(|&culprit| order.before(culprit, node)))
            .collect()
    } else {
        vec![false; broken.len()]
    };
    let node = |access: usize| draft.accesses[access].node;
    let certain: Vec<_> = all
        .into_iter()
        .filter(|race| !uncertain[node(race.first)] && !uncertain[node(race.second)])
        .collect();
    errors.extend(
        race::roots(draft, order, &certain)
            .iter()
            .map(|race| racing(draft, race.first, race.second)),
    );
}

fn racing(draft: &Draft, first: usize, second: usize) -> Diagnostic {
    let (a, b) = (&draft.accesses[first], &draft.accesses[second]);
    let (earlier, later) = (&draft.nodes[a.node].name, &draft.nodes[b.node].name);
    let resource = &draft.resources[a.resource];
    let touch = |name: &str, access: &Access, what: &str| {
        let line = access.line.map_or(String::new(), |line| format!(" (line {line})"));
        format!("`{name}` {} {what}{line}", access.mode.verb())
    };
    let (of_first, of_second) = if a.region == b.region {
        (format!("`{}{}`", resource.name, a.region), "it".to_owned())
    } else {
        (
            format!("`{}{}`", resource.name, a.region),
            format!("`{}{}`", resource.name, b.region),
        )
    };
    let message = format!(
        "nodes `{earlier}` and `{later}` can run at the same time and both access `{}`",
        resource.name
    );
    let diagnostic = Diagnostic::new(Code::Race, Subject::Access(second), message).note(format!(
        "{}, {}",
        touch(earlier, a, &of_first),
        touch(later, b, &of_second)
    ));
    let diagnostic = if resource.implicit {
        diagnostic.note(format!(
            "`{}` is a module-scope variable of their kernels, which all nodes of a graph share",
            resource.name
        ))
    } else {
        diagnostic
    };
    diagnostic.help(format!("add `{earlier}` to the `after` list of `{later}`"))
}

fn warnings(draft: &Draft, order: &Order, redundant: &[usize]) -> Vec<Diagnostic> {
    let mut used = vec![false; draft.resources.len()];
    draft.accesses.iter().for_each(|access| used[access.resource] = true);
    let unused = draft
        .resources
        .iter()
        .enumerate()
        .filter(|(index, resource)| !used[*index] && !resource.implicit)
        .map(|(index, resource)| {
            let message = format!("no node uses `{}`", resource.name);
            Diagnostic::new(Code::UnusedResource, Subject::Resource(index), message)
                .help("remove it, or use it in a node")
        });
    let implied = redundant.iter().map(|&index| {
        let edge = draft.edges[index];
        let name = |node: usize| &draft.nodes[node].name;
        let over = draft
            .edges
            .iter()
            .find(|other| other.to == edge.to && order.before(edge.from, other.from))
            .map_or(edge.from, |other| other.from);
        let message = format!("`{}` already runs after `{}`", name(edge.to), name(edge.from));
        Diagnostic::new(Code::RedundantEdge, Subject::Edge(index), message)
            .note(format!(
                "`{}` runs after `{}`, which runs after `{}`",
                name(edge.to),
                name(over),
                name(edge.from)
            ))
            .help(format!(
                "remove `{}` from the `after` list of `{}`",
                name(edge.from),
                name(edge.to)
            ))
    });
    unused.chain(implied).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mode, Region};

    fn codes(outcome: &Outcome) -> Vec<Code> {
        outcome
            .errors
            .iter()
            .chain(&outcome.warnings)
            .map(|diagnostic| diagnostic.code)
            .collect()
    }

    fn kernels(draft: &mut Draft, names: &[&'static str]) {
        for name in names {
            draft.node(*name, NodeKind::Kernel);
        }
    }

    #[test]
    fn a_race_reads_as_the_design_says() {
        let mut draft = Draft::new("Test");
        let data = draft.resource("data", Space::Device);
        kernels(&mut draft, &["scale", "sum"]);
        let write = draft.access(0, data, Region::Whole, Mode::ReadWrite);
        let read = draft.access(1, data, Region::Whole, Mode::Read);
        draft.accesses[write].line = Some(12);
        draft.accesses[read].line = Some(13);
        let outcome = check(&draft);
        assert_eq!(
            outcome.errors[0].to_string(),
            "nodes `scale` and `sum` can run at the same time and both access `data` [race]\n\
             note: `scale` writes `data` (line 12), `sum` reads it (line 13)\n\
             help: add `scale` to the `after` list of `sum`"
        );
        assert_eq!(outcome.errors[0].subject, Subject::Access(read));
    }

    #[test]
    fn a_cycle_is_spelled_out_once_and_hides_no_other_mistake() {
        let mut draft = Draft::new("Test");
        let data = draft.resource("data", Space::Device);
        kernels(&mut draft, &["a", "b", "c", "d", "e"]);
        draft.edge(1, 0);
        draft.edge(2, 1);
        draft.edge(0, 2);
        draft.access(0, data, Region::Whole, Mode::Write);
        draft.access(3, data, Region::Whole, Mode::Write);
        draft.access(4, data, Region::Whole, Mode::Write);
        let outcome = check(&draft);
        assert_eq!(
            codes(&outcome),
            [Code::Cycle, Code::Race],
            "no race with a node of the cycle"
        );
        assert_eq!(
            outcome.errors[0].message,
            "nodes run after each other in a cycle: `a` -> `c` -> `b` -> `a`"
        );
    }

    #[test]
    fn loops_and_repetitions_are_reported_once_each() {
        let mut draft = Draft::new("Test");
        kernels(&mut draft, &["a", "b"]);
        draft.edge(0, 1);
        draft.edge(1, 1);
        draft.edge(0, 1);
        let outcome = check(&draft);
        let found: Vec<_> = outcome.errors.iter().map(|error| (error.code, error.subject)).collect();
        assert_eq!(
            found,
            [
                (Code::SelfDependency, Subject::Edge(1)),
                (Code::DuplicateDependency, Subject::Edge(2))
            ]
        );
        assert_eq!(
            outcome.reduced(&draft).filter(|edge| edge.from != edge.to).count(),
            2,
            "reduction leaves wrong edges alone"
        );
    }

    #[test]
    fn aliases_and_host_memory_are_found_by_argument() {
        let mut draft = Draft::new("Test");
        let host = draft.resource("input", Space::Host);
        let data = draft.resource("data", Space::Device);
        kernels(&mut draft, &["a"]);
        draft.access(0, host, Region::Whole, Mode::Read);
        draft.access(0, data, Region::span(0, 4), Mode::Read);
        draft.access(0, data, Region::span(4, 8), Mode::ReadWrite);
        draft.access(0, data, Region::span(3, 5), Mode::Read);
        let outcome = check(&draft);
        let found: Vec<_> = outcome.errors.iter().map(|error| (error.code, error.subject)).collect();
        assert_eq!(
            found,
            [
                (Code::WrongMemory, Subject::Access(0)),
                (Code::AliasedArgument, Subject::Access(3))
            ]
        );
    }

    #[test]
    fn warnings_come_only_with_a_right_graph() {
        let mut draft = Draft::new("Test");
        let unused = draft.resource("unused", Space::Device);
        kernels(&mut draft, &["a", "b", "c"]);
        draft.edge(0, 1);
        draft.edge(1, 2);
        let implied = draft.edge(0, 2);
        let outcome = check(&draft);
        let found: Vec<_> = outcome
            .warnings
            .iter()
            .map(|warning| (warning.code, warning.subject))
            .collect();
        assert_eq!(
            found,
            [
                (Code::UnusedResource, Subject::Resource(unused)),
                (Code::RedundantEdge, Subject::Edge(implied))
            ]
        );
        assert_eq!(outcome.warnings[1].notes, ["`c` runs after `b`, which runs after `a`"]);
        assert_eq!(outcome.reduced(&draft).count(), 2);
        draft.edge(1, 1);
        assert!(check(&draft).warnings.is_empty());
    }

    #[test]
    fn what_follows_a_broken_node_is_not_a_race() {
        let mut draft = Draft::new("Test");
        let data = draft.resource("data", Space::Device);
        kernels(&mut draft, &["a", "b", "c"]);
        draft.nodes[1].broken = true;
        draft.edge(1, 2);
        draft.access(0, data, Region::Whole, Mode::Write);
        draft.access(2, data, Region::Whole, Mode::Write);
        assert!(check(&draft).errors.is_empty());
    }
}
