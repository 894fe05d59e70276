//! Stations: the memory of each rank by which kernels meet, or tell the host where they are, where ranks are GPUs.

use crate::error::Result;
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// What carries the data of a communicator of GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// Kernels of this crate.
    Kernels,
    Nccl,
}

/// The device of a rank, whose type only modules above know.
pub(crate) trait RankDevice: Any + Send + Sync {
    /// Makes a station; `None` where the host meets for the ranks.
    fn station(&self, carrier: Carrier) -> Result<Option<Arc<dyn Station>>>;

    /// Makes the bytes by which the ranks of a group find each other by NCCL. One rank of them calls it.
    fn nccl_id(&self) -> Result<Vec<u8>>;

    /// Opens the station of another process, of which it has sent the card; `None` where the host meets for the ranks.
    /// The error is the end of a sentence about the other rank.
    fn open(&self, card: &[u8]) -> Result<Option<Arc<dyn Station>>, String>;
}

/// The memory of one rank of a group by which its kernels meet those of the others. Kernels of all ranks reach it. So
/// it lives as long as the [`World`](super::meeting::World), which every graph of every rank keeps.
pub(crate) trait Station: Any + Send + Sync {
    /// The bytes by which another process opens the station.
    fn card(&self) -> Result<Vec<u8>>;

    /// Takes the failure that was reported last of a kernel of this rank, if there was one. It stays.
    fn report(&self) -> Option<Report>;

    /// Tells kernels of this rank that a rank has left, and comes to no place to which it has not come.
    fn tell_of_leaving(&self, rank: usize);

    /// Begins to join the other ranks by NCCL, which is what the station was made for. All ranks do so, and then call
    /// [`Station::joined`]. The error is the end of a sentence about this rank.
    fn join(&self, _id: &[u8], _around: Box<dyn Around>) -> Result<(), String> {
        Ok(())
    }

    /// Waits until all ranks have joined by NCCL.
    fn joined(&self) -> Result<(), String> {
        Ok(())
    }

    /// Ends what [`Station::join`] has begun. No graph of this rank has work of it any more.
    fn end(&self) {}
}

/// The station of a rank that is another process, where nothing of it is reached from here.
pub(crate) struct Elsewhere;

impl Station for Elsewhere {
    fn card(&self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn report(&self) -> Option<Report> {
        None
    }

    fn tell_of_leaving(&self, _: usize) {}
}

/// The group around a rank, for the thread that watches the collectives of the rank.
pub(crate) trait Around: Send + Sync {
    /// The number of the rank.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// The longest time for which a rank waits for the others.
    fn timeout(&self) -> Duration;

    /// Whether the group cannot be used any more.
    fn is_broken(&self) -> bool;

    /// Tells the other ranks that this one waits in its so-manieth collective, with the place in words.
    fn wait_at(&self, count: u32, what: &str);

    /// The rank that keeps this one waiting in the collective of the last [`Around::wait_at`], as far as that is known.
    fn missing(&self) -> Option<(usize, Reason)>;
}

/// The failure of a kernel that waited for a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// The graph and the node that waited.
    pub(crate) graph: String,
    pub(crate) node: String,
    /// The rank that is missing.
    pub(crate) missing: usize,
    pub(crate) reason: Reason,
    /// The words of NCCL, if it has failed.
    pub(crate) said: String,
}

/// The reason why a kernel gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The rank has not come in time, or has left.
    Absent,
    /// Another rank has found that it is missing, and told the kernel.
    Told,
    /// The rank runs another collective.
    Elsewhere,
    /// NCCL has failed, on this rank.
    Nccl,
}
