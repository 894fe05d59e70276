//! The memory of a rank by which kernels of GPUs meet in collectives: see `graph-runtime/kernels/collective.cu`.

use crate::devices::Backend;
use crate::devices::cuda::Cuda;
use crate::devices::cuda_memory::CudaMemory;
use crate::devices::launch_event::LaunchEvent;
use crate::error::{At, Result, Site};
use crate::in_flight::launches::Access;
use crate::in_flight::lock::Lock;
use crate::in_flight::refused::Refused;
use crate::in_flight::uses::{Claim, ClaimKind, Patience, Terms};
use crate::ownership::block::Block;
use crate::ownership::host_memory::HostMemory;
use crate::program::communicator::station::{Reason, Report, Station};
use crate::shape::part::Layout;
use std::any::Any;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The most ranks of a group.
pub(crate) const MAX_RANKS: usize = 32;
/// The most blocks of a kernel.
pub(crate) const MAX_BLOCKS: usize = 256;
/// The bytes of a block's staging in one round.
pub(crate) const STAGING: usize = 32 << 10;
/// The stagings of a block, which rounds use in turns.
const TURNS: usize = 4;
/// The bytes before the stagings: the words about failures, the round of each block, and the rounds of all ranks.
const HEADER: usize = 128 + 4 * MAX_BLOCKS + 4 * TURNS * MAX_BLOCKS * MAX_RANKS;
const _: () = assert!(HEADER.is_multiple_of(128));

/// The station of a rank that is a GPU.
///
/// # Safety
///
/// Kernels of several devices use the memory because of these facts.
///
/// 1. *It lives as long as its use.* The world of its ranks keeps it, and each graph keeps the members of that world
///    with its memory: they are dropped, or leaked, with that (fact 2 of
///    [`CudaExecutable`](crate::backend::cuda::CudaExecutable)). A process opens the stations of others: what it has
///    opened stays mapped until it closes that, also if the other process has ended. A station that others may have
///    opened is not freed before its own process ends: CUDA forbids that, and nobody tells when they have closed it.
/// 2. *Each word and each byte has one writer at a time.* A block of a rank writes only its own slots and its own words
///    in the stations of others: words by release stores, which these read by acquire loads before they read the slots.
///    There are four stagings, which rounds use in turns. A block writes its slots of round `k + 2`, which were those
///    of round `k - 2`, after it has met the others at round `k`, and they came there after they had read that one.
///    Launches of a rank that use the station follow each other ([`CudaStation::claim`]), and so do the collectives of
///    a launch (`collective-order`).
/// 3. *Soundness does not depend on what is found there.* Staging holds plain data, of which any bits are a value. The
///    numbers of rounds choose one of four stagings, whatever they are.
pub(crate) struct CudaStation {
    memory: Arc<Block<CudaMemory>>,
    post: HostMemory,
    /// The graphs and nodes that wait at it, by number.
    nodes: Lock<Vec<(String, String)>>,
}

/// The words by which kernels and the host speak.
#[repr(C)]
struct Post {
    /// As kernels write it: bit 63 is set if there is a failure, and the two bits after it have the reason; then the
    /// number of the node, and in the last 16 bits the missing rank.
    report: AtomicU64,
    /// The number of a rank that has left, + 1.
    left: AtomicU32,
}

/// The bytes of [`Post`].
const POST: Layout = Layout {
    bytes: size_of::<Post>(),
    align: align_of::<Post>(),
    float: None,
};

/// The bytes of a station.
const BYTES: usize = HEADER + TURNS * MAX_BLOCKS * STAGING;

fn site() -> Site {
    Site::default().at_memory("communicator")
}

/// A text that no other machine has, nor this one before it was started.
fn machine() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

impl CudaStation {
    /// Allocates a station.
    pub(crate) fn new(cuda: &Arc<Cuda>) -> Result<Self> {
        Self::of_memory(cuda, CudaMemory::zeroed(cuda, BYTES).at(site)?)
    }

    /// Opens a station of another process by its card, for kernels of a context: [`Station::card`]. (Its words for the
    /// host are not those of the other process, and nobody uses them.) The error is the end of a sentence.
    pub(crate) fn open(cuda: &Arc<Cuda>, card: &[u8]) -> Result<Self, String> {
        let refuse = |reason: &str| Err(reason.to_owned());
        let Some((handle, of)) = card.split_first_chunk() else {
            return refuse("is an emulator, and this rank is a GPU: ranks of one communicator are all the same");
        };
        if of != machine().as_bytes() {
            return refuse("is on another machine: GPUs of several processes are on one machine, in this version");
        }
        let described = |error: &dyn std::fmt::Display| {
            format!("has memory that this rank cannot open ({error}): the GPUs must reach each other's memory")
        };
        // SAFETY: ranks of one version of this crate, which they compare, send handles of stations alone.
        let memory = unsafe { CudaMemory::open(cuda, *handle, BYTES) };
        let memory = memory.map_err(|error| described(&error))?;
        Self::of_memory(cuda, memory).map_err(|error| described(&error))
    }

    fn of_memory(cuda: &Arc<Cuda>, memory: CudaMemory) -> Result<Self> {
        Ok(Self {
            memory: Arc::new(Block::new(memory, Terms::Owned)),
            post: HostMemory::zeroed(&Backend::Cuda(cuda.clone()), POST, site)?,
            nodes: Lock::default(),
        })
    }

    /// The station that is behind the trait.
    pub(crate) fn of(station: &Arc<dyn Station>) -> Option<Arc<Self>> {
        let station: Arc<dyn Any + Send + Sync> = station.clone();
        station.downcast().ok()
    }

    /// The address of its memory, for kernels of all ranks.
    pub(crate) fn address(&self) -> u64 {
        self.memory.address()
    }

    /// The address of its words for the host, for kernels of this rank. (Page-locked memory has one address for all.)
    pub(crate) fn post_address(&self) -> u64 {
        self.post.pointer().addr().get() as u64
    }

    /// The number of a node of a graph, by which kernels report it.
    pub(crate) fn number(&self, graph: &str, node: &str) -> u32 {
        let mut nodes = self.nodes.lock();
        let known = nodes.iter().position(|known| (&*known.0, &*known.1) == (graph, node));
        let index = known.unwrap_or_else(|| {
            nodes.push((graph.to_owned(), node.to_owned()));
            nodes.len() - 1
        });
        index as u32
    }

    /// Claims the station for a launch. One byte stands for all: launches claim all or nothing.
    pub(crate) fn claim(&self, patience: Patience) -> Result<Claim<'_, LaunchEvent>, Refused> {
        let all = Access::new(0, 1, true);
        self.memory.uses().claim(all, ClaimKind::Call, patience)
    }

    fn post(&self) -> &Post {
        // SAFETY: the memory has the bytes of a `Post`, aligned to 64 and zero at first, and lives as long as `self`;
        // the host and kernels access its words atomically alone.
        unsafe { self.post.pointer().cast().as_ref() }
    }
}

impl Station for CudaStation {
    fn card(&self) -> Result<Vec<u8>> {
        let handle = self.memory.handle().at(site)?;
        // Fact 1: it is kept from now on.
        std::mem::forget(self.memory.clone());
        Ok([&handle[..], machine().as_bytes()].concat())
    }

    fn report(&self) -> Option<Report> {
        let report = self.post().report.load(Ordering::Acquire);
        if report >> 63 == 0 {
            return None;
        }
        let known = self.nodes.lock().get((report >> 16) as u32 as usize).cloned();
        let (graph, node) = known.unwrap_or_default();
        Some(Report {
            graph,
            node,
            missing: (report & 0xffff) as usize,
            reason: match report >> 61 & 3 {
                0 => Reason::Absent,
                1 => Reason::Told,
                _ => Reason::Elsewhere,
            },
        })
    }

    fn tell_of_leaving(&self, rank: usize) {
        self.post().left.store(rank as u32 + 1, Ordering::Release);
    }
}

/// The stations of a graph, one for each of its communicators, in the order of their addresses.
#[derive(Clone, Default)]
pub(crate) struct Stations(Vec<Arc<CudaStation>>);

impl Stations {
    /// These stations, each once.
    pub(crate) fn new(stations: impl Iterator<Item = Arc<CudaStation>>) -> Self {
        let mut stations: Vec<Arc<CudaStation>> = stations.collect();
        stations.sort_by_key(Arc::as_ptr);
        stations.dedup_by_key(|station| Arc::as_ptr(station));
        Self(stations)
    }
}

impl Deref for Stations {
    type Target = [Arc<CudaStation>];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
