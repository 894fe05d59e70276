//! The shared memory of a graph: the graph uses it, but does not own it.

use crate::devices::Backend;
use crate::devices::adopted::{DeviceMemory, Using};
use crate::devices::cuda::Cuda;
use crate::devices::launch_event::LaunchEvent;
use crate::driver::CUstream;
use crate::error::{CudaError, Result, Site};
use crate::in_flight::uses::{Claim, Patience};
use crate::ownership::block::SharedMemory;
use crate::ownership::pool_memory::PoolShare;
use crate::ownership::station::Stations;
use graph_plan::{Code, Diagnostic, Draft, Space, Subject, View, Views};
use std::ops::Deref;
use std::sync::Arc;

/// A shared resource.
#[derive(Clone)]
pub(crate) struct SharedResource {
    pub(crate) resource: usize,
    pub(crate) memory: SharedMemory,
    /// Whether nodes may write it.
    pub(crate) mutable: bool,
    /// Whether some node writes it.
    pub(crate) write: bool,
}

/// The memory that a graph shares with others. Every graph claims its pool, if it has one, then the stations of its
/// communicators, and then its resources, block by block, in order of their addresses (fact 5 of
/// [`Uses`](crate::in_flight::uses::Uses)).
#[derive(Clone, Default)]
pub(crate) struct SharedResources {
    /// The pool with its scratch memory.
    pool: Option<Arc<PoolShare>>,
    /// The stations of its communicators.
    stations: Stations,
    /// Sorted by block, and by address in each.
    resources: Vec<SharedResource>,
    /// The memory that launches claim, in the same order: that of the resources, where those that overlap and of which
    /// one is written are one. So no two claims of a launch conflict.
    claimed: Vec<SharedResource>,
}

impl SharedResources {
    /// The shared memory of a graph whose nodes have all been declared, each with whether these may write it.
    pub(crate) fn new(draft: &Draft, shared: impl Iterator<Item = (usize, SharedMemory, bool)>) -> Self {
        let shares = shared.map(|(resource, memory, mutable)| SharedResource {
            resource,
            memory,
            mutable,
            write: false,
        });
        Self::used(draft, shares.collect())
    }

    /// The resources as the nodes of a graph use them.
    fn used(draft: &Draft, mut resources: Vec<SharedResource>) -> Self {
        if resources.is_empty() {
            return Self::default();
        }
        let mut written = vec![false; draft.resources.len()];
        let writes = draft.accesses.iter().filter(|access| access.mode.writes());
        writes.for_each(|access| written[access.resource] = true);
        resources
            .iter_mut()
            .for_each(|share| share.write = written[share.resource]);
        resources.sort_by_key(|share| {
            let (_, addresses) = share.memory.addresses();
            (share.memory.block(), addresses.start, addresses.end)
        });
        let claimed = joined(&resources).flat_map(claimed).collect();
        Self {
            resources,
            claimed,
            ..Self::default()
        }
    }

    /// Replaces the share of a pool. Each executable graph has a share of its own.
    pub(crate) fn set_pool(&mut self, pool: Option<Arc<PoolShare>>) {
        self.pool = pool;
    }

    /// The share that the graph has of a pool.
    pub(crate) fn pool(&self) -> Option<&Arc<PoolShare>> {
        self.pool.as_ref()
    }

    /// Replaces the stations.
    pub(crate) fn set_stations(&mut self, stations: Stations) {
        self.stations = stations;
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.pool.is_none() && self.stations.is_empty() && self.resources.is_empty()
    }

    /// The memory of each of `resources` resources, if it is shared.
    pub(crate) fn by_resource(&self, resources: usize) -> Vec<Option<SharedMemory>> {
        let mut memory: Vec<Option<SharedMemory>> = (0..resources).map(|_| None).collect();
        for share in &self.resources {
            memory[share.resource] = Some(share.memory.clone());
        }
        memory
    }

    pub(crate) fn find(&self, resource: usize) -> Option<&SharedResource> {
        self.resources.iter().find(|share| share.resource == resource)
    }

    /// Refuses memory that is not usable on the graph's device, or not as the graph uses it.
    pub(crate) fn check(&self, draft: &Draft, backend: &Backend) -> Result<()> {
        let site = |share: &SharedResource| Site::graph(&draft.name).at_memory(&draft.resources[share.resource].name);
        let mut shares = self.resources.iter();
        shares.try_for_each(|share| share.memory.check(backend, share.write, || site(share)))
    }

    /// The views of device memory that overlap other views of their block, if the graph writes some of them: to the
    /// rules of graphs, these are one memory. Memory that is not usable on the graph's device does not count.
    pub(crate) fn views(&self, backend: &Backend) -> Views {
        let groups = joined(&self.resources).filter(|shares| {
            let memory = &shares[0].memory;
            conflict(shares) && matches!(memory, SharedMemory::Device(_)) && memory.is_usable_on(backend)
        });
        Views::new(groups.map(|shares| {
            let (_, first) = shares[0].memory.addresses();
            let view = |share: &SharedResource| {
                let (_, addresses) = share.memory.addresses();
                View {
                    resource: share.resource,
                    start: addresses.start - first.start,
                    bytes: addresses.end - addresses.start,
                }
            };
            shares.iter().map(view).collect()
        }))
    }

    /// The mistakes of pairs that overlap, if the graph writes one of the two, and they are no [views](Self::views) of
    /// one memory: memory of the host, and memory that was adopted twice, whose launches are not ordered as those of
    /// one block. Memory that is not usable on the graph's device does not count: its addresses mean nothing there.
    pub(crate) fn overlaps(&self, draft: &Draft, backend: &Backend) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let usable = self.resources.iter().filter(|share| share.memory.is_usable_on(backend));
        let mut usable: Vec<&SharedResource> = usable.collect();
        usable.sort_by_key(|share| {
            let (space, addresses) = share.memory.addresses();
            (space as u8, addresses.start, addresses.end, share.resource)
        });
        for (index, first) in usable.iter().enumerate() {
            let (space, addresses) = first.memory.addresses();
            for second in &usable[index + 1..] {
                let (other, others) = second.memory.addresses();
                if other != space || others.start >= addresses.end {
                    break; // they are in order
                }
                let bytes = addresses.end.min(others.end) - others.start;
                let are_views = space == Space::Device && first.memory.block() == second.memory.block();
                if bytes > 0 && (first.write || second.write) && !are_views {
                    found.push(overlap(draft, first, second, bytes));
                }
            }
        }
        found
    }

    /// The shared memory with other memory for some resources, of a graph with the accesses in `draft`.
    pub(crate) fn with(&self, draft: &Draft, changes: &[(usize, SharedMemory)]) -> Self {
        let changed = |share: &SharedResource| changes.iter().find(|(resource, _)| *resource == share.resource);
        let shares = self.resources.iter().map(|share| SharedResource {
            memory: changed(share).map_or(&share.memory, |(_, memory)| memory).clone(),
            ..*share
        });
        Self {
            pool: self.pool.clone(),
            stations: self.stations.clone(),
            ..Self::used(draft, shares.collect())
        }
    }

    /// Claims all shared memory for a launch.
    pub(crate) fn claim(&self, draft: &Draft, patience: Patience) -> Result<Claims<'_>> {
        let site = |memory: &str| Site::graph(&draft.name).at_memory(memory);
        let pool = self
            .pool
            .iter()
            .map(|pool| pool.claim(patience).map_err(|refused| refused.at(site("pool"))));
        let stations = self.stations.iter().map(|station| {
            let claim = station.claim(patience);
            claim.map_err(|refused| refused.at(site("communicator")))
        });
        let resources = self.claimed.iter().map(|share| {
            let name = &draft.resources[share.resource].name;
            let claim = share.memory.claim(share.write, patience);
            claim.map_err(|refused| refused.at(site(name)))
        });
        let claims = pool.chain(stations).chain(resources).collect::<Result<_>>()?;
        let mut owned: Vec<&SharedMemory> = self.resources.iter().map(|share| &share.memory).collect();
        owned.retain(|memory| memory.owner().is_some());
        owned.dedup_by_key(|memory| memory.block());
        let owners = owned.into_iter().filter_map(SharedMemory::owner).collect();
        Ok(Claims { claims, owners })
    }
}

/// The claims of one launch.
pub(crate) struct Claims<'a> {
    claims: Vec<Claim<'a, LaunchEvent>>,
    /// The owners of adopted memory, each once.
    owners: Vec<&'a dyn DeviceMemory>,
}

impl Claims<'_> {
    /// Tells the owners of adopted memory that a launch on `stream` uses it, until the returned value is dropped:
    /// fact 7 of [`Uses`](crate::in_flight::uses::Uses). `cuda` is the context, which is current before and after;
    /// `None` on the emulator.
    pub(crate) fn begin(&self, stream: CUstream, cuda: Option<&Arc<Cuda>>) -> Result<Using<'_>, CudaError> {
        Using::begin(self.owners.iter().copied(), stream, cuda)
    }
}

impl<'a> Deref for Claims<'a> {
    type Target = [Claim<'a, LaunchEvent>];

    fn deref(&self) -> &Self::Target {
        &self.claims
    }
}

/// Shared memory, sorted by block and address, in groups of one block that overlaps connect.
fn joined(resources: &[SharedResource]) -> impl Iterator<Item = &[SharedResource]> {
    let mut end = 0;
    resources.chunk_by(move |before, share| {
        let (_, last) = before.memory.addresses();
        let (_, addresses) = share.memory.addresses();
        let is_same = before.memory.block() == share.memory.block();
        end = if is_same { last.end.max(end) } else { 0 };
        is_same && addresses.start < end
    })
}

/// Whether a group of [`joined`] memory has overlaps of which the graph writes something.
fn conflict(shares: &[SharedResource]) -> bool {
    shares.len() > 1 && shares.iter().any(|share| share.write)
}

/// The memory that launches claim of a group of [`joined`] memory.
fn claimed(shares: &[SharedResource]) -> Vec<SharedResource> {
    if !conflict(shares) {
        return shares.to_vec();
    }
    let end = |share: &&SharedResource| share.memory.addresses().1.end;
    let (first, last) = (&shares[0], shares.iter().max_by_key(end).unwrap_or(&shares[0]));
    vec![SharedResource {
        resource: first.resource,
        memory: first.memory.up_to(&last.memory),
        mutable: true,
        write: true,
    }]
}

/// The mistake of memory that a graph shares under two names.
#[cold]
fn overlap(draft: &Draft, first: &SharedResource, second: &SharedResource, bytes: u64) -> Diagnostic {
    let name = |share: &SharedResource| &draft.resources[share.resource].name;
    let written = if first.write { first } else { second };
    let message = format!(
        "`{}` and `{}` are shared memory that overlaps, and the graph writes `{}`",
        name(first),
        name(second),
        name(written)
    );
    Diagnostic::new(Code::AliasedArgument, Subject::Resource(second.resource), message)
        .note(format!("{bytes} bytes belong to both"))
        .help("share memory that does not overlap, or use one name for both")
}
