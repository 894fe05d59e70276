//! The memory that certainly holds the same on all ranks of a communicator when a node reads it.
//!
//! All ranks run the same graph. So a node writes the same on all of them if it reads the same, takes the same values,
//! and runs on all of them equally often. Everything is taken to be the same until a reason is found why it may differ;
//! reasons spread from writers to readers until nothing changes. Only nodes that some guarded condition depends on are
//! looked at.

use crate::scope::Scopes;
use crate::{Access, Body, Draft, Memory, Mode, Nest, NodeKind, Origin, Role};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The reason why memory that a node writes may differ between ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Values that it takes may differ.
    Values,
    /// It may be disabled, or write a part that updates choose.
    Uncertain,
    /// It updates memory by operations whose order is open, or that meet those of the host.
    Atomic,
    /// Code that nobody knows computes it: a host function, or library calls.
    Foreign,
    /// Each rank gets a part of its own.
    Own,
    /// It is the same on the ranks of another communicator.
    OtherRanks,
    /// It reads memory that may differ: the access.
    Reads(usize),
    /// It is in the body of this node, whose condition may differ.
    Inside(usize),
}

/// The source of a difference in memory that a node reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The contents of the memory when the launch begins.
    Beginning,
    /// The writes of this node, in the same launch or in an earlier one.
    Writer(usize),
}

/// The writes that a read may see.
#[derive(Clone, Debug)]
struct Reaching {
    /// The nodes that may have written it last.
    writers: Vec<usize>,
    /// Whether it may be what the memory holds when the launch begins.
    beginning: bool,
}

/// The analysis for one communicator.
pub(crate) struct SameOnRanks<'a> {
    draft: &'a Draft,
    order: &'a Nest,
    scopes: Scopes,
    ranges: Vec<std::ops::Range<usize>>,
    /// The accesses that write each resource.
    writes: Vec<Vec<usize>>,
    reaching: HashMap<usize, Reaching>,
    reasons: Vec<Option<Reason>>,
    /// The nodes that are looked at.
    relevant: BTreeSet<usize>,
    /// The communicator of each collective that is over one alone.
    over: HashMap<usize, usize>,
    communicator: usize,
}

/// The collectives, however deep, in bodies of nodes whose condition decides whether they run, each with these nodes
/// from the innermost.
pub(crate) fn guarded(draft: &Draft) -> impl Iterator<Item = (crate::Collective, Vec<usize>)> + '_ {
    let with_guards = draft.collectives.iter().map(|&collective| {
        let bodies = draft.bodies_around(collective.node);
        let guards = bodies.filter(|&body| draft.bodies[body].role.is_conditional());
        let guards: Vec<usize> = guards.filter_map(|body| draft.bodies[body].node).collect();
        (collective, guards)
    });
    with_guards.filter(|(_, guards)| !guards.is_empty())
}

/// The nodes whose values decide whether collectives run. If these values are the same on all ranks, and the check has
/// found no mistake, all ranks run the same collectives.
pub fn deciding_nodes(draft: &Draft, order: &Nest) -> Vec<usize> {
    let communicators: BTreeSet<usize> = guarded(draft).map(|(collective, _)| collective.communicator).collect();
    let mut found = BTreeSet::new();
    for communicator in communicators {
        found.extend(SameOnRanks::of(draft, order, communicator).relevant);
    }
    found.into_iter().collect()
}

impl<'a> SameOnRanks<'a> {
    /// The analysis of what decides whether collectives over a communicator run.
    pub(crate) fn of(draft: &'a Draft, order: &'a Nest, communicator: usize) -> Self {
        let mut writes = vec![Vec::new(); draft.resources.len()];
        for (index, access) in draft.accesses.iter().enumerate() {
            if access.mode.writes() && !access.region.is_empty() {
                writes[access.resource].push(index);
            }
        }
        let over = draft.collectives.iter();
        let mut same = Self {
            draft,
            order,
            scopes: Scopes::new(draft),
            ranges: draft.access_ranges(),
            writes,
            reaching: HashMap::new(),
            reasons: vec![None; draft.nodes.len()],
            relevant: BTreeSet::new(),
            over: over
                .map(|collective| (collective.node, collective.communicator))
                .collect(),
            communicator,
        };
        let of_communicator = guarded(draft).filter(|(collective, _)| collective.communicator == communicator);
        let conditions: Vec<usize> = of_communicator.flat_map(|(_, guards)| guards).collect();
        same.find_relevant(conditions);
        same.spread();
        same
    }

    /// The source of a difference in the condition of a node, with the access that reads it; `None` if it is the same
    /// on all ranks.
    pub(crate) fn condition(&self, node: usize) -> Option<(usize, Source)> {
        self.ranges[node]
            .clone()
            .find_map(|access| Some((access, self.source(access)?)))
    }

    /// The reason why what a node writes may differ.
    pub(crate) fn reason(&self, node: usize) -> Option<Reason> {
        self.reasons[node]
    }

    /// The source of a difference in the memory that an access reads.
    pub(crate) fn source(&self, access: usize) -> Option<Source> {
        let declared = &self.draft.accesses[access];
        let resource = &self.draft.resources[declared.resource];
        if resource.origin == Origin::Uniform || !declared.reads() {
            return None;
        }
        let reaching = self.reaching.get(&access)?;
        let differs = |&node: &usize| self.reasons[node].is_some();
        if let Some(writer) = reaching.writers.iter().copied().find(differs) {
            return Some(Source::Writer(writer));
        }
        if !reaching.beginning {
            return None;
        }
        match (resource.origin, resource.memory) {
            (Origin::Outside, _) | (_, Memory::Host | Memory::Mapped) => Some(Source::Beginning),
            // Nobody reads it before it is written.
            (_, Memory::Scratch) => None,
            // Zeroed when the graph is built; from then on, what earlier launches have written.
            (_, Memory::Device | Memory::Array | Memory::Constant | Memory::Variable) => {
                self.later_writers(declared).find(differs).map(Source::Writer)
            }
        }
    }

    /// The nodes that may write the memory of an access in any launch.
    fn later_writers<'s>(&'s self, access: &'s Access) -> impl Iterator<Item = usize> + 's {
        let writes = self.writes[access.resource].iter();
        let writes = writes.map(|&write| &self.draft.accesses[write]);
        let overlapping = writes.filter(|write| write.region.overlaps_in_some_iterations(&access.region));
        overlapping.map(|write| write.node)
    }

    /// Finds the nodes that these conditions depend on.
    fn find_relevant(&mut self, conditions: Vec<usize>) {
        let mut left = conditions;
        let mut seen: HashSet<usize> = HashSet::new();
        while let Some(node) = left.pop() {
            if !seen.insert(node) {
                continue;
            }
            if !self.draft.nodes[node].kind.is_conditional() {
                self.relevant.insert(node);
            }
            let bodies = self.draft.bodies_around(node);
            let conditional = bodies.filter(|&body| self.draft.bodies[body].role.is_conditional());
            left.extend(conditional.filter_map(|body| self.draft.bodies[body].node));
            if self.leaves_the_same(node) {
                continue;
            }
            for access in self.ranges[node].clone() {
                let declared = &self.draft.accesses[access];
                if !declared.reads() || declared.region.is_empty() {
                    continue;
                }
                let reaching = self.find_reaching(declared);
                left.extend(&reaching.writers);
                if reaching.beginning {
                    left.extend(self.later_writers(declared));
                }
                self.reaching.insert(access, reaching);
            }
        }
    }

    /// Whether a node writes the same on all ranks whatever it reads.
    fn leaves_the_same(&self, node: usize) -> bool {
        match self.draft.nodes[node].kind {
            NodeKind::AllReduce | NodeKind::AllGather | NodeKind::Broadcast => true,
            // Its nodes are unknown here, and known when the graph is built.
            NodeKind::Graph => true,
            _ => false,
        }
    }

    /// Finds the writes that a read may see.
    fn find_reaching(&self, read: &Access) -> Reaching {
        let (reader, scope) = (read.node, self.scopes.of(read.node));
        let writes = || {
            let writes = self.writes[read.resource].iter();
            writes.map(|&write| &self.draft.accesses[write])
        };
        // Each of these certainly runs before the read, and writes all of it. Memory that it does not write, it reads,
        // so that the difference of what is left is its own.
        let last: Vec<usize> = writes()
            .filter(|write| {
                matches!(write.mode, Mode::Write | Mode::ReadWrite)
                    && write.node != reader
                    && self.order.before(write.node, reader)
                    && self.scopes.always_before(write.node, scope)
                    && write.region.covers(&read.region)
            })
            .map(|write| write.node)
            .collect();
        // A `while` reads its condition again after each iteration.
        let own = (0..self.draft.bodies.len()).find(|&body| {
            let Body { role, node, .. } = self.draft.bodies[body];
            role == Role::While && node == Some(reader)
        });
        let ends: Vec<usize> = writes()
            .filter(|write| {
                matches!(write.mode, Mode::Write | Mode::ReadWrite)
                    && own.is_some_and(|body| {
                        self.scopes.contains(body, write.node) && self.scopes.always_before(write.node, body)
                    })
                    && write.region.covers(&read.region)
            })
            .map(|write| write.node)
            .collect();
        let in_own_body = |writer: usize| {
            let is_inside = own.is_some_and(|body| self.scopes.contains(body, writer));
            is_inside && !ends.iter().any(|&later| self.order.before(writer, later))
        };
        let reaches = |write: &&Access| {
            if !write.region.overlaps_in_some_iterations(&read.region) {
                return false;
            }
            let is_before = write.node != reader && self.order.before(write.node, reader);
            let in_this = is_before && !last.iter().any(|&later| self.order.before(write.node, later));
            let mut shared = self.scopes.repetitions(reader);
            let shared = shared.find(|&scope| self.scopes.contains(scope, write.node));
            let in_earlier = shared.is_some_and(|scope| !last.iter().any(|&later| self.scopes.contains(scope, later)));
            in_this || in_earlier || in_own_body(write.node)
        };
        Reaching {
            writers: writes().filter(reaches).map(|write| write.node).collect(),
            beginning: last.is_empty(),
        }
    }

    /// Spreads reasons from writers to readers.
    fn spread(&mut self) {
        loop {
            let found = self.relevant.iter().filter(|&&node| self.reasons[node].is_none());
            let found = found.filter_map(|&node| Some((node, self.find_reason(node)?)));
            let found: Vec<(usize, Reason)> = found.collect();
            if found.is_empty() {
                return;
            }
            found
                .into_iter()
                .for_each(|(node, reason)| self.reasons[node] = Some(reason));
        }
    }

    fn find_reason(&self, node: usize) -> Option<Reason> {
        let declared = &self.draft.nodes[node];
        let bodies = self.draft.bodies_around(node);
        let conditional = bodies.filter(|&body| self.draft.bodies[body].role.is_conditional());
        let mut owners = conditional.filter_map(|body| self.draft.bodies[body].node);
        if let Some(owner) = owners.find(|&owner| self.condition(owner).is_some()) {
            return Some(Reason::Inside(owner));
        }
        if !declared.is_certain() {
            return Some(Reason::Uncertain);
        }
        match declared.kind {
            NodeKind::AllReduce | NodeKind::AllGather | NodeKind::Broadcast => {
                (self.over.get(&node) != Some(&self.communicator)).then_some(Reason::OtherRanks)
            }
            NodeKind::ReduceScatter | NodeKind::Exchange => Some(Reason::Own),
            NodeKind::Call | NodeKind::Capture | NodeKind::Raw => Some(Reason::Foreign),
            NodeKind::Kernel | NodeKind::Memcpy | NodeKind::Memset => {
                if declared.rank_dependent {
                    return Some(Reason::Values);
                }
                let mut accesses = self.ranges[node].clone();
                let meets = |access: usize| matches!(self.draft.accesses[access].mode, Mode::Atomic | Mode::Mapped);
                if accesses.clone().any(meets) {
                    return Some(Reason::Atomic);
                }
                accesses
                    .find(|&access| self.source(access).is_some())
                    .map(Reason::Reads)
            }
            NodeKind::Graph | NodeKind::Join | NodeKind::Record | NodeKind::Wait => None,
            NodeKind::If | NodeKind::While | NodeKind::Switch => None,
        }
    }
}

#[cfg(test)]
mod tests;
