//! Races in each body, between its nodes. A node counts with all nodes in its bodies.

use super::iteration_race::{self, Side};
use super::race_message::{Missing, missing_edge};
use crate::parallel::Parallel;
use crate::race::{self, Mend, Race};
use crate::{Access, Diagnostic, Draft, Nest, Order};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Reports races between nodes whose order is what the author meant.
pub(super) fn unordered(draft: &Draft, order: &Nest, broken: &[bool], errors: &mut Vec<Diagnostic>) {
    let inner = if draft.bodies.len() == 1 {
        Vec::new()
    } else {
        draft.inner_accesses()
    };
    for body in 0..order.bodies() {
        let scope = match draft.bodies.len() {
            1 => Scope::flat(draft),
            _ => Scope::new(draft, order, body, &inner),
        };
        let locals = 0..scope.draft.nodes.len();
        let broken: Vec<bool> = locals.map(|local| broken[scope.node(local)]).collect();
        let uncertain = uncertain(order.order(body), &broken);
        let parallel = Parallel::of(draft, order, body);
        let side = |access: usize| scope.side(access);
        let is_race = |first: usize, second: usize| races(parallel.as_ref(), &side(first), &side(second));
        let mends = scope.mends(order.order(body), &uncertain, draft, is_race);
        let of_race = |race: &Race| (side(race.first), side(race.second));
        let missing = mends.iter().map(|mend| Missing {
            from: scope.node(mend.from),
            to: scope.node(mend.to),
            race: of_race(&mend.first),
            others: mend.others.iter().map(of_race).collect(),
        });
        errors.extend(missing.map(|missing| missing_edge(draft, order, &missing)));
        if let Some(parallel) = parallel {
            let races = mends
                .iter()
                .flat_map(|mend| [&mend.first].into_iter().chain(&mend.others));
            let told: Vec<(Side, Side)> = races.map(of_race).collect();
            let certain = |&access: &usize| !uncertain[scope.draft.accesses[access].node];
            let certain = (0..scope.draft.accesses.len()).filter(certain).map(side);
            errors.extend(iteration_race::of_body(draft, order, &parallel, certain, &told));
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

/// Whether an edge leaves nothing outside a `for` that would run between its nodes: see
/// [`cycles_of_loops`](super::loop_cycle::cycles_of_loops).
fn is_around(order: &Order, members: &[usize], from: usize, to: usize) -> bool {
    let reaches = |first: usize, second: usize| first == second || order.before(first, second);
    let is_inside = members.contains(&from) && members.contains(&to);
    is_inside
        || !members.iter().any(|&member| reaches(member, from))
        || !members.iter().any(|&member| reaches(to, member))
}

/// One body as a graph without bodies.
struct Scope<'a> {
    draft: Cow<'a, Draft>,
    /// For each of its nodes, the node of the draft; and for each of its accesses, the access of the draft. `None` if
    /// it is all of the draft, which may have very many.
    outer: Option<(Vec<usize>, Vec<usize>)>,
}

impl<'a> Scope<'a> {
    /// The only body of a draft.
    fn flat(draft: &'a Draft) -> Self {
        Self {
            draft: Cow::Borrowed(draft),
            outer: None,
        }
    }

    fn new(draft: &Draft, order: &Nest, body: usize, inner: &[Vec<usize>]) -> Self {
        let nodes: Vec<usize> = (0..order.order(body).sequence().len())
            .map(|local| order.node(body, local))
            .collect();
        let mut scope = Draft::new("");
        // Only the resources that the body touches, in order: there may be many bodies, and many resources.
        let touched = |node: &usize| inner[*node].iter().map(|&access| draft.accesses[access].resource);
        let resources: BTreeSet<usize> = nodes.iter().flat_map(touched).collect();
        let resources: Vec<usize> = resources.into_iter().collect();
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
            draft: Cow::Owned(scope),
            outer: Some((nodes, accesses)),
        }
    }

    /// The edges that are missing between the body's nodes, with pairs of accesses for which `is_race` holds. Pairs
    /// that follow from others, or that are of nodes whose order is uncertain, are left out. `draft` is the whole
    /// draft.
    fn mends(
        &self,
        order: &Order,
        uncertain: &[bool],
        draft: &Draft,
        is_race: impl Fn(usize, usize) -> bool,
    ) -> Vec<Mend> {
        let local = &*self.draft;
        let owner = |access: usize| local.accesses[access].node;
        let certain = race::races_that(local, order, |race| {
            !uncertain[owner(race.first)] && !uncertain[owner(race.second)] && is_race(race.first, race.second)
        });
        if certain.is_empty() {
            return Vec::new();
        }
        // The nodes of the body in each of its `for`s.
        let locals = 0..local.nodes.len();
        let around: Vec<Vec<usize>> = locals.map(|local| draft.loops_in_body(self.node(local))).collect();
        let inside = |local: &usize, number: usize| around[*local].contains(&number);
        let members = |number: usize| (0..around.len()).filter(|local| inside(local, number)).collect();
        let ordered = (0..draft.loops.len()).filter(|&number| !draft.loops[number].parallel);
        let loops: Vec<Vec<usize>> = ordered.map(members).collect();
        let may_join = |from: usize, to: usize| {
            // Iterations of one declaration count as one node, so that edges of all of them would be needed.
            let are_single = local.numbers.is_empty();
            are_single && !uncertain[from] && loops.iter().all(|members| is_around(order, members, from, to))
        };
        race::mends(local, order, &certain, may_join)
    }

    /// A node of the body as the whole draft counts it.
    fn node(&self, local: usize) -> usize {
        self.outer.as_ref().map_or(local, |(nodes, _)| nodes[local])
    }

    /// An access as the whole draft counts it, with the node of this body that it belongs to.
    fn side(&self, access: usize) -> Side {
        Side {
            access: self.outer.as_ref().map_or(access, |(_, accesses)| accesses[access]),
            node: self.node(self.draft.accesses[access].node),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::test_draft::draft_of;
    use crate::{Code, Draft, Memory, Mode, NodeKind, Region, check};

    /// The edges that races lack, as the helps say.
    fn missing(draft: &Draft) -> Vec<String> {
        let errors = check(draft).errors;
        assert!(errors.iter().all(|error| error.code == Code::Race), "{errors:?}");
        let helps = errors
            .iter()
            .map(|error| error.to_string().lines().last().unwrap_or_default().to_owned());
        helps.collect()
    }

    /// A chain of a hundred nodes that write one memory lacks nine of its edges: that is nine errors.
    #[test]
    fn each_missing_edge_of_a_chain_is_one_error() {
        const MISSING: [usize; 9] = [7, 19, 28, 41, 50, 63, 72, 85, 94];
        let mut draft = Draft::new("Chain");
        draft.resource("data", Memory::Device);
        for index in 0..100 {
            let node = draft.node(format!("n{index}"), NodeKind::Memset);
            draft.access(node, 0, Region::Whole, Mode::Write);
            if index > 0 && !MISSING.contains(&index) {
                draft.edge(node - 1, node);
            }
        }
        let helps = MISSING.map(|index| format!("help: add `n{}` to the `after` list of `n{index}`", index - 1));
        assert_eq!(missing(&draft), helps);
    }

    /// A fan in a loop, and the node `down`, which writes what the fan reads.
    fn fan(inside: &str, outside: &str) -> Draft {
        draft_of(&format!(
            "device data;
             for i {{
                 kernel first; kernel a: data after first; kernel b: data after first; kernel c: data after first;
                 kernel last after a, b, c; {inside}
             }} {outside}"
        ))
    }

    #[test]
    fn one_edge_joins_all_of_a_loop() {
        let down = "kernel down: data=;";
        let expected = ["help: add `last` to the `after` list of `down`, or let `down` run after each of them"];
        assert_eq!(missing(&fan("", down)), expected);
        assert_eq!(missing(&fan(down, "")), expected);
    }

    /// In both graphs, one edge from `joined` to `write` would do, if nothing of the loop ran before and after it.
    #[test]
    fn no_edge_is_proposed_that_leaves_a_loop_and_enters_it_again() {
        let draft = |inside: &str, outside: &str| draft_of(&format!("device data; for i {{ {inside} }} {outside}"));
        let each = [
            "help: add `one` to the `after` list of `write`",
            "help: add `two` to the `after` list of `write`",
        ];
        let (early, late) = ("kernel early;", "kernel late after write;");
        let readers = "kernel one: data; kernel two: data;";
        let (joined, write) = ("kernel joined after one, two", "kernel write: data=;");
        let outside = draft(
            &format!("{early} {late}"),
            &format!("{readers} {joined}, early; {write}"),
        );
        assert_eq!(missing(&outside), each);
        let half = draft(&format!("{early} {late} {joined};"), &format!("{readers} {write}"));
        assert_eq!(missing(&half), each);
        let free = draft(
            &format!("{early} kernel late;"),
            &format!("{readers} {joined}; {write}"),
        );
        let expected = ["help: add `joined` to the `after` list of `write`, or let `write` run after each of them"];
        assert_eq!(missing(&free), expected);
    }
}
