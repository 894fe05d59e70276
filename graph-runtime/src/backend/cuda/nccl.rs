//! Collectives that NCCL carries: what it queues on a stream is captured into a graph, which becomes a child node,
//! between two kernels that tell the host where the rank is.
//!
//! NCCL may register the memory of a captured graph by itself (`NCCL_GRAPH_REGISTER`). Nothing is registered here:
//! `ncclCommRegister` was not measured.

use super::CudaExecutable;
use super::add::{ONE_THREAD, launch};
use super::builtin::Builtin;
use super::capture::Captured;
use crate::devices::cuda::Cuda;
use crate::driver::nccl::{Carried, Side};
use crate::driver::{self, CUgraph, CUgraphNode, CUstream, CUstreamCaptureMode};
use crate::error::{At, CudaError, Error, Result, Site};
use crate::ownership::nccl_rank::NcclRank;
use crate::ownership::station::CudaStation;
use crate::program::communicator::Communicator;
use crate::program::communicator::call::{CollectiveCall, Move};
use crate::program::communicator::number::{Number, Reduction};
use crate::shape::part::Part;
use graph_plan::{Draft, Mode, NodeKind, forbidden_capture};
use graph_ptx::GuardForm;
use std::ffi::c_void;
use std::sync::Arc;

/// `ncclDataType_t`
fn type_of(number: Number) -> u32 {
    match number {
        Number::I8 => 0,
        Number::U8 => 1,
        Number::I32 => 2,
        Number::U32 => 3,
        Number::I64 => 4,
        Number::U64 => 5,
        Number::F16 => 6,
        Number::F32 => 7,
        Number::F64 => 8,
        Number::Bf16 => 9,
    }
}

/// `ncclRedOp_t`
fn operation(reduction: Reduction) -> u32 {
    match reduction {
        Reduction::Sum => 0,
        Reduction::Prod => 1,
        Reduction::Max => 2,
        Reduction::Min => 3,
        Reduction::Avg => 4,
    }
}

/// The station of a rank whose data NCCL carries.
fn station(communicator: &Communicator) -> Option<Arc<CudaStation>> {
    let member = &communicator.0;
    let station = CudaStation::of(member.stations.get(member.rank)?)?;
    station.nccl().is_some().then_some(station)
}

/// The work of NCCL for a collective; `None` if there is nothing to do. `address` tells where memory is.
fn carried(call: &CollectiveCall, address: impl Fn(Part) -> u64) -> Option<Carried> {
    let (first, last) = (call.moves.first()?, call.moves.last()?);
    let (from, to) = (address(first.part), address(last.part));
    let count = |part: Part, number: Number| part.bytes / number.bytes();
    let bytes = first.part.bytes;
    Some(match (call.kind, call.reduction) {
        (NodeKind::AllReduce, Some((reduction, number))) => Carried::AllReduce {
            memory: from,
            count: count(first.part, number),
            number: type_of(number),
            operation: operation(reduction),
        },
        (NodeKind::ReduceScatter, Some((reduction, number))) => Carried::ReduceScatter {
            from,
            to,
            count: count(last.part, number),
            number: type_of(number),
            operation: operation(reduction),
        },
        (NodeKind::Broadcast, _) => Carried::Broadcast {
            memory: from,
            bytes,
            root: first.peer,
        },
        (NodeKind::Exchange, _) => {
            let side = |one: &Move| Side {
                memory: address(one.part),
                bytes: one.part.bytes,
                peer: one.peer,
                sends: one.mode == Mode::Read,
            };
            Carried::Exchange(call.moves.iter().map(side).collect())
        }
        _ => Carried::AllGather { from, to, bytes },
    })
}

/// A stream that is being captured. Dropping it ends that.
struct Recording {
    cuda: Arc<Cuda>,
    stream: CUstream,
    is_capturing: bool,
}

impl Recording {
    fn begin(cuda: &Arc<Cuda>) -> Result<Self, CudaError> {
        cuda.bind()?;
        let mut recording = Self {
            cuda: cuda.clone(),
            // SAFETY: the context is current.
            stream: unsafe { driver::stream::create() }?,
            is_capturing: false,
        };
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream was just made.
        unsafe { driver::stream::begin_capture(recording.stream, mode) }?;
        recording.is_capturing = true;
        Ok(recording)
    }

    fn end(&mut self) -> Result<CUgraph, CudaError> {
        self.cuda.bind()?;
        self.is_capturing = false;
        // SAFETY: the stream is being captured, on this thread.
        unsafe { driver::stream::end_capture(self.stream) }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if self.is_capturing
            && let Ok(graph) = self.end()
        {
            // SAFETY: it was captured for nobody else.
            let _ = unsafe { driver::GraphApi::Driver.destroy(graph) };
        }
        // SAFETY: it was made by `begin`, for this alone, and has no work.
        let _ = unsafe { driver::stream::destroy(self.stream) };
    }
}

impl CudaExecutable {
    /// Captures what NCCL queues for a collective. All ranks do so at the same time: NCCL may connect them. Returns
    /// false if NCCL does not carry it.
    pub(super) fn capture_collective(&mut self, draft: &Draft, node: usize, call: &CollectiveCall) -> Result<bool> {
        let Some(station) = station(&call.communicator) else {
            return Ok(false);
        };
        let Some(rank) = station.nccl() else {
            return Ok(false);
        };
        let site = || Site::graph(&draft.name).at_node(&draft.nodes[node].name);
        self.kernels.load_builtin(draft, Builtin::Mark, GuardForm::default())?;
        let recorded = self.record_collective(call, rank).at(site)?;
        let graph = recorded.map_err(|message| {
            let broken = call.communicator.0.broken(site);
            broken.unwrap_or_else(|| Error::Node { site: site(), message })
        })?;
        let captured = Captured::recorded(&self.cuda, graph);
        let forbidden = captured.forbidden_in_bodies().at(site)?;
        if let Some(mistake) = forbidden.and_then(|what| forbidden_capture(draft, node, what)) {
            let note = "NCCL before 2.29 queues events, unless `NCCL_GRAPH_MIXING_SUPPORT=0` is in the environment in which \
                        the program starts; and it calls host functions for GPUs of other hosts";
            return Err(Error::mistake(&draft.name, mistake.note(note)));
        }
        self.user_objects.captured.insert(node, captured);
        Ok(true)
    }

    /// The graph of what NCCL queues, or the reason why there is none.
    fn record_collective(&self, call: &CollectiveCall, rank: &NcclRank) -> Result<Result<CUgraph, String>, CudaError> {
        announce!(
            self.cuda,
            trace,
            bytes = call.moves.first().map_or(0, |one| one.part.bytes),
            "NCCL"
        )?;
        let mut recording = Recording::begin(&self.cuda)?;
        let queued = match carried(call, |part| self.adder.device(part)) {
            // SAFETY: the stream was just made in this context; the memory is that of `self`, and lives as long as what
            // was captured is launched (fact 2 of `CudaExecutable`). The counts are those of the parts, and ranks have
            // compared them.
            Some(work) => unsafe { rank.queue(&work, recording.stream) },
            None => Ok(()),
        };
        match queued {
            Ok(()) => recording.end().map(Ok),
            Err(message) => Ok(Err(message)),
        }
    }

    /// Adds what [`CudaExecutable::capture_collective`] has captured; `None` if there is nothing.
    ///
    /// # Safety
    ///
    /// As for [`CudaExecutable::add_one`].
    pub(super) unsafe fn add_by_nccl(
        &self,
        draft: &Draft,
        graph: CUgraph,
        after: &[CUgraphNode],
        (node, call): (usize, &CollectiveCall),
    ) -> Option<Result<CUgraphNode, CudaError>> {
        let station = station(&call.communicator)?;
        let name = &*draft.nodes[node].name;
        let number = station.post().number(&draft.name, name) + 1;
        let add = || {
            // SAFETY: by the caller's promise; `user_objects` keeps the station.
            let begin = unsafe { self.add_mark(graph, after, &station, number) }?;
            // SAFETY: by the caller's promise, and `begin` was just added.
            let carried = unsafe { self.add_captured(graph, &[begin], node, name) }?;
            // SAFETY: as above.
            unsafe { self.add_mark(graph, &[carried], &station, 0) }
        };
        Some(add())
    }

    /// Adds the kernel that tells the host which collective runs.
    ///
    /// # Safety
    ///
    /// As for [`CudaExecutable::add_one`]; the station lives as long as the graph.
    unsafe fn add_mark(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        station: &CudaStation,
        mut number: u32,
    ) -> Result<CUgraphNode, CudaError> {
        let (mut count, mut post) = (station.address(), station.post().mark_address());
        let mut arguments: [*mut c_void; 3] = [
            (&raw mut count).cast(),
            (&raw mut post).cast(),
            (&raw mut number).cast(),
        ];
        let kernel = self.kernels.builtin(Builtin::Mark, GuardForm::default());
        let params = launch(kernel, &ONE_THREAD, &mut arguments);
        // SAFETY: by the caller's promise; arguments are copied by the call (fact 6 of `CudaExecutable`).
        unsafe { self.cuda.api().add_kernel_node(graph, after, &params) }
    }
}
