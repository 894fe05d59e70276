//! Races in each body: between its nodes, each standing for all that is in its bodies.

use crate::variables::VARIABLE;
use crate::{Access, Code, Diagnostic, Draft, Nest, Order, Subject, race, races};
use std::collections::BTreeSet;

/// Races between nodes whose order is what the author meant.
pub(super) fn unordered(draft: &Draft, order: &Nest, broken: &[bool], errors: &mut Vec<Diagnostic>) {
    if draft.bodies.len() == 1 {
        let found = of_body(draft, order.order(0), broken);
        errors.extend(found.into_iter().map(|(first, second)| racing(draft, first, second)));
        return;
    }
    let inner = inner_accesses(draft);
    for body in 0..order.bodies() {
        let scope = Scope::new(draft, order, body, &inner);
        let broken: Vec<bool> = scope.nodes.iter().map(|&node| broken[node]).collect();
        let found = of_body(&scope.draft, order.order(body), &broken);
        errors.extend(
            found
                .into_iter()
                .map(|(first, second)| scope.racing(draft, first, second)),
        );
    }
}

/// Pairs of accesses of one body's nodes, without those that follow from others, or from nodes that are wrong.
fn of_body(draft: &Draft, order: &Order, broken: &[bool]) -> Vec<(usize, usize)> {
    let all = races(draft, order);
    if all.is_empty() {
        return Vec::new();
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
    race::roots(draft, order, &certain)
        .iter()
        .map(|race| (race.first, race.second))
        .collect()
}

/// The accesses, by index, of each node and of all nodes in its bodies.
fn inner_accesses(draft: &Draft) -> Vec<Vec<usize>> {
    let mut inner = vec![Vec::new(); draft.nodes.len()];
    for (index, access) in draft.accesses.iter().enumerate() {
        inner[access.node].push(index);
    }
    // A body comes after the one that its node is in, so from the last to the first each is complete when it is handed on.
    let mut members = vec![Vec::new(); draft.bodies.len()];
    for (node, declared) in draft.nodes.iter().enumerate() {
        members[declared.body].push(node);
    }
    for body in (1..draft.bodies.len()).rev() {
        let Some(owner) = draft.bodies[body].node else { continue };
        for &node in &members[body] {
            let handed = inner[node].clone();
            inner[owner].extend(handed);
        }
    }
    inner.iter_mut().for_each(|accesses| accesses.sort_unstable()); // as declared, for the messages
    inner
}

/// One body as a graph without bodies.
struct Scope {
    draft: Draft,
    /// The node of each of its nodes.
    nodes: Vec<usize>,
    /// The access of each of its accesses.
    accesses: Vec<usize>,
}

impl Scope {
    fn new(draft: &Draft, order: &Nest, body: usize, inner: &[Vec<usize>]) -> Self {
        let nodes: Vec<usize> = (0..order.order(body).sequence().len())
            .map(|local| order.node(body, local))
            .collect();
        let mut scope = Draft::new("");
        // Of the resources, in order, those that it touches: there may be many bodies, and many resources.
        let touched = |node: &usize| inner[*node].iter().map(|&access| draft.accesses[access].resource);
        let resources: Vec<usize> = nodes
            .iter()
            .flat_map(touched)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        scope.resources = resources
            .iter()
            .map(|&resource| draft.resources[resource].clone())
            .collect();
        let local_resource = |resource: usize| resources.partition_point(|&other| other < resource);
        let mut accesses = Vec::new();
        for (local, &node) in nodes.iter().enumerate() {
            scope.nodes.push(draft.nodes[node].clone());
            for &access in &inner[node] {
                let declared = &draft.accesses[access];
                scope.accesses.push(Access {
                    node: local,
                    resource: local_resource(declared.resource),
                    ..declared.clone()
                });
                accesses.push(access);
            }
        }
        Self {
            draft: scope,
            nodes,
            accesses,
        }
    }

    /// The message, with the nodes inside bodies that it is about.
    fn racing(&self, draft: &Draft, first: usize, second: usize) -> Diagnostic {
        let mut diagnostic = racing(&self.draft, first, second);
        diagnostic.subject = Subject::Access(self.accesses[second]);
        for access in [first, second] {
            let (inside, around) = (
                draft.accesses[self.accesses[access]].node,
                self.nodes[self.draft.accesses[access].node],
            );
            if inside != around {
                let name = |node: usize| &draft.nodes[node].name;
                let note = format!("that of `{}` is in its node `{}`", name(around), name(inside));
                diagnostic = diagnostic.note(note);
            }
        }
        diagnostic
    }
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
        diagnostic.note(format!("`{}` {VARIABLE}", resource.name))
    } else {
        diagnostic
    };
    diagnostic.help(format!("add `{earlier}` to the `after` list of `{later}`"))
}
