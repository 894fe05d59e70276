//! Races in each body, between its nodes. A node counts with all nodes in its bodies.

use super::advice::run_after;
use super::crossing::{self, Side};
use crate::parallel::Parallel;
use crate::region::Overlap;
use crate::variables::VARIABLE;
use crate::{Access, Code, Diagnostic, Draft, Mode, Nest, NodeKind, Order, Region, Subject, race};
use std::collections::BTreeSet;

/// Reports races between nodes whose order is what the author meant.
pub(super) fn unordered(draft: &Draft, order: &Nest, broken: &[bool], errors: &mut Vec<Diagnostic>) {
    if draft.bodies.len() == 1 {
        let side = |access: usize| Side {
            access,
            node: draft.accesses[access].node,
        };
        let parallel = Parallel::of(draft, order, 0);
        let uncertain = uncertain(order.order(0), broken);
        let found = of_body(draft, order.order(0), &uncertain, |first, second| {
            let (first, second) = (side(first), side(second));
            races(parallel.as_ref(), &first, &second)
        });
        let found: Vec<(Side, Side)> = found
            .into_iter()
            .map(|(first, second)| (side(first), side(second)))
            .collect();
        errors.extend(found.iter().map(|(first, second)| racing(draft, order, first, second)));
        if let Some(parallel) = parallel {
            let sides = (0..draft.accesses.len()).map(side).filter(|side| !uncertain[side.node]);
            errors.extend(crossing::of_body(draft, &parallel, sides, &found));
        }
        return;
    }
    let inner = inner_accesses(draft);
    for body in 0..order.bodies() {
        let scope = Scope::new(draft, order, body, &inner);
        let parallel = Parallel::of(draft, order, body);
        let broken: Vec<bool> = scope.nodes.iter().map(|&node| broken[node]).collect();
        let uncertain = uncertain(order.order(body), &broken);
        let found = of_body(&scope.draft, order.order(body), &uncertain, |first, second| {
            races(parallel.as_ref(), &scope.side(first), &scope.side(second))
        });
        let found: Vec<(Side, Side)> = found
            .into_iter()
            .map(|(first, second)| (scope.side(first), scope.side(second)))
            .collect();
        errors.extend(found.iter().map(|(first, second)| racing(draft, order, first, second)));
        if let Some(parallel) = parallel {
            let certain = |access: &usize| !uncertain[scope.draft.accesses[*access].node];
            let sides = (0..scope.accesses.len())
                .filter(certain)
                .map(|access| scope.side(access));
            errors.extend(crossing::of_body(draft, &parallel, sides, &found));
        }
    }
}

/// Whether two accesses of unordered nodes meet. Edges between iterations may order nodes that no path of other edges
/// orders.
pub(super) fn races(parallel: Option<&Parallel<'_>>, first: &Side, second: &Side) -> bool {
    parallel.is_none_or(|parallel| {
        !parallel.concerns(first.node, second.node)
            || parallel.race_in_one_iteration((first.access, first.node), (second.access, second.node))
    })
}

/// The nodes whose order is not what the author meant: those that are wrong, and all after them.
fn uncertain(order: &Order, broken: &[bool]) -> Vec<bool> {
    if !broken.contains(&true) {
        return vec![false; broken.len()];
    }
    let culprits: Vec<usize> = (0..broken.len()).filter(|&node| broken[node]).collect();
    (0..broken.len())
        .map(|node| broken[node] || culprits.iter().any(|&culprit| order.before(culprit, node)))
        .collect()
}

/// Pairs of accesses of one body's nodes for which `is_race` holds, without those that follow from others, or from
/// nodes whose order is uncertain.
fn of_body(
    draft: &Draft,
    order: &Order,
    uncertain: &[bool],
    is_race: impl Fn(usize, usize) -> bool,
) -> Vec<(usize, usize)> {
    let all = crate::races(draft, order);
    if all.is_empty() {
        return Vec::new();
    }
    let node = |access: usize| draft.accesses[access].node;
    let certain: Vec<_> = all
        .into_iter()
        .filter(|race| !uncertain[node(race.first)] && !uncertain[node(race.second)])
        .filter(|race| is_race(race.first, race.second))
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
    // A body comes after the body that its node is in. So, from the last body to the first, each is complete when it is
    // added to its node.
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
    /// For each of its nodes, the node of the draft.
    nodes: Vec<usize>,
    /// For each of its accesses, the access of the draft.
    accesses: Vec<usize>,
}

impl Scope {
    fn new(draft: &Draft, order: &Nest, body: usize, inner: &[Vec<usize>]) -> Self {
        let nodes: Vec<usize> = (0..order.order(body).sequence().len())
            .map(|local| order.node(body, local))
            .collect();
        let mut scope = Draft::new("");
        // Only the resources that the body touches, in order: there may be many bodies, and many resources.
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
            scope.set_numbers(local, draft.numbers.get(node).map_or(0, |&numbers| numbers as usize));
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

    /// An access as the whole draft counts it, with the node of this body that it belongs to.
    fn side(&self, access: usize) -> Side {
        Side {
            access: self.accesses[access],
            node: self.nodes[self.draft.accesses[access].node],
        }
    }
}

/// The race of two sides that are unordered in one iteration.
pub(super) fn racing(draft: &Draft, order: &Nest, first: &Side, second: &Side) -> Diagnostic {
    let name = |node: usize| &draft.nodes[node].name;
    let (a, b) = (&draft.accesses[first.access], &draft.accesses[second.access]);
    let resource = &draft.resources[a.resource];
    let overlap = Overlap::of(&a.region, &b.region);
    let iterations = iterations_of_one(draft, first.node, second.node);
    let message = match &iterations {
        Some([name, a, b]) => format!(
            "iterations {a} and {b} of `{name}` both access `{}` and can run at the same time",
            resource.name
        ),
        None => format!(
            "nodes `{}` and `{}` can run at the same time and both access `{}`",
            name(first.node),
            name(second.node),
            resource.name
        ),
    };
    let touch = |side: &Side, access: &Access, what: &str| crossing::touch(draft, side, access, what);
    let what = format!("`{}{}`", resource.name, a.region);
    let again = match a.region == b.region {
        true => "it".to_owned(),
        false => format!("`{}{}`", resource.name, b.region),
    };
    let mut diagnostic = Diagnostic::new(Code::Race, Subject::Access(second.access), message).note(format!(
        "{}, {}",
        touch(first, a, &what),
        touch(second, b, &again)
    ));
    for access in [a, b].into_iter().filter(|access| draft.nodes[access.node].partial) {
        let chooses = if draft.is_text {
            "a `param` chooses"
        } else {
            "updates choose"
        };
        diagnostic = diagnostic.note(format!(
            "{chooses} which part of `{}` `{}` touches, so any part counts",
            resource.name,
            name(access.node)
        ));
    }
    let mut helps = vec![match &iterations {
        Some(_) => "order one iteration after the other with `after_iteration`".to_owned(),
        None => run_after(draft, first.node, second.node),
    }];
    if resource.implicit {
        diagnostic = diagnostic.note(format!("`{}` {VARIABLE}", resource.name));
    } else {
        match &overlap {
            Overlap::Same => {
                let mutable = |mode| matches!(mode, Mode::Write | Mode::ReadWrite);
                let kernels = [a, b]
                    .iter()
                    .all(|access| draft.nodes[access.node].kind == NodeKind::Kernel && mutable(access.mode));
                if iterations.is_some() {
                    helps.push("give each iteration memory of its own".to_owned());
                } else if kernels {
                    helps.push("give one of them a buffer of its own".to_owned());
                }
            }
            Overlap::Part if iterations.is_none() => helps.push(run_after(draft, second.node, first.node)),
            Overlap::Part => helps.push("make the parts disjoint".to_owned()),
            Overlap::Known(shared) => {
                diagnostic = diagnostic.note(format!("both have `{}{shared}`", resource.name));
                helps.push("make the parts disjoint".to_owned());
            }
            Overlap::In(met) => {
                let helped = match crossing::two_loops(draft, met) {
                    Some(variable) => {
                        let note = format!("the two `{variable}` belong to different `for`s, so the parts may overlap");
                        diagnostic = diagnostic.note(note);
                        "split both at the same constant"
                    }
                    None => {
                        diagnostic = diagnostic.note(format!("the parts overlap where {}", crossing::iterations(met)));
                        "make the parts disjoint"
                    }
                };
                helps.push(helped.to_owned());
            }
            Overlap::Uncompared(Some((end, start))) => {
                diagnostic = diagnostic.note(match end == start {
                    true => format!("the two `{end}` belong to different `for`s, so the parts may overlap"),
                    false => format!("`{end}` and `{start}` are not compared here, so the parts may overlap"),
                });
                if ![a, b].iter().any(|access| matches!(access.region, Region::Index(_))) {
                    helps.push("split both at the same constant".to_owned());
                }
            }
            Overlap::Uncompared(None) => {}
        }
    }
    if let Some(join) = useless_join(draft, first.node, second.node) {
        debug_assert!(!order.before(first.node, join), "the two nodes would be ordered");
        diagnostic = diagnostic.note(format!(
            "`{}` runs after `{}`, but `{}` does not run after `{}`",
            name(second.node),
            name(join),
            name(join),
            name(first.node)
        ));
    }
    diagnostic.help(helps.join(", or "))
}

/// For two iterations of one node in a graph whose loops are unrolled: the node's name, and the numbers of both: `2`,
/// or `(1, 0)` in two loops.
fn iterations_of_one(draft: &Draft, first: usize, second: usize) -> Option<[String; 3]> {
    let [(name, a), (other, b)] = [first, second].map(|node| draft.name_and_numbers(node));
    let told = |numbers: &str| {
        let numbers = numbers.trim_start_matches('[').trim_end_matches(']');
        match numbers.contains("][") {
            true => format!("({})", numbers.replace("][", ", ")),
            false => numbers.to_owned(),
        }
    };
    (name == other && !a.is_empty() && !b.is_empty()).then(|| [name.to_owned(), told(a), told(b)])
}

/// A join that the later node runs after. Its author may think that it waits for the earlier one too.
fn useless_join(draft: &Draft, earlier: usize, later: usize) -> Option<usize> {
    let before = draft.edges.iter().filter(|edge| edge.to == later).map(|edge| edge.from);
    let mut joins = before.filter(|&node| draft.nodes[node].kind == NodeKind::Join && node != earlier);
    joins.next()
}
