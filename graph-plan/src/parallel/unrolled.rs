//! The analysis of iterations compared with unrolled loops.

use super::{Parallel, differences};
use crate::order::tests::reachable;
use crate::test_draft::draft_of;
use crate::{Affine, Bound, Code, Draft, Edge, Memory, Mode, NodeKind, Region, check, infer};
use proptest::prelude::*;
use std::sync::Arc;

/// A node with the numbers of the loops around it.
type Instance = (usize, Vec<i128>);

/// The number of an instance that stands in for a loop without iterations, in that loop and in the loops inside.
const STAND_IN: i128 = i128::MIN / 2;

/// A loop.
#[derive(Clone, Debug)]
struct LoopSketch {
    parent: Option<usize>,
    /// Whether it is an `each`.
    parallel: bool,
    /// The constants of its first number and of its last.
    ends: [i64; 2],
    /// The factors of the number of the loop around in the two.
    slants: [i64; 2],
}

/// A part: the coefficients of up to three loops around and the constant of its start, the number that this is divided
/// by to get the start as the remainder, if any, and the part's length; `None` for the whole resource.
type PartSketch = Option<([i64; 3], i64, Option<i64>, u64)>;

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
        let slants = prop_oneof![
            14 => Just([0, 0]),
            3 => Just([1, 1]),
            1 => Just([1, 0]),
            1 => Just([0, 1]),
            1 => Just([0, -1]),
        ];
        let of = |parent: Option<usize>| {
            let length = prop_oneof![1 => Just(0), 19 => 1_i64..longest];
            (prop::bool::weighted(0.75), 0_i64..3, length, slants.clone()).prop_map(
                move |(parallel, first, length, slants)| LoopSketch {
                    parent,
                    parallel,
                    ends: [first, first + length - 1],
                    slants: parent.map_or([0, 0], |_| slants),
                },
            )
        };
        parents.into_iter().map(of).collect::<Vec<_>>()
    });
    let divisor = prop_oneof![2 => Just(None), 1 => (1_i64..5).prop_map(Some)];
    let part = prop_oneof![
        1 => Just(None),
        5 => ([-1_i64..4, -1_i64..4, 0_i64..2], 0_i64..7, divisor, 1_u64..4).prop_map(Some),
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
        let mut around: Vec<usize> =
            std::iter::successors(self.nodes[node].0, |&inner| self.loops[inner].parent).collect();
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

    /// The numbers of a loop.
    fn range(&self, number: usize, outer: &[i128]) -> std::ops::RangeInclusive<i128> {
        let LoopSketch { ends, slants, .. } = self.loops[number];
        let around = outer.last().copied().unwrap_or(0);
        let [first, last] = [0, 1].map(|end| i128::from(ends[end]) + i128::from(slants[end]) * around);
        if around == STAND_IN || last < first {
            STAND_IN..=STAND_IN
        } else {
            first..=last
        }
    }

    /// The draft, in which some first and last numbers of loops are `hidden`.
    fn draft(&self, hidden: [[bool; 2]; 3]) -> Draft {
        let mut draft = Draft::new("Test");
        draft.resource("x", Memory::Device);
        for (
            number,
            &LoopSketch {
                parent,
                parallel,
                ends,
                slants,
            },
        ) in self.loops.iter().enumerate()
        {
            let name = ["i", "j", "k"][number];
            let index = if parallel {
                draft.each(name, parent)
            } else {
                draft.for_loop(name, parent)
            };
            let [first, last] = [0, 1].map(|end| {
                let constant = Affine::literal(ends[end].into());
                let outer = parent.map(|parent| Affine::variable(&draft.loops[parent].variable));
                let form = match outer.and_then(|outer| outer.times(slants[end])) {
                    Some(outer) => outer.plus(&constant?),
                    None => constant,
                };
                form.filter(|_| !hidden[number][end])
            });
            let variable = Arc::make_mut(&mut draft.loops[index].variable);
            variable.ragged = hidden[number] != [false; 2] && slants != [0; 2];
            (variable.first, variable.last) = (first, last);
        }
        for (index, (around, accesses)) in self.nodes.iter().enumerate() {
            let node = draft.node(["a", "b", "c", "d"][index], NodeKind::Kernel);
            draft.nodes[node].in_loop = *around;
            for (part, writes) in accesses {
                let region = match part {
                    None => Region::Whole,
                    Some((factors, constant, divisor, length)) => {
                        let terms = self.around(node).into_iter().zip(factors).map(|(around, factor)| {
                            Affine::variable(&draft.loops[around].variable).times(*factor).unwrap()
                        });
                        let literal = |value: i64| Affine::literal(value.into()).unwrap();
                        let start = terms.fold(literal(*constant), |sum, term| sum.plus(&term).unwrap());
                        let start = match divisor {
                            // The remainder of a negative literal has no form.
                            Some(divisor) if start.value().is_none_or(|value| value >= 0) => {
                                start.modulo(*divisor).unwrap()
                            }
                            _ => start,
                        };
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

    fn instances(&self) -> Vec<Instance> {
        let mut found = Vec::new();
        for node in 0..self.nodes.len() {
            let mut all: Vec<Vec<i128>> = vec![Vec::new()];
            for around in self.around(node) {
                let longer = |numbers: Vec<i128>| {
                    let range = self.range(around, &numbers);
                    range.map(move |next| numbers.iter().copied().chain([next]).collect())
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
                let ordered = differing
                    .is_some_and(|depth| !self.loops[self.around(*first)[depth]].parallel && from[depth] < to[depth]);
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
            Some((factors, constant, divisor, length)) => {
                let terms = numbers
                    .iter()
                    .zip(factors)
                    .map(|(number, factor)| number * i128::from(*factor));
                let start = i128::from(*constant) + terms.sum::<i128>();
                let start = divisor.map_or(start, |divisor| start.rem_euclid(divisor.into()));
                start..start + i128::from(*length)
            }
        }
    }

    /// Whether two accesses race in some iterations. Each is a node and the number of an access of it.
    fn races(
        &self,
        (instances, reach): (&[Instance], &[Vec<bool>]),
        first: (usize, usize),
        second: (usize, usize),
    ) -> bool {
        let writes = |(node, access): (usize, usize)| self.nodes[node].1[access].1;
        let exists = |instance: usize| !instances[instance].1.contains(&STAND_IN);
        let of = |node: usize| {
            (0..instances.len()).filter(move |&instance| instances[instance].0 == node && exists(instance))
        };
        (writes(first) || writes(second))
            && of(first.0).any(|a| {
                of(second.0).any(|b| {
                    let one = self.elements(&instances[a], first.1);
                    let other = self.elements(&instances[b], second.1);
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
        let draft = sketch.draft([[false; 2]; 3]);
        let outcome = check(&draft);
        let instances = sketch.instances();
        let reach = sketch.order(&instances);
        if outcome.errors.iter().any(|error| matches!(error.code, Code::Cycle | Code::SelfDependency | Code::DuplicateDependency)) {
            return Ok(());
        }
        prop_assert!(reach.is_some(), "no cycle is missed");
        let reach = reach.unwrap_or_default();
        let mut any = false;
        if let Some(parallel) = Parallel::of(&draft, &outcome.order, 0) {
            for (first, second) in sketch.pairs() {
                let expected = sketch.races((&instances, &reach), first, second);
                any |= expected;
                prop_assert_eq!(found(&sketch, &parallel, first, second), expected, "{:?} {:?}", first, second);
            }
            let told = outcome.errors.iter().any(|error| error.code == Code::Race);
            prop_assert_eq!(told, any, "{:?}", outcome.errors);
        }
    }

    #[test]
    fn ranges_that_are_unknown_may_be_any(sketch in sketches(), hidden in any::<[[bool; 2]; 3]>()) {
        let draft = sketch.draft(hidden);
        let outcome = check(&draft);
        if outcome.errors.iter().any(|error| matches!(error.code, Code::Cycle | Code::SelfDependency | Code::DuplicateDependency)) {
            return Ok(());
        }
        let Some(parallel) = Parallel::of(&draft, &outcome.order, 0) else { return Ok(()) };
        let instances = sketch.instances();
        let reach = sketch.order(&instances);
        prop_assert!(reach.is_some(), "no cycle is missed");
        let reach = reach.unwrap_or_default();
        for (first, second) in sketch.pairs() {
            if sketch.races((&instances, &reach), first, second) {
                prop_assert!(found(&sketch, &parallel, first, second), "{:?} {:?}", first, second);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    /// Loops of both kinds, nested or not, and whatever edges lead forward.
    #[test]
    fn nodes_of_one_iteration_never_race_once_edges_are_inferred(sketch in sketches(), keeps: bool) {
        let mut sketch = sketch;
        sketch.shifts.clear();
        sketch.edges.retain(|_| keeps);
        let mut draft = sketch.draft([[false; 2]; 3]);
        draft.auto = true;
        infer(&mut draft, &[]);
        let order = check(&draft).order;
        let Some(parallel) = Parallel::of(&draft, &order, 0) else { return Ok(()) };
        for (first, second) in sketch.pairs() {
            let writes = |(node, access): (usize, usize)| sketch.nodes[node].1[access].1;
            let (a, b) = ((sketch.access(first), first.0), (sketch.access(second), second.0));
            let race = first.0 != second.0 && (writes(first) || writes(second));
            prop_assert!(!race || !parallel.race_in_one_iteration(a, b), "{:?} {:?}", first, second);
        }
    }
}

#[test]
fn nodes_of_one_iteration_are_before_those_of_others_by_edges_between() {
    let mut draft = draft_of("device x; each i { kernel first; then kernel second; }");
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

/// `each i in 0..4 { write: x[2 * i]; each j { read: x[2 * i - 2] after write, read(i - 1, j) } }`. The numbers of `j`
/// are given. The edge between iterations orders `read` after the `write` of the previous iteration if the two
/// iterations of `i` have a number of `j` in common.
fn read_after_the_previous(parallel: bool, ends: impl Fn(&Affine) -> [Affine; 2]) -> Draft {
    let mut draft = Draft::new("Test");
    draft.resource("x", Memory::Device);
    let literal = |value: i128| Affine::literal(value).unwrap();
    let outer = draft.each("i", None);
    let variable = Arc::make_mut(&mut draft.loops[outer].variable);
    (variable.first, variable.last) = (Some(literal(0)), Some(literal(3)));
    let i = Affine::variable(&draft.loops[outer].variable);
    let inner = if parallel { Draft::each } else { Draft::for_loop }(&mut draft, "j", Some(outer));
    let variable = Arc::make_mut(&mut draft.loops[inner].variable);
    let [first, last] = ends(&i);
    (variable.first, variable.last) = (Some(first), Some(last));
    for (name, around, offset, mode) in [("write", outer, 0, Mode::Write), ("read", inner, -2, Mode::Read)] {
        let node = draft.node(name, NodeKind::Kernel);
        draft.nodes[node].in_loop = Some(around);
        let index = i
            .clone()
            .times(2)
            .and_then(|index| index.plus(&literal(offset)))
            .unwrap();
        draft.access(node, 0, Region::Index(Bound::Affine(Box::new(index))), mode);
    }
    draft.edge(0, 1);
    draft.shift(1, 1, [-1, 0]);
    draft
}

#[test]
fn an_edge_between_iterations_needs_both_of_them() {
    let literal = |value: i128| Affine::literal(value).unwrap();
    let plus = |i: &Affine, value: i128| i.clone().plus(&literal(value)).unwrap();
    let minus = |value: i128, i: &Affine| i.clone().times(-1).unwrap().plus(&literal(value)).unwrap();
    let is_race = |parallel: bool, ends: &dyn Fn(&Affine) -> [Affine; 2]| {
        let errors = check(&read_after_the_previous(parallel, ends)).errors;
        assert!(errors.iter().all(|error| error.code == Code::Race), "{errors:?}");
        !errors.is_empty()
    };
    for parallel in [true, false] {
        assert!(!is_race(parallel, &|_| [literal(0), literal(2)]));
        assert!(!is_race(parallel, &|i| [literal(1), minus(9, i)]), "fewer each time");
        assert!(
            is_race(parallel, &|i| [plus(i, 1), plus(i, 1)]),
            "`i + 1` was not there before"
        );
    }
    let one_more = |i: &Affine| [literal(0), plus(i, 0)];
    assert!(is_race(true, &one_more), "`i` was not there before");
    assert!(!is_race(false, &one_more), "`i` runs after those that were");
}

#[test]
fn a_stand_in_is_in_no_iteration() {
    let literal = |value: i128| Affine::literal(value).unwrap();
    let draft = read_after_the_previous(true, |i| [literal(0), i.clone().plus(&literal(-1)).unwrap()]);
    let error = &check(&draft).errors[0];
    let expected = "iteration 0 of `write` and iteration 1 of `read` both access `x` and can run at the same time";
    assert_eq!(error.message, expected);
    let no_iterations = read_after_the_previous(true, |_| [literal(0), literal(-1)]);
    assert_eq!(check(&no_iterations).errors, []);
}

/// The last iteration of `last` runs at any time.
#[test]
fn a_loop_without_a_known_end_hides_no_iteration_of_another() {
    let draft =
        draft_of("device x; for j in 0..2 { kernel first; kernel last: x=; } each i { kernel after: x after first; }");
    let codes: Vec<Code> = check(&draft).errors.iter().map(|error| error.code).collect();
    assert_eq!(codes, [Code::Race]);
}

#[test]
fn a_thousand_iterations_are_checked_like_ten() {
    let time = |count: i64| {
        let nodes = (1..10).map(|node| format!("then kernel n{node}: x[4 * i..4 * i + 4]*, all*; "));
        let nodes: String = nodes.collect();
        let first = "kernel n0: x[4 * i..4 * i + 4]*, all* after n9(-1);";
        let mut draft = draft_of(&format!("device x, all; each i in 0..{count} {{ {first} {nodes} }}"));
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

fn messages(draft: &Draft) -> Vec<String> {
    check(draft).errors.into_iter().map(|error| error.message).collect()
}

#[test]
fn an_edge_to_the_next_iteration_orders_no_later_one() {
    let mut draft = draft_of("device x; each i { kernel n0: x[i + 2]=; kernel n1: x[i] after n0(-1); }");
    let expected = ["iteration 0 of `n0` and iteration 2 of `n1` both access `x` and can run at the same time"];
    assert_eq!(messages(&draft), expected);
    draft.shift(0, 0, [-1]);
    assert_eq!(messages(&draft), [""; 0], "`n0` runs in order, so the edge orders all");
}

#[test]
fn nodes_that_are_each_in_order_may_meet_each_other() {
    let draft = draft_of("device x; each i { kernel n0: x= after n0(-1); then kernel n1: x= after n1(-1); }");
    let expected = ["iteration 0 of `n1` and iteration 1 of `n0` both access `x` and can run at the same time"];
    assert_eq!(messages(&draft), expected);
    let read_first = draft_of("device x; each i { kernel n0: x; then kernel n1: x=; }");
    let expected = ["iterations 0 and 1 of `n1` both access `x` and can run at the same time"];
    assert_eq!(messages(&read_first), expected);
}

#[test]
fn bounds_of_an_outer_loop_split_the_iterations_of_an_inner_one() {
    let mut draft = Draft::new("Test");
    draft.resource("x", Memory::Device);
    let outer = draft.for_loop("i", None);
    let inner = draft.each("j", Some(outer));
    let middle = || Bound::iteration("f(i)", outer);
    let column = Affine::variable(&draft.loops[inner].variable);
    let next = Affine::literal(1)
        .and_then(|one| one.plus(&column))
        .expect("it is small");
    let parts = [
        (Region::Range(Bound::Known(0), middle()), column),
        (Region::Range(middle(), Bound::End), next),
    ];
    for (name, (rows, column)) in ["upper", "lower"].into_iter().zip(parts) {
        let node = draft.node(name, NodeKind::Kernel);
        draft.nodes[node].in_loop = Some(inner);
        let column = Region::Index(Bound::Affine(Box::new(column)));
        draft.access(node, 0, Region::Parts(Box::new([rows, column])), Mode::Write);
    }
    assert_eq!(messages(&draft), [""; 0]);
}
