//! The words by which kernels of a rank and the host speak, and the nodes that these words name.

use crate::devices::Backend;
use crate::devices::cuda::Cuda;
use crate::error::{Result, Site};
use crate::in_flight::lock::Lock;
use crate::ownership::host_memory::HostMemory;
use crate::program::communicator::station::{Reason, Report};
use crate::shape::part::Layout;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The words, in page-locked memory of the host.
#[repr(C)]
struct Words {
    /// As kernels write it: bit 63 is set if there is a failure, and the two bits after it have the reason; then the
    /// number of the node, and in the last 16 bits the missing rank.
    report: AtomicU64,
    /// The number of a rank that has left, + 1.
    left: AtomicU32,
    /// With NCCL, the collective that runs: the number of collectives so far, and in the last 32 bits the number of its
    /// node, + 1; these are 0 if none runs.
    mark: AtomicU64,
}

const LAYOUT: Layout = Layout {
    bytes: size_of::<Words>(),
    align: align_of::<Words>(),
    float: None,
};

/// The words of a station.
pub(crate) struct Post {
    memory: HostMemory,
    /// The graphs and nodes that wait, by number.
    nodes: Lock<Vec<(String, String)>>,
    /// The words of NCCL, if it has failed.
    said: Lock<String>,
}

impl Post {
    pub(crate) fn new(cuda: &Arc<Cuda>, site: impl Fn() -> Site) -> Result<Self> {
        Ok(Self {
            memory: HostMemory::zeroed(&Backend::Cuda(cuda.clone()), LAYOUT, site)?,
            nodes: Lock::default(),
            said: Lock::default(),
        })
    }

    /// The address, for kernels of this rank. (Page-locked memory has one address for all.)
    pub(crate) fn address(&self) -> u64 {
        self.memory.pointer().addr().get() as u64
    }

    /// The address of the word about the collective that runs.
    pub(crate) fn mark_address(&self) -> u64 {
        self.address() + std::mem::offset_of!(Words, mark) as u64
    }

    fn words(&self) -> &Words {
        // SAFETY: the memory has the bytes of `Words`, aligned to 64 and zero at first, and lives as long as `self`;
        // the host and kernels access its words atomically alone.
        unsafe { self.memory.pointer().cast().as_ref() }
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

    /// The graph and the node of a number; empty if there is none.
    pub(crate) fn node(&self, number: u32) -> (String, String) {
        self.nodes.lock().get(number as usize).cloned().unwrap_or_default()
    }

    /// With NCCL, the collective that runs, and the number of collectives so far.
    pub(crate) fn running(&self) -> (u32, Option<u32>) {
        let mark = self.words().mark.load(Ordering::Acquire);
        ((mark >> 32) as u32, (mark as u32).checked_sub(1))
    }

    /// A rank that has left.
    pub(crate) fn left(&self) -> Option<usize> {
        let left = self.words().left.load(Ordering::Acquire);
        left.checked_sub(1).map(|rank| rank as usize)
    }

    pub(crate) fn tell_of_leaving(&self, rank: usize) {
        self.words().left.store(rank as u32 + 1, Ordering::Release);
    }

    /// Reports a failure of NCCL's at a node, as kernels of this crate report theirs.
    pub(crate) fn put_report(&self, node: u32, missing: usize, (reason, said): (Reason, String)) {
        *self.said.lock() = said;
        let code = CODES.iter().position(|known| *known == reason).unwrap_or(0);
        let report = 1 << 63 | (code as u64) << 61 | u64::from(node) << 16 | missing as u64 & 0xffff;
        self.words().report.store(report, Ordering::Release);
    }

    pub(crate) fn report(&self) -> Option<Report> {
        let report = self.words().report.load(Ordering::Acquire);
        if report >> 63 == 0 {
            return None;
        }
        let (graph, node) = self.node((report >> 16) as u32);
        Some(Report {
            graph,
            node,
            missing: (report & 0xffff) as usize,
            reason: CODES[(report >> 61 & 3) as usize],
            said: self.said.lock().clone(),
        })
    }
}

/// The reasons, by their numbers.
const CODES: [Reason; 4] = [Reason::Absent, Reason::Told, Reason::Elsewhere, Reason::Nccl];
