//! Accesses of different iterations of an `each` that meet, although no path orders the iterations.

mod order;
mod apart;

pub(crate) use apart::Apart;

use crate::region::{Meeting, Met, Region};
use crate::{Draft, Mode, Nest};
use order::{Certainty, Instances};

/// The most pairs of accesses that are compared. Larger graphs are left to the check when they are built.
const MAX_PAIRS: usize = 1 << 14;

/// The most iterations of one pair in which a path is searched.
const MAX_SEARCHES: usize = 1 << 9;

/// Two accesses of one body's nodes that meet in different iterations of an `each`.
#[derive(Clone, Debug)]
pub(crate) struct Crossing {
    /// The accesses, by index, and the nodes of the body that they belong to.
    pub(crate) sides: [(usize, usize); 2],
    /// The loops of the body around both nodes, from the outermost.
    pub(crate) loops: Vec<usize>,
    /// Iterations in which the two meet; `None` if too many had to be compared.
    pub(crate) met: Option<Met>,
}

/// One body, some of whose nodes are in loops.
pub(crate) struct Parallel<'a> {
    draft: &'a Draft,
    body: usize,
    instances: Instances<'a>,
    /// The loops around the body, from the outermost.
    around: Vec<usize>,
}

/// Accesses that differ in their nodes only.
struct Group<'a> {
    region: &'a Region,
    mode: Mode,
    loops: &'a [usize],
    /// The accesses with their nodes in the body.
    accesses: Vec<(usize, usize)>,
}

/// Tells of two nodes whether they can run at the same time, in one iteration or in different ones.
pub(crate) fn concurrent<'a>(draft: &'a Draft, order: &'a Nest) -> impl Fn(usize, usize) -> bool + 'a {
    let has_parallel = draft.loops.iter().any(|for_loop| for_loop.parallel);
    let bodies = (0..draft.bodies.len()).filter(|_| has_parallel);
    let parallel: Vec<Parallel<'_>> = bodies.filter_map(|body| Parallel::of(draft, order, body)).collect();
    move |first, second| {
        !order.ordered(first, second) || parallel.iter().any(|parallel| parallel.are_unordered(first, second))
    }
}

impl<'a> Parallel<'a> {
    /// The analysis of a body; `None` if none of its nodes is in a loop of the body.
    pub(crate) fn of(draft: &'a Draft, order: &'a Nest, body: usize) -> Option<Self> {
        let in_loop = |node: usize| draft.nodes[node].body == body && !draft.loops_in_body(node).is_empty();
        if draft.loops.is_empty() || !(0..draft.nodes.len()).any(in_loop) {
            return None;
        }
        let owner = draft.bodies[body].node;
        Some(Self {
            draft,
            body,
            instances: Instances::new(draft, order, body),
            around: draft.loops_from_outermost(owner.and_then(|owner| draft.loop_around(owner))),
        })
    }

    /// Whether one of the two nodes is in a loop.
    pub(crate) fn concerns(&self, first: usize, second: usize) -> bool {
        !self.instances.loops(first).is_empty() || !self.instances.loops(second).is_empty()
    }

    /// Whether two accesses of different nodes meet in one iteration of all loops around both where no path orders
    /// them. Each access comes with its node in the body.
    pub(crate) fn race_in_one_iteration(&self, first: (usize, usize), second: (usize, usize)) -> bool {
        let common = self.instances.common(first.1, second.1);
        self.meet(first, second, &vec![0; common]).is_some()
    }

    /// Pairs of accesses in different iterations, one for each resource and outermost `each` in which they differ.
    /// `accesses` are the accesses of the body's nodes, by resource, each with its node in the body.
    pub(crate) fn crossings(&self, accesses: &[Vec<(usize, usize)>]) -> Vec<Crossing> {
        let mut left = MAX_PAIRS;
        let mut found = Vec::new();
        for accesses in accesses {
            let is_parallel = |&&(_, node): &&(usize, usize)| self.instances.is_parallel(node);
            let accesses: Vec<(usize, usize)> = accesses.iter().filter(is_parallel).copied().collect();
            let groups = self.groups(&accesses);
            let mut told: Vec<usize> = Vec::new();
            let mut cross = |first: (usize, usize), second: (usize, usize)| {
                left = left.saturating_sub(1);
                if left > 0 {
                    self.cross(first, second, &mut told, &mut found);
                }
            };
            // First each node with itself: that is the simplest message.
            for group in groups.iter().filter(|group| group.mode.conflicts(group.mode)) {
                group.accesses.iter().for_each(|&access| cross(access, access));
            }
            for (index, b) in groups.iter().enumerate() {
                for a in groups[..=index]
                    .iter()
                    .filter(|a| a.mode.conflicts(b.mode) && self.may_cross(a, b))
                {
                    for &first in &a.accesses {
                        let is_pair = |&&second: &&(usize, usize)| second > first || !std::ptr::eq(a, b);
                        b.accesses
                            .iter()
                            .filter(is_pair)
                            .for_each(|&second| cross(first, second));
                    }
                }
            }
        }
        found
    }

    /// Whether two accesses meet in different iterations of an `each`, whatever their modes. Each access comes with its
    /// node in the body.
    pub(crate) fn may_meet_across(&self, first: (usize, usize), second: (usize, usize)) -> bool {
        let common = self.instances.common(first.1, second.1);
        differences(common).any(|signs| {
            let outermost = self
                .outermost(first.1, &signs)
                .map(|(around, _)| &self.draft.loops[around]);
            outermost.is_some_and(|around| around.parallel) && self.meet(first, second, &signs).is_some()
        })
    }

    /// The outermost loop of the node in which iterations that differ by these signs differ, and the sign.
    fn outermost(&self, node: usize, signs: &[i64]) -> Option<(usize, i64)> {
        let mut differing = self
            .instances
            .loops(node)
            .iter()
            .zip(signs)
            .filter(|(_, sign)| **sign != 0);
        differing.next().map(|(&around, &sign)| (around, sign))
    }

    fn groups<'s>(&'s self, accesses: &[(usize, usize)]) -> Vec<Group<'s>> {
        let mut groups: Vec<Group<'s>> = Vec::new();
        for &(access, node) in accesses {
            let declared = &self.draft.accesses[access];
            let (region, mode, loops) = (&declared.region, declared.mode, self.instances.loops(node));
            let of = |group: &&mut Group<'_>| *group.region == *region && group.mode == mode && group.loops == loops;
            match groups.iter_mut().find(of) {
                Some(group) => group.accesses.push((access, node)),
                None => groups.push(Group {
                    region,
                    mode,
                    loops,
                    accesses: vec![(access, node)],
                }),
            }
        }
        groups
    }

    /// Whether accesses of the two groups may meet in different iterations.
    fn may_cross(&self, a: &Group<'_>, b: &Group<'_>) -> bool {
        let (Some(first), Some(second)) = (a.accesses.first(), b.accesses.first()) else {
            return false;
        };
        let common = self.instances.common(first.1, second.1);
        differences(common).any(|signs| {
            self.meeting(*first, *second, &signs)
                .is_some_and(|meeting| !matches!(meeting.solve(), Err(none) if none.is_none()))
        })
    }

    /// Records how two accesses cross, unless a crossing in their loop was recorded before.
    fn cross(&self, first: (usize, usize), second: (usize, usize), told: &mut Vec<usize>, found: &mut Vec<Crossing>) {
        let common = self.instances.common(first.1, second.1);
        let loops = &self.instances.loops(first.1)[..common];
        for signs in differences(common) {
            let Some((outermost, sign)) = self.outermost(first.1, &signs) else {
                continue;
            };
            let own = first == second && sign < 0;
            if own || told.contains(&outermost) || !self.draft.loops[outermost].parallel {
                continue;
            }
            if let Some(met) = self.meet(first, second, &signs) {
                told.push(outermost);
                found.push(Crossing {
                    sides: [first, second],
                    loops: loops.to_vec(),
                    met,
                });
            }
        }
    }

    /// Iterations in which two accesses meet and no path orders their nodes, where the numbers of the loops around both
    /// differ by these signs. `None` if there are none, and `Some(None)` if the search was given up.
    fn meet(&self, first: (usize, usize), second: (usize, usize), signs: &[i64]) -> Option<Option<Met>> {
        self.unordered_in(&self.meeting(first, second, signs)?, first.1, second.1, signs)
    }

    /// Whether some iterations of two nodes, or of one, can run at the same time, in one iteration of the loops around
    /// the body. The nodes may be in bodies of nodes of this body.
    pub(crate) fn are_unordered(&self, first: usize, second: usize) -> bool {
        let owner = |node: usize| {
            let mut around =
                std::iter::successors(Some(node), |&node| self.draft.bodies[self.draft.nodes[node].body].node);
            around.find(|&node| self.draft.nodes[node].body == self.body)
        };
        let Some((first, second)) = owner(first).zip(owner(second)) else {
            return false;
        };
        differences(self.instances.common(first, second)).any(|signs| {
            let meeting = self.iterations(first, second, &signs);
            self.unordered_in(&meeting, first, second, &signs).is_some()
        })
    }

    /// Iterations that fulfil the inequalities and in which no path orders two nodes, as [`Parallel::meet`].
    fn unordered_in(&self, meeting: &Meeting, first: usize, second: usize, signs: &[i64]) -> Option<Option<Met>> {
        if meeting.solve().is_err_and(|none| none.is_none()) {
            return None;
        }
        let certainty = self.instances.certainty(first, second, signs);
        let (mut searches, mut found) = (0, false);
        let result = match certainty {
            Certainty::Ordered => return None,
            Certainty::Unordered => {
                found = true;
                meeting.solve()
            }
            Certainty::Open => meeting.solve_with(|met| {
                searches += 1;
                found = searches <= MAX_SEARCHES && self.unordered(first, second, met);
                found || searches > MAX_SEARCHES
            }),
        };
        match result {
            // If so many iterations are ordered, all others are too: the order is periodic.
            Ok(met) => found.then_some(Some(met)),
            Err(none) => (!none.is_none() && searches == 0).then_some(None),
        }
    }

    /// Whether no path orders the two instances.
    fn unordered(&self, first: usize, second: usize, met: &Met) -> bool {
        let instance = |node: usize, side: usize| {
            let loops = self.instances.loops(node).iter();
            let numbers = loops
                .map(|&around| met.value(side, around).unwrap_or_default())
                .collect();
            (node, numbers)
        };
        let (first, second) = (instance(first, 0), instance(second, 1));
        let outer = |around: usize| met.value(0, around);
        !self.instances.is_before(&first, &second, &outer) && !self.instances.is_before(&second, &first, &outer)
    }

    /// The inequalities that hold where two accesses meet; `None` if they certainly do not.
    fn meeting(&self, first: (usize, usize), second: (usize, usize), signs: &[i64]) -> Option<Meeting> {
        let region = |access: usize| &self.draft.accesses[access].region;
        let loops = self.instances.loops(first.1);
        // An expression has the same value for both if the numbers of all loops that it may mention are equal.
        let equal = signs.iter().take_while(|&&sign| sign == 0).count();
        let same = |around: usize| self.around.contains(&around) || loops[..equal].contains(&around);
        let [a, b] = [first.0, second.0].map(|access| region(access).in_iterations_of(same));
        if !a.overlaps_by_names(&b) {
            return None;
        }
        let mut meeting = self.iterations(first.1, second.1, signs);
        meeting.touch((&a, 0), (&b, 1));
        Some(meeting)
    }

    /// The inequalities about the iterations of two nodes.
    fn iterations(&self, first: usize, second: usize, signs: &[i64]) -> Meeting {
        let loops = self.instances.loops(first);
        let variable = |around: usize| &self.draft.loops[around].variable;
        let mut meeting = Meeting::default();
        self.around.iter().for_each(|&around| meeting.share(variable(around)));
        for (&around, &sign) in loops.iter().zip(signs) {
            match sign {
                0 => meeting.share(variable(around)),
                sign => meeting.apart(variable(around), sign > 0),
            }
        }
        for (side, node) in [first, second].into_iter().enumerate() {
            let inner = self.instances.loops(node)[signs.len()..].iter();
            inner.for_each(|&around| meeting.enter(side, variable(around)));
        }
        meeting
    }
}

/// All ways in which the numbers of this many loops can differ, as one sign for each loop.
fn differences(loops: usize) -> impl Iterator<Item = Vec<i64>> {
    let all = 3_usize
        .checked_pow(u32::try_from(loops).unwrap_or(u32::MAX))
        .unwrap_or(0);
    (1..all).map(move |code| {
        let digits = (0..loops).scan(code, |rest, _| {
            let digit = *rest % 3;
            *rest /= 3;
            Some([0, 1, -1][digit])
        });
        let mut signs: Vec<i64> = digits.collect();
        signs.reverse();
        signs
    })
}

#[cfg(test)]
mod unrolled;
