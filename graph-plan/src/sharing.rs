//! The rule that decides which scratch resources may share addresses.

use crate::scope::Scopes;
use crate::{Access, Draft, Memory, Mode, Nest, Region};

/// The scratch resources of a graph, in order of first use, and which of them must not share addresses.
///
/// # What is shared
///
/// The accesses of a resource fall into *ranges*. A range ends where an access *renews* the resource: an access that
/// writes everything in it that is read later, is ordered with every other access, and runs whenever a later access
/// does. (Copies, memsets and kernels that take it as `&mut [MaybeUninit<T>]` may renew; what other kernels write is
/// not known.) Two resources may share addresses if
///
/// 1. of each range of one and each of the other, all accesses of one come before all of the other; accesses of which
///    a launch makes only one (`then` and `else`) count as ordered; and
/// 2. for each repetition (the body of a `while`, a `for`) that has accesses of both: every range of either resource
///    that has accesses in the repetition lies wholly in it, and begins with an access that renews; and
/// 3. no `each` has accesses of both: its iterations are not ordered.
///
/// A `while` also reads its condition at the end of each iteration. Nothing in its body shares addresses with the
/// condition: the node and its body are not ordered.
///
/// # Why results are the same
///
/// Take an access `r` that reads a byte of `A` in some launch, and the last write `w` of that byte before it when `A`
/// has memory of its own. (Without one the byte holds nothing: scratch keeps nothing from one launch to the next.) Let
/// `x` be any write to `B`. It must not come between `w` and `r`, nor run at the same time as either.
///
/// *Without repetitions.* `w` and `r` are of one range: between two ranges something renews `A` after `w`. It does run,
/// as `r` does, and it writes the byte, which is read later. By 1, that range comes before or after all accesses of the
/// range of `x` that are made in this launch, thus before `x` or after it.
///
/// *In a repetition that has `r` and `x`, in different iterations.* By 2 the range of `r` begins with an access that
/// has renewed `A` in this very iteration. So `w` is of this iteration too, and `x`, which is of another, does not
/// come between: iterations run one after another. Within one iteration the argument is that without repetitions.
///
/// *In a repetition that has `w` and `r` but not `x`.* The two may be of different ranges, since `r` may read in one
/// iteration what `w` wrote in the one before. But `x` comes before all of the repetition or after all of it: anything
/// outside a repetition that is ordered with something inside is ordered with all of it.
///
/// *In an `each`.* By 3, `x` is outside an `each` that has `w` or `r`. The order of its nodes, without edges between
/// iterations, orders all iterations with what is outside, so the argument is that without repetitions.
///
/// Memory that shares addresses is never touched by unordered nodes, by 1, so sharing creates no races and needs no
/// edges.
#[derive(Clone, Debug)]
pub struct Sharing {
    resources: Vec<usize>,
    apart: Vec<Vec<usize>>,
}

impl Sharing {
    /// The sharing of a graph without mistakes, given the order from checking it.
    pub fn of(draft: &Draft, order: &Nest) -> Self {
        if !draft.has(Memory::Scratch) {
            return Self {
                resources: Vec::new(),
                apart: Vec::new(),
            };
        }
        let lives = lives(draft, order);
        let mut apart = vec![Vec::new(); lives.len()];
        for later in 0..lives.len() {
            for earlier in 0..later {
                if !lives[earlier].may_share(&lives[later], order) {
                    apart[earlier].push(later);
                    apart[later].push(earlier);
                }
            }
        }
        apart.iter_mut().for_each(|others| others.sort_unstable());
        Self {
            resources: lives.iter().map(|life| life.resource).collect(),
            apart,
        }
    }

    /// The sharing in which no two resources share addresses.
    pub fn none(draft: &Draft) -> Self {
        let scratch = (0..draft.resources.len()).filter(|&resource| draft.is_scratch(resource));
        let resources: Vec<usize> = scratch.collect();
        let others = |buffer: usize| (0..resources.len()).filter(|&other| other != buffer).collect();
        Self {
            apart: (0..resources.len()).map(others).collect(),
            resources,
        }
    }

    /// The scratch resources, in order of first use. [`Sharing::apart`] names them by their place here.
    pub fn resources(&self) -> &[usize] {
        &self.resources
    }

    /// For each of [`Sharing::resources`], the resources that it must not share addresses with, ascending.
    pub fn apart(&self) -> Vec<&[usize]> {
        self.apart.iter().map(Vec::as_slice).collect()
    }
}

/// The use of one resource.
struct Life {
    resource: usize,
    ranges: Vec<Range>,
    /// The repetitions that have accesses, and whether their ranges lie in them and begin with an access that renews.
    repetitions: Vec<(usize, bool)>,
}

/// Accesses between which the contents matter, by node.
struct Range {
    /// The nodes that no other node of the range comes before.
    first: Vec<usize>,
    /// The nodes that no other node of the range comes after.
    last: Vec<usize>,
}

impl Life {
    fn may_share(&self, other: &Life, order: &Nest) -> bool {
        let apart = |first: &Range, second: &Range| {
            let ordered = |(a, b)| order.before(a, b) || order.exclusive(a, b);
            first
                .last
                .iter()
                .all(|&a| second.first.iter().all(|&b| ordered((a, b))))
        };
        // The ranges of one resource come one after the other. So if one of our ranges comes after one of theirs, our
        // later ranges do too; and if it comes before one of theirs, it comes before their later ones. This also holds
        // for bodies of which only one runs.
        let mut theirs = other.ranges.iter().peekable();
        let ordered = |ours: &Range| {
            while theirs.next_if(|theirs| apart(theirs, ours)).is_some() {}
            theirs.peek().is_none_or(|theirs| apart(ours, theirs))
        };
        let fresh = |&(scope, fresh): &(usize, bool)| {
            let theirs = other.repetitions.iter().find(|theirs| theirs.0 == scope);
            theirs.is_none_or(|theirs| fresh && theirs.1)
        };
        self.ranges.iter().all(ordered) && self.repetitions.iter().all(fresh)
    }
}

/// The uses of all scratch resources, in order of first use; unused resources come last.
fn lives(draft: &Draft, order: &Nest) -> Vec<Life> {
    let (scopes, positions) = (Scopes::new(draft), positions(draft, order));
    let mut accesses: Vec<Vec<&Access>> = vec![Vec::new(); draft.resources.len()];
    for access in &draft.accesses {
        accesses[access.resource].push(access);
    }
    let mut lives = Vec::new();
    for (resource, mut accesses) in accesses.into_iter().enumerate() {
        if draft.is_scratch(resource) {
            accesses.sort_by_key(|access| positions[access.node]);
            let first = accesses.first().map_or(usize::MAX, |access| positions[access.node]);
            lives.push((first, life(order, &scopes, resource, &accesses)));
        }
    }
    lives.sort_by_key(|(first, life)| (*first, life.resource));
    lives.into_iter().map(|(_, life)| life).collect()
}

/// The use of one resource; its accesses come in an order that the graph allows.
fn life(order: &Nest, scopes: &Scopes, resource: usize, accesses: &[&Access]) -> Life {
    let mut life = Life {
        resource,
        ranges: Vec::new(),
        repetitions: Vec::new(),
    };
    let renews = renews(order, scopes, accesses);
    let starts: Vec<usize> = (0..accesses.len())
        .filter(|&index| index == 0 || renews[index])
        .collect();
    for (number, &start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(accesses.len());
        let nodes: Vec<usize> = accesses[start..end].iter().map(|access| access.node).collect();
        life.repeat(scopes, &nodes, renews[start]);
        life.ranges.push(Range::new(order, &nodes));
    }
    life
}

/// Whether each access renews the resource, and so begins a range. Accesses come in an order that the graph allows.
fn renews(order: &Nest, scopes: &Scopes, accesses: &[&Access]) -> Vec<bool> {
    let whole = |access: &&Access| access.mode == Mode::Write && access.region.covers(&Region::Whole);
    let mut renews: Vec<bool> = accesses.iter().map(whole).collect();
    let mut before = Vec::new();
    for (access, renews) in accesses.iter().zip(&mut renews) {
        *renews &= before.iter().all(|&node| order.before(node, access.node));
        keep_last(order, &mut before, access.node);
    }
    let (mut after, mut common) = (Vec::new(), None);
    for (access, renews) in accesses.iter().zip(&mut renews).rev() {
        *renews &= after.iter().all(|&node| order.before(access.node, node))
            && common.is_none_or(|scope| scopes.always_before(access.node, scope));
        keep_first(order, &mut after, access.node);
        common = Some(common.map_or_else(|| scopes.of(access.node), |scope| scopes.common(scope, access.node)));
    }
    renews
}

/// Adds a node to `last`, and removes the nodes that it comes after.
fn keep_last(order: &Nest, last: &mut Vec<usize>, node: usize) {
    last.retain(|&other| !order.before(other, node));
    last.push(node);
}

/// Adds a node to `first`, and removes the nodes that it comes before.
fn keep_first(order: &Nest, first: &mut Vec<usize>, node: usize) {
    first.retain(|&other| !order.before(node, other));
    first.push(node);
}

impl Life {
    /// Records, for each repetition that a range with accesses at `nodes` is in, whether the range lies wholly in it
    /// and begins with an access that renews. In an `each`, none counts as such.
    fn repeat(&mut self, scopes: &Scopes, nodes: &[usize], renewed: bool) {
        for &node in nodes {
            for scope in scopes.repetitions(node) {
                let inside = nodes.iter().all(|&node| scopes.contains(scope, node));
                let fresh = renewed && inside && !scopes.is_parallel(scope);
                match self.repetitions.iter_mut().find(|known| known.0 == scope) {
                    Some(known) => known.1 &= fresh,
                    None => self.repetitions.push((scope, fresh)),
                }
            }
        }
    }
}

impl Range {
    /// Nodes in an order that the graph allows.
    fn new(order: &Nest, nodes: &[usize]) -> Self {
        let (mut first, mut last): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        nodes.iter().for_each(|&node| keep_last(order, &mut last, node));
        nodes.iter().rev().for_each(|&node| keep_first(order, &mut first, node));
        Self { first, last }
    }
}

/// The place of each node in an order that the graph allows. The nodes of bodies follow the node that has the bodies.
fn positions(draft: &Draft, order: &Nest) -> Vec<usize> {
    let mut bodies = vec![Vec::new(); draft.nodes.len()];
    for (body, declared) in draft.bodies.iter().enumerate() {
        if let Some(node) = declared.node {
            bodies[node].push(body);
        }
    }
    let mut positions = vec![0; draft.nodes.len()];
    let mut next = 0;
    let mut stack: Vec<usize> = order.sequence(0).rev().collect();
    while let Some(node) = stack.pop() {
        positions[node] = next;
        next += 1;
        for &body in bodies[node].iter().rev() {
            stack.extend(order.sequence(body).rev());
        }
    }
    positions
}

#[cfg(test)]
mod tests;
