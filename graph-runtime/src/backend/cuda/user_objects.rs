//! The objects of the user that a graph keeps as long as it lives.

use super::capture::Captured;
use crate::backend::host_calls::HostCalls;
use crate::devices::cuda_memory::CudaMemory;
use crate::ownership::blueprint::Blueprint;
use crate::ownership::storage::Storage;
use crate::program::External;
use crate::program::communicator::Communicator;
use crate::program::event::Event;
use crate::program::pointer::Addresses;
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// The objects of the user, and their streams and memory. They are dropped only when no launch is in flight and the
/// graph is destroyed; if that is not sure, they are leaked. Closures are dropped before the streams to which they may
/// hold handles.
pub(super) struct UserObjects {
    pub(super) calls: HostCalls,
    /// The closures of `capture` and `raw` nodes.
    _closures: Vec<Arc<dyn Any + Send + Sync>>,
    /// The events of `record` and `wait` nodes.
    _events: Vec<Event>,
    /// The number that the graph has on all ranks of each communicator, for kernels.
    pub(super) joined: Option<CudaMemory>,
    /// The same for the host, once all ranks have built the graph.
    pub(super) numbers: OnceLock<Vec<u64>>,
    /// The captured graphs, by node.
    pub(super) captured: HashMap<usize, Captured>,
    /// The addresses of all memory when the graph was built, for closures of `capture` and `raw` nodes.
    pub(super) addresses: Arc<Addresses>,
    /// The memory that skipped memsets set, instead of their own. Allocated when the first memset is skipped.
    pub(super) nowhere: Option<CudaMemory>,
    /// The copies of conditions that predicated kernels test, and the tickets by which their blocks agree.
    pub(super) condition_copies: Option<CudaMemory>,
    /// The communicators of collectives, with the stations of all of their ranks. They are dropped after the graphs
    /// that were captured of what NCCL queues (fact 2 of [`NcclRank`](crate::ownership::nccl_rank::NcclRank)).
    pub(super) communicators: Arc<[Communicator]>,
}

impl UserObjects {
    pub(super) fn new(blueprint: &Blueprint<'_>, storage: &[Storage]) -> Self {
        let (mut closures, mut events) = (Vec::<Arc<dyn Any + Send + Sync>>::new(), Vec::new());
        let mut communicators: Vec<Communicator> = Vec::new();
        for external in blueprint.program.others().filter_map(|(_, op)| op.external()) {
            match external {
                External::Record(event) | External::Wait(event) => events.push(event.clone()),
                External::Capture(call) => closures.push(call.clone()),
                External::Raw(call) => closures.push(call.clone()),
                External::Collective(call) => {
                    if !communicators.iter().any(|known| known.is(&call.communicator)) {
                        communicators.push(call.communicator.clone());
                    }
                }
                External::Call(_) => {} // `calls` keeps these
            }
        }
        Self {
            calls: HostCalls::new(blueprint, storage),
            _closures: closures,
            _events: events,
            communicators: communicators.into(),
            joined: None,
            numbers: OnceLock::new(),
            captured: HashMap::new(),
            addresses: Arc::new(Addresses::new(storage.iter().map(Storage::first))),
            nowhere: None,
            condition_copies: None,
        }
    }

    /// The bytes of device memory.
    pub(super) fn bytes(&self) -> usize {
        let captured = self.captured.values().map(Captured::bytes).sum::<usize>();
        let own = self.nowhere.iter().chain(&self.condition_copies).chain(&self.joined);
        captured + own.map(CudaMemory::bytes).sum::<usize>()
    }
}
