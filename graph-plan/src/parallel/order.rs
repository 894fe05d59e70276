//! The order of nodes of one body in different iterations of the loops around them.
//!
//! An *instance* is a node with a number for each loop of the body around it. An edge joins instances that have equal
//! numbers in the loops around both nodes, and any numbers in other loops. For a [`Shift`](crate::Shift), the numbers
//! in the loops around both nodes differ by its steps. Iterations of a `for` are ordered: there are edges from each
//! instance in it to all instances of the next iteration.
//!
//! An edge needs both of its instances. If the range of a loop depends on loops around it, an iteration that a
//! [`Shift`](crate::Shift) names may be outside that range. A loop without iterations has one instance of each of its
//! nodes, which stands in for them, so that the order through the loop remains.

use super::Apart;
use crate::{Affine, Draft, Nest};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};

/// The most instances that one search visits.
const MAX_INSTANCES: usize = 1 << 14;

/// The number of an instance in a loop without iterations and in the loops inside that loop. No iteration has this
/// number, and no step leads to it or from it.
const STAND_IN: i128 = i128::MIN / 2;

/// The order of one body's instances.
pub(super) struct Instances<'a> {
    draft: &'a Draft,
    order: &'a Nest,
    /// The loops of the body around each node, from the outermost; empty for nodes of other bodies.
    loops: Vec<Vec<usize>>,
    after: Vec<Vec<Step>>,
    before: Vec<Vec<Step>>,
    /// The nodes in each loop.
    members: HashMap<usize, Vec<usize>>,
    reached: RefCell<HashMap<usize, Vec<bool>>>,
    certain: RefCell<HashMap<Differing, bool>>,
}

/// An edge to or from another node.
struct Step {
    node: usize,
    /// For each loop around both nodes, the number of the other instance minus that of this one.
    by: Vec<i64>,
}

/// Two nodes, and the signs by which the numbers of the loops around both differ.
type Differing = (usize, usize, Vec<i64>);

/// A node with a number for each loop of the body around it.
type Instance = (usize, Vec<i128>);

/// The order of the instances of two nodes in all iterations that differ in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certainty {
    /// All such instances are ordered.
    Ordered,
    /// None of them are ordered.
    Unordered,
    /// Some of them may be ordered.
    Open,
}

impl<'a> Instances<'a> {
    pub(super) fn new(draft: &'a Draft, order: &'a Nest, body: usize) -> Self {
        let nodes = draft.nodes.len();
        let loops = draft.loops_of_body(body);
        let mut members: HashMap<usize, Vec<usize>> = HashMap::new();
        for (node, loops) in loops.iter().enumerate() {
            loops
                .iter()
                .for_each(|&around| members.entry(around).or_default().push(node));
        }
        let mut after: Vec<Vec<Step>> = (0..nodes).map(|_| Vec::new()).collect();
        let mut before: Vec<Vec<Step>> = (0..nodes).map(|_| Vec::new()).collect();
        for edge in Apart::of(draft, order, body, &loops) {
            let back = edge.by.iter().map(|step| -step).collect();
            let (node, by) = (edge.to, edge.by);
            after[edge.from].push(Step { node, by });
            let (node, by) = (edge.from, back);
            before[edge.to].push(Step { node, by });
        }
        Self {
            draft,
            order,
            loops,
            after,
            before,
            members,
            reached: RefCell::default(),
            certain: RefCell::default(),
        }
    }

    /// The loops of the body around a node, from the outermost.
    pub(super) fn loops(&self, node: usize) -> &[usize] {
        &self.loops[node]
    }

    /// The number of loops of the body that are around both nodes.
    pub(super) fn common(&self, first: usize, second: usize) -> usize {
        Apart::common(&self.loops[first], &self.loops[second])
    }

    /// Whether a node is in an `each` of the body.
    pub(super) fn is_parallel(&self, node: usize) -> bool {
        self.loops[node].iter().any(|&around| self.draft.loops[around].parallel)
    }

    /// The order of two nodes in all iterations whose numbers in the loops around both, those of `second` minus those
    /// of `first`, have these signs.
    pub(super) fn certainty(&self, first: usize, second: usize, signs: &[i64]) -> Certainty {
        let differing = signs.iter().position(|&sign| sign != 0);
        let ordered = match differing {
            Some(depth) if !self.draft.loops[self.loops[first][depth]].parallel => true,
            Some(_) => {
                let back: Vec<i64> = signs.iter().map(|sign| -sign).collect();
                self.is_certain(first, second, signs) || self.is_certain(second, first, &back)
            }
            None => self.order.ordered(first, second),
        };
        if ordered {
            Certainty::Ordered
        } else if !self.reaches(first, second) && !self.reaches(second, first) {
            Certainty::Unordered
        } else {
            Certainty::Open
        }
    }

    /// Whether a path leads from one node to the other in any iterations.
    fn reaches(&self, first: usize, second: usize) -> bool {
        let mut known = self.reached.borrow_mut();
        let reached = known.entry(first).or_insert_with(|| {
            let mut reached = vec![false; self.loops.len()];
            let mut stack = vec![first];
            while let Some(node) = stack.pop() {
                let next = self.after[node].iter().map(|step| step.node);
                let ordered = self.loops[node]
                    .iter()
                    .filter(|&&around| !self.draft.loops[around].parallel);
                for next in next.chain(ordered.flat_map(|around| self.members[around].iter().copied())) {
                    if !std::mem::replace(&mut reached[next], true) {
                        stack.push(next);
                    }
                }
            }
            reached
        });
        reached[second]
    }

    /// Whether a path certainly leads from each instance of `first` to all instances of `second` whose numbers in the
    /// loops around both differ by these signs.
    ///
    /// There are such paths if two conditions hold. A path leads from `first` to `second` over some node, where the
    /// numbers of the ends differ by 1 for each sign that is not 0. And for each of these loops, one of the three nodes
    /// has a path to itself in the next iteration, or is outside the loop: that path is repeated as often as it takes.
    /// All numbers on the way lie between those of the two ends. So all instances on the way exist in the loops around
    /// both ends if these loops have the same range in all iterations of others. They also do if the ends differ in one
    /// loop only, since ranges with affine ends are convex. In other loops, [`Instances::joins_instances`] is true of
    /// each step.
    fn is_certain(&self, first: usize, second: usize, signs: &[i64]) -> bool {
        let key = (first, second, signs.to_vec());
        if let Some(&known) = self.certain.borrow().get(&key) {
            return known;
        }
        let around = &self.loops[first][..signs.len()];
        let differing: Vec<usize> = (0..signs.len()).filter(|&depth| signs[depth] != 0).collect();
        let is_rectangular = |&around: &usize| self.draft.loops[around].variable.is_rectangular();
        let ragged = |around: &usize| self.draft.loops[*around].variable.ragged;
        let is_convex = differing.len() == 1 || around.iter().all(is_rectangular);
        let certain = is_convex && !around.iter().any(ragged) && {
            let zero = vec![0; signs.len()];
            let forward = self.box_reach((first, zero), around, signs, &self.after, 1);
            let back = self.box_reach((second, signs.to_vec()), around, signs, &self.before, -1);
            let direct = forward.contains(&(second, signs.to_vec()));
            let repeats = |node: usize, depth: usize| self.repeats(node, around, depth, signs[depth]);
            let at_ends = |depth: &usize| repeats(first, *depth) || repeats(second, *depth);
            let open: Vec<usize> = differing.into_iter().filter(|depth| !at_ends(depth)).collect();
            let over = |(node, _): &&(usize, Vec<i64>)| open.iter().all(|&depth| repeats(*node, depth));
            direct && open.is_empty() || forward.intersection(&back).any(|instance| over(&instance))
        };
        self.certain.borrow_mut().insert(key, certain);
        certain
    }

    /// Whether a path leads from a node to itself in the next iteration of a loop, or in the previous one if `sign` is
    /// -1. Also true if the node is outside that loop.
    fn repeats(&self, node: usize, around: &[usize], depth: usize, sign: i64) -> bool {
        let inside = Apart::common(&self.loops[node], around);
        if depth >= inside {
            return true;
        }
        let mut signs = vec![0; inside];
        signs[depth] = sign;
        self.box_reach((node, vec![0; inside]), &around[..inside], &signs, &self.after, 1)
            .contains(&(node, signs))
    }

    /// The nodes that paths from one node certainly reach, with their numbers in the loops `around` minus those of that
    /// node. Only paths count on which each of these differences is 0 or the sign of its loop. `direction` is 1 to
    /// follow the edges forward and -1 to follow them back.
    fn box_reach(
        &self,
        from: (usize, Vec<i64>),
        around: &[usize],
        signs: &[i64],
        edges: &[Vec<Step>],
        direction: i64,
    ) -> HashSet<(usize, Vec<i64>)> {
        let inside = |node: usize| Apart::common(&self.loops[node], around);
        let mut reached = HashSet::from([from.clone()]);
        let mut queue = VecDeque::from([from]);
        let mut found = Vec::new();
        while let Some((node, numbers)) = queue.pop_front() {
            for step in &edges[node] {
                let kept = inside(node).min(inside(step.node)).min(step.by.len());
                if step.by[kept..].iter().all(|&by| by == 0) && self.joins_instances(node, step, kept) {
                    found.push((step.node, numbers[..kept].to_vec(), step.by[..kept].to_vec()));
                }
            }
            for (depth, loop_around) in self.loops[node].iter().enumerate().take(inside(node)) {
                if !self.draft.loops[*loop_around].parallel {
                    let mut by = vec![0; depth + 1];
                    by[depth] = direction;
                    let members = self.members[loop_around].iter();
                    found.extend(members.map(|&next| (next, numbers[..=depth].to_vec(), by.clone())));
                }
            }
            for (next, mut numbers, by) in found.drain(..) {
                let mut moved = numbers.iter_mut().zip(&by).zip(signs);
                if !moved.all(|((number, by), sign)| {
                    *number += by;
                    *number == 0 || *number == *sign
                }) {
                    continue;
                }
                let mut all = vec![numbers];
                for &sign in &signs[all[0].len().min(inside(next))..inside(next)] {
                    let values = if sign == 0 { vec![0] } else { vec![0, sign] };
                    let longer = |&value: &i64| all.iter().map(move |numbers| [&numbers[..], &[value]].concat());
                    all = values.iter().flat_map(longer).collect();
                }
                for numbers in all {
                    if reached.insert((next, numbers.clone())) {
                        queue.push_back((next, numbers));
                    }
                }
            }
        }
        reached
    }

    /// Whether both instances of the edge `step` of `node` exist, or stand in for a loop without iterations, if their
    /// iterations of the `kept` outermost loops exist. In each further loop around both nodes, the two have the same
    /// number. It exists for both if the loop has the same range in the iterations of both.
    fn joins_instances(&self, node: usize, step: &Step, kept: usize) -> bool {
        let (outer, inner) = self.loops[node][..self.common(node, step.node)].split_at(kept);
        let steps = outer.iter().zip(&step.by);
        let moved: Vec<usize> = steps.filter(|&(_, &by)| by != 0).map(|(&around, _)| around).collect();
        let is_same = |&around: &usize| {
            let variable = &self.draft.loops[around].variable;
            let ends = [&variable.first, &variable.last].into_iter().flatten();
            let mut terms = ends.flat_map(|form| form.terms());
            !variable.ragged && !terms.any(|(variable, _)| moved.contains(&variable.number))
        };
        moved.is_empty() || inner.iter().all(is_same)
    }

    /// Whether a path certainly leads from one instance to the other. `outer` has the numbers of the loops around the
    /// body.
    ///
    /// Loops have their own ranges as far as these are known. An unknown range may end at the numbers of the two
    /// instances, so only paths between these numbers count there.
    pub(super) fn is_before(&self, from: &Instance, to: &Instance, outer: &dyn Fn(usize) -> Option<i128>) -> bool {
        if !self.reaches(from.0, to.0) {
            return false;
        }
        [true, false].into_iter().any(|tight| {
            let instances = self;
            let search = Search {
                instances,
                from,
                to,
                outer,
                tight,
            };
            search.succeeds()
        })
    }
}

/// A search for a path between two instances.
struct Search<'s, 'a> {
    instances: &'s Instances<'a>,
    from: &'s Instance,
    to: &'s Instance,
    outer: &'s dyn Fn(usize) -> Option<i128>,
    /// Whether all numbers are between those of the two instances.
    tight: bool,
}

impl Search<'_, '_> {
    fn succeeds(&self) -> bool {
        let mut seen = HashSet::from([self.from.clone()]);
        let mut queue = VecDeque::from([self.from.clone()]);
        while let Some(instance) = queue.pop_front() {
            let mut next = Vec::new();
            self.next(&instance, &mut next);
            for instance in next {
                if instance == *self.to || seen.len() > MAX_INSTANCES {
                    return true; // no race is reported: the graph is checked again when it is built
                }
                if seen.insert(instance.clone()) {
                    queue.push_back(instance);
                }
            }
        }
        false
    }

    fn next(&self, (node, numbers): &Instance, found: &mut Vec<Instance>) {
        let instances = self.instances;
        for step in &instances.after[*node] {
            let by = step.by.iter().map(|&by| i128::from(by));
            let moved = numbers.iter().zip(by).map(|(number, by)| number + by).collect();
            self.complete(step.node, moved, found);
        }
        for (depth, around) in instances.loops[*node].iter().enumerate() {
            if !instances.draft.loops[*around].parallel {
                let mut moved = numbers[..=depth].to_vec();
                moved[depth] += 1;
                for &member in &instances.members[around] {
                    self.complete(member, moved.clone(), found);
                }
            }
        }
    }

    /// Adds the instances of a node whose outermost numbers are the given ones and whose numbers are all in range, and
    /// those that stand in for a loop without iterations.
    fn complete(&self, node: usize, given: Vec<i128>, found: &mut Vec<Instance>) {
        let loops = &self.instances.loops[node];
        let mut all = vec![Vec::new()];
        for (depth, &around) in loops.iter().enumerate() {
            let longer = all.iter().flat_map(|numbers: &Vec<i128>| {
                let (low, high) = match numbers.contains(&STAND_IN) {
                    true => (STAND_IN, STAND_IN),
                    false => self.range(&loops[..depth], numbers, around),
                };
                let (low, high) = match given.get(depth) {
                    Some(&value) => (value.max(low), value.min(high)),
                    None => (low, high.min(low.saturating_add(MAX_INSTANCES as i128))),
                };
                (low..=high).map(|value| [&numbers[..], &[value]].concat())
            });
            let longer = longer.filter(|next| self.exists(&loops[..=depth], next, around));
            all = longer.take(MAX_INSTANCES + 1).collect(); // no more are ever looked at
        }
        found.extend(all.into_iter().map(|numbers| (node, numbers)));
    }

    /// Whether an iteration of a loop certainly exists. If the loop's range differs between iterations of others in an
    /// unknown way, only the iterations of the two instances do.
    fn exists(&self, loops: &[usize], numbers: &[i128], around: usize) -> bool {
        let is_of = |(node, own): &Instance| self.instances.loops[*node].starts_with(loops) && own.starts_with(numbers);
        !self.instances.draft.loops[around].variable.ragged || is_of(self.from) || is_of(self.to)
    }

    /// The range of a loop's numbers in the iterations `numbers` of the loops around. It is empty if the loop has
    /// iterations, but none between those of the two instances.
    fn range(&self, loops: &[usize], numbers: &[i128], around: usize) -> (i128, i128) {
        let variable = &self.instances.draft.loops[around].variable;
        let number = |loops: &[usize], numbers: &[i128], of: usize| {
            let mut known = loops.iter().zip(numbers);
            known.find(|(other, _)| **other == of).map(|(_, number)| *number)
        };
        let own = |(node, numbers): &Instance| number(&self.instances.loops[*node], numbers, around);
        let given = || own(self.from).into_iter().chain(own(self.to));
        let (least, most) = (given().min(), given().max());
        let of = |around: usize| number(loops, numbers, around).or_else(|| (self.outer)(around));
        let end = |form: &Option<Affine>| {
            let value = |form: &Affine| form.evaluate(&|variable| of(variable.number).unwrap_or_default());
            form.as_ref().map(value)
        };
        let (first, last) = (end(&variable.first), end(&variable.last));
        if first.zip(last).is_some_and(|(first, last)| last < first) {
            return (STAND_IN, STAND_IN);
        }
        let (first_known, last_known) = if self.tight && least.is_some() {
            (first.max(least), [last, most].into_iter().flatten().min())
        } else {
            (first, last)
        };
        let low = first_known.or(least).or(last).unwrap_or(0);
        let high = last_known.or(most).unwrap_or(low);
        (low, high)
    }
}
