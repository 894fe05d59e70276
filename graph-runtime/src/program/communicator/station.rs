//! Stations: the memory of each rank by which kernels meet, where ranks are GPUs.

use crate::error::Result;
use std::any::Any;
use std::sync::Arc;

/// The device of a rank, whose type only modules above know.
pub(crate) trait RankDevice: Any + Send + Sync {
    /// Makes a station; `None` where the host meets for the ranks.
    fn station(&self) -> Result<Option<Arc<dyn Station>>>;

    /// Opens the station of another process, of which it has sent the card; `None` where the host meets for the ranks.
    /// The error is the end of a sentence about the other rank.
    fn open(&self, card: &[u8]) -> Result<Option<Arc<dyn Station>>, String>;
}

/// The memory of one rank of a group by which its kernels meet those of the others. Kernels of all ranks reach it. So
/// it lives as long as the [`World`](super::meeting::World), which every graph of every rank keeps.
pub(crate) trait Station: Any + Send + Sync {
    /// The bytes by which another process opens the station.
    fn card(&self) -> Result<Vec<u8>>;

    /// Takes the failure that a kernel of this rank has reported last, if there was one. It stays.
    fn report(&self) -> Option<Report>;

    /// Tells kernels of this rank that a rank has left, and comes to no place to which it has not come.
    fn tell_of_leaving(&self, rank: usize);
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
}
