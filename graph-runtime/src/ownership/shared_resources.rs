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
use graph_plan::{Code, Diagnostic, Draft, Subject};
use std::ops::Deref;
use std::sync::Arc;

/// A shared resource.
#[derive(Clone)]
pub(crate) struct SharedResource {
    pub(crate) resource: usize,
    pub(crate) memory: SharedMemory,
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
}

impl SharedResources {
    /// The shared memory of a graph whose nodes have all been declared.
    pub(crate) fn new(draft: &Draft, shared: Vec<(usize, SharedMemory)>) -> Self {
        let mut written = vec![false; if shared.is_empty() { 0 } else { draft.resources.len() }];
        if !shared.is_empty() {
            let writes = draft.accesses.iter().filter(|access| access.mode.writes());
            writes.for_each(|access| written[access.resource] = true);
        }
        let shares = shared.into_iter().map(|(resource, memory)| SharedResource {
            resource,
            memory,
            write: written[resource],
        });
        Self::sorted(shares.collect())
    }

    fn sorted(mut resources: Vec<SharedResource>) -> Self {
        resources.sort_by_key(|share| {
            let (_, addresses) = share.memory.addresses();
            (share.memory.block(), addresses.start, addresses.end)
        });
        Self {
            resources,
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

    /// The mistakes of pairs that overlap, if the graph writes one of the two. Memory that is not usable on the graph's
    /// device does not count: its addresses mean nothing there.
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
                if bytes > 0 && (first.write || second.write) {
                    found.push(overlap(draft, first, second, bytes));
                }
            }
        }
        found
    }

    /// The shared memory with other memory for some resources.
    pub(crate) fn with(&self, changes: &[(usize, SharedMemory)]) -> Self {
        let changed = |share: &SharedResource| changes.iter().find(|(resource, _)| *resource == share.resource);
        let shares = self.resources.iter().map(|share| SharedResource {
            memory: changed(share).map_or(&share.memory, |(_, memory)| memory).clone(),
            ..*share
        });
        Self {
            pool: self.pool.clone(),
            stations: self.stations.clone(),
            ..Self::sorted(shares.collect())
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
        let resources = self.resources.iter().map(|share| {
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
