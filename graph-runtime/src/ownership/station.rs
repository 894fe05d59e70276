//! The memory of a rank by which kernels of GPUs meet in collectives: see `graph-runtime/kernels/collective.cu`.

use crate::devices::cuda::Cuda;
use crate::devices::cuda_memory::CudaMemory;
use crate::devices::launch_event::LaunchEvent;
use crate::error::{At, Result, Site};
use crate::in_flight::launches::Access;
use crate::in_flight::refused::Refused;
use crate::in_flight::uses::{Claim, ClaimKind, Patience, Terms};
use crate::ownership::block::Block;
use crate::ownership::nccl_rank::{self, NcclRank};
use crate::ownership::post::Post;
use crate::program::communicator::station::{Around, Report, Station};
use std::any::Any;
use std::ops::Deref;
use std::sync::Arc;

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
    post: Arc<Post>,
    /// The part of the rank in NCCL's communicator, if that carries the data. Then `memory` has the number of
    /// collectives so far, and nothing else, and the facts above are not needed: see [`NcclRank`].
    nccl: Option<NcclRank>,
}

/// The bytes of a station.
const BYTES: usize = HEADER + TURNS * MAX_BLOCKS * STAGING;

fn site() -> Site {
    Site::default().at_memory("communicator")
}

impl CudaStation {
    /// A text that no other machine has, nor this one before it was started.
    pub(crate) fn machine() -> String {
        std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default()
    }

    /// Allocates a station.
    pub(crate) fn new(cuda: &Arc<Cuda>) -> Result<Self> {
        Self::of_memory(cuda, CudaMemory::zeroed(cuda, BYTES).at(site)?)
    }

    /// Makes a station for a rank whose data NCCL carries.
    pub(crate) fn by_nccl(cuda: &Arc<Cuda>) -> Result<Self> {
        nccl_rank::present()?;
        let station = Self::of_memory(cuda, CudaMemory::zeroed(cuda, size_of::<u64>()).at(site)?)?;
        let nccl = NcclRank::new(cuda, &station.post);
        Ok(Self {
            nccl: Some(nccl),
            ..station
        })
    }

    /// Makes the bytes by which the ranks of a group find each other by NCCL.
    pub(crate) fn nccl_id() -> Result<Vec<u8>> {
        nccl_rank::new_id()
    }

    /// Opens a station of another process by its card, for kernels of a context: [`Station::card`]. (Its words for the
    /// host are not those of the other process, and nobody uses them.) The error is the end of a sentence.
    pub(crate) fn open(cuda: &Arc<Cuda>, card: &[u8]) -> Result<Self, String> {
        let refuse = |reason: &str| Err(reason.to_owned());
        let Some((handle, of)) = card.split_first_chunk() else {
            return refuse("is an emulator, and this rank is a GPU: ranks of one communicator are all the same");
        };
        if of != Self::machine().as_bytes() {
            return refuse("is on another machine, whose memory only NCCL reaches: ask for `Transport::Nccl`");
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
            post: Arc::new(Post::new(cuda, site)?),
            nccl: None,
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

    /// Its words for the host.
    pub(crate) fn post(&self) -> &Post {
        &self.post
    }

    /// The part of the rank in NCCL's communicator, if that carries the data.
    pub(crate) fn nccl(&self) -> Option<&NcclRank> {
        self.nccl.as_ref()
    }

    /// Claims the station for a launch. One byte stands for all: launches claim all or nothing.
    pub(crate) fn claim(&self, patience: Patience) -> Result<Claim<'_, LaunchEvent>, Refused> {
        let all = Access::new(0, 1, true);
        self.memory.uses().claim(all, ClaimKind::Call, patience)
    }
}

impl Station for CudaStation {
    fn card(&self) -> Result<Vec<u8>> {
        let handle = self.memory.handle().at(site)?;
        // Fact 1: it is kept from now on.
        std::mem::forget(self.memory.clone());
        Ok([&handle[..], Self::machine().as_bytes()].concat())
    }

    fn report(&self) -> Option<Report> {
        self.post.report()
    }

    fn tell_of_leaving(&self, rank: usize) {
        self.post.tell_of_leaving(rank);
    }

    fn join(&self, id: &[u8], around: Box<dyn Around>) -> Result<(), String> {
        self.nccl.as_ref().map_or(Ok(()), |nccl| nccl.join(id, around))
    }

    fn joined(&self) -> Result<(), String> {
        self.nccl.as_ref().map_or(Ok(()), NcclRank::joined)
    }

    fn end(&self) {
        if let Some(nccl) = &self.nccl {
            nccl.end();
        }
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
