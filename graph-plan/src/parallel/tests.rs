//! The analysis of iterations compared with unrolled loops.

use super::{Parallel, differences};
use crate::order::tests::reachable;
use crate::{Affine, Bound, Code, Draft, Edge, Memory, Mode, NodeKind, Region, check};
use proptest::prelude::*;
use std::sync::Arc;

/// A node with the numbers of the loops around it.
type Instance = (usize, Vec<i128>);

/// A loop: its parent, whether it is an `each`, its first number, whether the number of the loop around is added to
/// that, and its length.
type LoopSketch = (Option<usize>, bool, i64, bool, i64);

/// A part: the coefficients of up to three loops around and the constant of its start, and its length; `None` for the
/// whole resource.
type PartSketch = Option<([i64; 3], i64, u64)>;

/// A part, and whether it is written.
type AccessSketch = (PartSketch, bool);

#[derive(Clone, Debug)]
struct Sketch {
    loops: Vec<LoopSketch>,
    /// The loop around each node, and its accesses.
    nodes: Vec<(Option<usize>, Vec<AccessSketch>)>,
    edges: Vec<(usize, usize)>,
    shifts: Vec<(usize, usize, [i64; 3])>,
}

fn sketches() -> impl Strategy<Value = Sketch> {
    let parents = prop_oneof![
        3 => Just(vec![None]),
        3 => Just(vec![None, Some(0)]),
        1 => Just(vec![None, None]),
        1 => Just(vec![None, Some(0), Some(0)]),
        1 => Just(vec![None, Some(0), Some(1)]),
    ];
    let loops = parents.prop_flat_map(|parents| {
        let longest = if parents.len() > 2 { 3 } else { 5 };
        let of = |parent| {
            (
                Just(parent),
                prop::bool::weighted(0.75),
                0_i64..3,
                prop::bool::weighted(0.2),
                prop_oneof![1 => Just(0), 19 => 1_i64..longest],
            )
        };
        parents.into_iter().map(of).collect::<Vec<_>>()
    });
    let part = prop_oneof![
        1 => Just(None),
        5 => ([-1_i64..4, -1_i64..4, 0_i64..2], 0_i64..7, 1_u64..4).prop_map(Some),
    ];
    loops.prop_flat_map(move |loops| {
        let (count, part) = (loops.len(), part.clone());
        let around = (0..=count).prop_map(move |around| (around < count).then_some(around));
        let node = (around, prop::collection::vec((part, any::<bool>()), 1..3));
        prop::collection::vec(node, 1..4).prop_flat_map(move |nodes| {
            let (nodes, last, loops) = (Just(nodes.clone()), nodes.len(), Just(loops.clone()));
            let edges = prop::collection::vec((0..last, 0..last), 0..3);
            let shifts = prop::collection::vec((0..last, 0..last, [-2_i64..2, -2_i64..2, -1_i64..2]), 0..4);
            (loops, nodes, edges, shifts).prop_map(|(loops, nodes, edges, shifts)| Sketch {
                loops,
                nodes,
                edges,
                shifts,
            })
        })
    })
}

impl Sketch {
    /// The loops around a node, from the outermost.
    fn around(&self, node: usize) -> Vec<usize> {
        let mut around: Vec<usize> = std::iter::successors(self.nodes[node].0, |&inner| self.loops[inner].0).collect();
        around.reverse();
        around
    }

    fn common(&self, a: usize, b: usize) -> usize {
        self.around(a)
            .iter()
            .zip(self.around(b))
            .take_while(|(a, b)| **a == *b)
            .count()
    }

    /// The range of a loop: the given one, or else its own.
    fn range(&self, number: usize, outer: &[i128], given: Option<&[(i128, i128)]>) -> (i128, i128) {
        if let Some(given) = given {
            return given[number];
        }
        let (_, _, first, slanted, length) = self.loops[number];
        let first = i128::from(first) + outer.last().copied().filter(|_| slanted && length > 0).unwrap_or(0);
        // A loop without iterations has nodes that stand in for its own, so that the order through them remains.
        (first, first + i128::from(length.max(1)) - 1)
    }

    /// Whether an instance only stands in, since a loop around it has no iterations.
    fn stands_in(&self, node: usize, given: Option<&[(i128, i128)]>) -> bool {
        given.is_none() && self.around(node).iter().any(|&around| self.loops[around].4 == 0)
    }

    fn draft(&self, is_known: bool) -> Draft {
        let mut draft = Draft::new("Test");
        draft.resource("x", Memory::Device);
        for (number, &(parent, parallel, first, slanted, length)) in self.loops.iter().enumerate() {
            let name = ["i", "j", "k"][number];
            let index = if parallel {
                draft.each(name, parent)
            } else {
                draft.for_loop(name, parent)
            };
            let literal = |value: i64| Affine::literal(value.into()).unwrap();
            let outer = parent
                .filter(|_| slanted && length > 0)
                .map(|parent| Affine::variable(&draft.loops[parent].variable));
            let end = |value: i64| match &outer {
                Some(outer) => outer.clone().plus(&literal(value)),
                None => Some(literal(value)),
            };
            let (start, last) = (end(first), end(first + length - 1));
            let variable = Arc::make_mut(&mut draft.loops[index].variable);
            match is_known {
                true => (variable.first, variable.last) = (start, last),
                false => variable.ragged = false,
            }
        }
        for (index, (around, accesses)) in self.nodes.iter().enumerate() {
            let node = draft.node(["a", "b", "c", "d"][index], NodeKind::Kernel);
            draft.nodes[node].in_loop = *around;
            for (part, writes) in accesses {
                let region = match part {
                    None => Region::Whole,
                    Some((factors, constant, length)) => {
                        let terms = self.around(node).into_iter().zip(factors).map(|(around, factor)| {
                            Affine::variable(&draft.loops[around].variable).times(*factor).unwrap()
                        });
                        let literal = |value: i64| Affine::literal(value.into()).unwrap();
                        let start = terms.fold(literal(*constant), |sum, term| sum.plus(&term).unwrap());
                        let end = start.clone().plus(&literal(*length as i64)).unwrap();
                        match length {
                            1 => Region::Index(Bound::Affine(Box::new(start))),
                            _ => Region::Range(Bound::Affine(Box::new(start)), Bound::Affine(Box::new(end))),
                        }
                    }
                };
                draft.access(node, 0, region, if *writes { Mode::Write } else { Mode::Read });
            }
        }
        for &(from, to) in &self.edges {
            if from < to {
                draft.edge(from, to);
            }
        }
        for (from, to, steps) in self.steps() {
            draft.shift(from, to, steps);
        }
        draft
    }

    /// The edges between iterations.
    fn steps(&self) -> Vec<(usize, usize, Vec<i64>)> {
        let of = |&(from, to, steps): &(usize, usize, [i64; 3])| (from, to, steps[..self.common(from, to)].to_vec());
        self.shifts
            .iter()
            .map(of)
            .filter(|(_, _, steps)| steps.iter().any(|&step| step != 0))
            .collect()
    }

    fn instances(&self, given: Option<&[(i128, i128)]>) -> Vec<Instance> {
        let mut found = Vec::new();
        for node in 0..self.nodes.len() {
            let mut all: Vec<Vec<i128>> = vec![Vec::new()];
            for around in self.around(node) {
                let longer = |numbers: Vec<i128>| {
                    let (first, last) = self.range(around, &numbers, given);
                    (first..=last).map(move |next| numbers.iter().copied().chain([next]).collect())
                };
                all = all.into_iter().flat_map(longer).collect();
            }
            found.extend(all.into_iter().map(|numbers| (node, numbers)));
        }
        found
    }

    /// Which instance runs before which; `None` if there is a cycle.
    fn order(&self, instances: &[Instance]) -> Option<Vec<Vec<bool>>> {
        let mut edges = Vec::new();
        let mut steps = self.steps();
        steps.extend(
            self.edges
                .iter()
                .filter(|(from, to)| from < to)
                .map(|&(from, to)| (from, to, vec![0; self.common(from, to)])),
        );
        for (a, (first, from)) in instances.iter().enumerate() {
            for (b, (second, to)) in instances.iter().enumerate() {
                let declared = steps.iter().any(|(first_of, second_of, steps)| {
                    let is = |(step, (from, to)): (&i64, (&i128, &i128))| *from == to + i128::from(*step);
                    first == first_of && second == second_of && steps.iter().zip(from.iter().zip(to)).all(is)
                });
                let common = self.common(*first, *second);
                let differing = (0..common).find(|&depth| from[depth] != to[depth]);
                let ordered =
                    differing.is_some_and(|depth| !self.loops[self.around(*first)[depth]].1 && from[depth] < to[depth]);
                if declared || ordered {
                    edges.push(Edge { from: a, to: b });
                }
            }
        }
        let reach = reachable(instances.len(), &edges);
        (0..instances.len())
            .all(|instance| !reach[instance][instance])
            .then_some(reach)
    }

    /// The elements that an access touches.
    fn elements(&self, (node, numbers): &Instance, access: usize) -> std::ops::Range<i128> {
        match &self.nodes[*node].1[access].0 {
            None => -1000..1000,
            Some((factors, constant, length)) => {
                let terms = numbers
                    .iter()
                    .zip(factors)
                    .map(|(number, factor)| number * i128::from(*factor));
                let start = i128::from(*constant) + terms.sum::<i128>();
                start..start + i128::from(*length)
            }
        }
    }

    /// Whether two accesses race in some iterations. Each is a node and the number of an access of it.
    fn races(
        &self,
        given: Option<&[(i128, i128)]>,
        (instances, reach): (&[Instance], &[Vec<bool>]),
        first: (usize, usize),
        second: (usize, usize),
    ) -> bool {
        let writes = |(node, access): (usize, usize)| self.nodes[node].1[access].1;
        let of = |node: usize| (0..instances.len()).filter(move |&instance| instances[instance].0 == node);
        let exist = !self.stands_in(first.0, given) && !self.stands_in(second.0, given);
        exist
            && (writes(first) || writes(second))
            && of(first.0).any(|a| {
                of(second.0).any(|b| {
                    let (one, other) = (
                        self.elements(&instances[a], first.1),
                        self.elements(&instances[b], second.1),
                    );
                    a != b && !reach[a][b] && !reach[b][a] && one.start.max(other.start) < one.end.min(other.end)
                })
            })
    }

    /// All pairs of accesses: each is a node and the number of an access of it.
    fn pairs(&self) -> Vec<((usize, usize), (usize, usize))> {
        let all =
            || (0..self.nodes.len()).flat_map(|node| (0..self.nodes[node].1.len()).map(move |access| (node, access)));
        all()
            .flat_map(|first| {
                all()
                    .filter(move |&second| first <= second)
                    .map(move |second| (first, second))
            })
            .collect()
    }

    /// The access in the draft.
    fn access(&self, (node, access): (usize, usize)) -> usize {
        self.nodes[..node]
            .iter()
            .map(|(_, accesses)| accesses.len())
            .sum::<usize>()
            + access
    }
}

/// Whether the analysis finds that two accesses race.
fn found(sketch: &Sketch, parallel: &Parallel<'_>, first: (usize, usize), second: (usize, usize)) -> bool {
    let writes = |(node, access): (usize, usize)| sketch.nodes[node].1[access].1;
    let (a, b) = ((sketch.access(first), first.0), (sketch.access(second), second.0));
    (writes(first) || writes(second))
        && (first.0 != second.0 && parallel.race_in_one_iteration(a, b)
            || differences(sketch.common(first.0, second.0)).any(|signs| parallel.meet(a, b, &signs).is_some()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn races_equal_those_of_unrolled_loops(sketch in sketches()) {
        let draft = sketch.draft(true);
        let outcome = check(&draft);
        let instances = sketch.instances(None);
        let reach = sketch.order(&instances);
        if outcome.errors.iter().any(|error| matches!(error.code, Code::Cycle | Code::SelfDependency | Code::DuplicateDependency)) {
            return Ok(());
        }
        prop_assert!(reach.is_some(), "no cycle is missed");
        let reach = reach.unwrap_or_default();
        let mut any = false;
        if let Some(parallel) = Parallel::of(&draft, &outcome.order, 0) {
            for (first, second) in sketch.pairs() {
                let expected = sketch.races(None, (&instances, &reach), first, second);
                any |= expected;
                prop_assert_eq!(found(&sketch, &parallel, first, second), expected, "{:?} {:?}", first, second);
            }
            let told = outcome.errors.iter().any(|error| error.code == Code::Race);
            prop_assert_eq!(told, any, "{:?}", outcome.errors);
        }
    }

    #[test]
    fn ranges_that_are_unknown_may_be_any(sketch in sketches(), ends in [(0_i128..3, 0_i128..4), (0_i128..3, 0_i128..4), (0_i128..3, 0_i128..3)]) {
        let draft = sketch.draft(false);
        let outcome = check(&draft);
        if outcome.errors.iter().any(|error| matches!(error.code, Code::Cycle | Code::SelfDependency | Code::DuplicateDependency)) {
            return Ok(());
        }
        let Some(parallel) = Parallel::of(&draft, &outcome.order, 0) else { return Ok(()) };
        let ranges = ends.map(|(first, length)| (first, first + length));
        let instances = sketch.instances(Some(&ranges));
        let reach = sketch.order(&instances);
        prop_assert!(reach.is_some(), "no cycle is missed");
        let reach = reach.unwrap_or_default();
        for (first, second) in sketch.pairs() {
            if sketch.races(Some(&ranges), (&instances, &reach), first, second) {
                prop_assert!(found(&sketch, &parallel, first, second), "{:?} {:?}", first, second);
            }
        }
    }
}

/// `each i in 0..count { first, second }`, two kernels.
fn two_in_each(count: Option<i64>) -> Draft {
    let mut draft = Draft::new("Test");
    draft.resource("x", Memory::Device);
    let around = draft.each("i", None);
    if let Some(count) = count {
        let variable = Arc::make_mut(&mut draft.loops[around].variable);
        (variable.first, variable.last) = (Affine::literal(0), Affine::literal(i128::from(count - 1)));
    }
    for name in ["first", "second"] {
        let node = draft.node(name, NodeKind::Kernel);
        draft.nodes[node].in_loop = Some(around);
    }
    draft
}

#[test]
fn nodes_of_one_iteration_are_before_those_of_others_by_edges_between() {
    let mut draft = two_in_each(None);
    draft.edge(0, 1);
    let unordered = |draft: &Draft, first, second| {
        let order = check(draft).order;
        Parallel::of(draft, &order, 0).is_some_and(|parallel| parallel.are_unordered(first, second))
    };
    assert!(unordered(&draft, 0, 0) && unordered(&draft, 0, 1));
    draft.shift(1, 0, [-1]);
    assert!(!unordered(&draft, 0, 0) && !unordered(&draft, 0, 1));
    draft.shifts[0].steps = vec![-2];
    assert!(unordered(&draft, 0, 0), "odd and even iterations");
    assert_eq!(
        crate::unordered_launches(&draft, &check(&draft).order, &[(0, "k"), (1, "k")]),
        [(0, 0)]
    );
}

#[test]
fn a_thousand_iterations_are_checked_like_ten() {
    let time = |count: i64| {
        let mut draft = two_in_each(Some(count));
        for index in 2..10 {
            let node = draft.node(format!("n{index}"), NodeKind::Kernel);
            draft.nodes[node].in_loop = Some(0);
        }
        let i = Affine::variable(&draft.loops[0].variable);
        let end = i
            .clone()
            .times(4)
            .and_then(|start| start.plus(&Affine::literal(4)?))
            .unwrap();
        let start = i.times(4).unwrap();
        for node in 0..10 {
            let region = Region::Range(
                Bound::Affine(Box::new(start.clone())),
                Bound::Affine(Box::new(end.clone())),
            );
            draft.access(node, 0, region, Mode::ReadWrite);
            if node > 0 {
                draft.edge(node - 1, node);
            }
        }
        draft.shift(9, 0, [-1]);
        let all = draft.resource("all", Memory::Device);
        draft.accesses.sort_by_key(|access| access.node);
        let mut with_all = Vec::new();
        for access in &draft.accesses {
            with_all.push(access.clone());
            with_all.push(crate::Access {
                resource: all,
                region: Region::Whole,
                ..access.clone()
            });
        }
        draft.accesses = with_all;
        let started = std::time::Instant::now();
        assert_eq!(check(&draft).errors, []);
        draft.shifts.clear();
        assert_eq!(check(&draft).errors.len(), 1);
        started.elapsed()
    };
    let few = (0..5).map(|_| time(10)).min().unwrap_or_default();
    let many = (0..5).map(|_| time(1000)).min().unwrap_or_default();
    assert!(many < 20 * few, "{few:?} {many:?}");
}
