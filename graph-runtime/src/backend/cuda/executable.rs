//! A graph in a CUDA context: launching, waiting, changing and giving back.

use super::Cuda;
use super::add::Adder;
use super::attribute;
use super::conditional::Setter;
use super::context::refuse_in_host_function;
use super::event::Event;
use super::fill::Fill;
use super::kept::Kept;
use super::kernels::Kernels;
use super::skip;
use crate::backend::Storage;
use crate::backend::calls::Calls;
use crate::driver::{self, CUgraph, CUgraphExec, CUgraphNode, CUstream, CUstreamCaptureStatus, RelaxedCapture};
use crate::error::{At, CudaError, Error, Result, Site};
use crate::program::{Op, Program};
use cudarc::driver::CudaStream;
use graph_plan::Draft;
use std::cell::Cell;
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// An instantiated graph with everything that its launches use.
///
/// # Safety
///
/// Why it is sound that the GPU uses memory behind Rust's back. Blocks elsewhere refer to these facts by number.
///
/// 1. *Handles are ours and live.* `graph`, `exec`, `stream`, `event`, `events`, the modules and `nodes` were made by `build` in the context of
///    `cuda`, are given to nobody who could destroy them without `unsafe`, and are destroyed in `drop` only (events, which are counted,
///    after it). `exec` alone may be made anew before, when no launch is in flight (`renew`); it is null where that failed, and nothing is launched
///    then. `cuda` keeps the context alive.
/// 2. *Memory outlives its use.* What nodes refer to is `storage` (heap allocations; nothing inline, so moving or swapping graphs moves
///    nothing the driver knows) and the modules. Both are freed only in `drop`, after `wait` has returned `Ok`, which it does only
///    when no launch is in flight; where it fails they are leaked, and the events with them. A graph that is forgotten frees nothing. Shared memory
///    in `storage` is counted, and may also be replaced while launches are in flight: fact 4 of `memory::uses::Uses` keeps it for those.
/// 3. *All launches are waited for.* Whatever could put a launch in flight first notes so in `in_flight`: those on `stream` as
///    [`OWN`], those with shared memory or on a user's stream as [`EVENT`] once `event` is recorded behind them, and as [`LOST`] until then. Launches
///    of one `exec` run in the order in which they were made, on whatever streams (CUDA, "cuGraphLaunch"), so the last event stands for all.
/// 4. *No Rust reference meets the GPU.* References into host memory are lent by `Graph`, after a wait, for as long as it is borrowed;
///    starting a launch takes the graph by `&mut`. `Graph` is not `Sync`, so no thread launches while another waits. Shared host memory is lent
///    by guards instead: facts 1 to 3 of `memory::uses::Uses`.
/// 5. *Nodes stay within memory and within their access.* `build` lowers what passed the plan's checks: typed places that
///    are byte ranges of this graph's resources, and kernels whose [`Kernel`](crate::Kernel) implementation vouches for theirs. For what is captured the
///    `unsafe` of the calls vouches, for a raw node that of `GraphBuilder::raw`.
/// 6. *Argument values are copied* by CUDA when a node is added or changed; scratch memory need only live for the call.
/// 7. *Conditions are numbers in memory that nodes read.* Conditional handles and body graphs belong to the CUDA graph that they were
///    made with, which fact 1 keeps. A handle is given to one conditional node of that graph and to built-in kernels that run before it, or
///    at the end of its `while` body, and read four bytes of `storage` that passed the plan's checks; the driver takes any value. What
///    is in a body is a node like others: in `nodes`, and under facts 2 and 5.
/// 8. *Host functions stay, and have their memory for themselves.* What a host node of `exec` points to is behind an `Arc` in `kept`, which
///    is dropped with the memory of fact 2, or leaked with it, or once other memory took its place and no launch is in flight (the node of `graph`
///    may point there still: `renew` tells that of a new `exec`). Kept are also the events of event nodes, and the closures, streams and workspaces of captured
///    and raw ones. While a function runs, the references it gets
///    are the only ones: other nodes that touch the same memory come before or after it (the plan's race rule), one launch ends before
///    the next begins (fact 3), and the host has none (fact 4). A mutex around each function also keeps it from being entered twice at
///    once; as launches follow each other it never waits.
/// 9. *Any thread may call.* Driver handles are not bound to threads; those calls that want the context current get it by
///    [`Cuda::bind`].
pub(crate) struct Executable {
    pub(super) cuda: Arc<Cuda>,
    pub(super) stream: CUstream,
    /// The stream's number: see [`Executable::launch_shared`].
    pub(super) stream_id: Option<u64>,
    /// Behind the last launch that was recorded.
    pub(super) event: Arc<Event>,
    /// Those of launches before the last rebinding, and before that.
    pub(super) events: VecDeque<Arc<Event>>,
    /// Has memory been rebound since the last launch?
    pub(super) rebound: bool,
    pub(super) graph: CUgraph,
    pub(super) exec: CUgraphExec,
    /// Is `exec` null, or not as nodes were told to be? Then nothing is launched before it is made anew.
    pub(super) stale: bool,
    /// One for each node of the program, by index.
    pub(super) nodes: Vec<CUgraphNode>,
    /// The kernels that set the conditions of nodes.
    pub(super) setters: Vec<Setter>,
    pub(super) kernels: Kernels,
    pub(super) adder: Adder,
    pub(super) kept: ManuallyDrop<Kept>,
    pub(super) storage: ManuallyDrop<Vec<Storage>>,
    pub(super) in_flight: Cell<u8>,
}

/// Bits of `in_flight`: work on the graph's own stream.
pub(super) const OWN: u8 = 1;
/// A launch behind which `event` is recorded.
const EVENT: u8 = 2;
/// A launch that neither of them stands for.
pub(super) const LOST: u8 = 4;

// SAFETY: fact 9; everything else in it may be sent.
unsafe impl Send for Executable {}
// SAFETY: no two threads ever share one: it is a private field of `Graph`, which is not `Sync` (its `not_sync`, and a doctest
// that fails to compile). This impl only keeps rustc from listing every handle in here to whoever tries to share a graph.
unsafe impl Sync for Executable {}

impl Executable {
    pub(crate) fn storage(&self) -> &[Storage] {
        &self.storage
    }

    /// The host functions.
    pub(crate) fn calls(&self) -> &Calls {
        &self.kept.calls
    }

    /// The handles, for callers of CUDA: the graph, its executable form, and the stream of its launches.
    pub(crate) fn raw(&self) -> (CUgraph, CUgraphExec, CUstream) {
        (self.graph, self.exec, self.stream)
    }

    /// Starts the graph on its own stream.
    ///
    /// The context is not made current first: `exec` and `stream` name it, and asking which one is current costs more than
    /// the whole of what this function adds to `cuGraphLaunch`. A driver that does want it says so before anything is queued,
    /// and gets it.
    #[inline]
    pub(crate) fn launch(&mut self) -> Result<(), CudaError> {
        refuse_in_host_function()?;
        self.in_flight.set(self.in_flight.get() | OWN);
        // SAFETY: facts 1 and 2.
        match unsafe { driver::graph_launch(self.exec, self.stream) } {
            Err(error) if wants_context(&error) => self.launch_bound(),
            result => result,
        }
    }

    #[cold]
    fn launch_bound(&mut self) -> Result<(), CudaError> {
        self.cuda.bind()?;
        // SAFETY: facts 1 and 2.
        unsafe { driver::graph_launch(self.exec, self.stream) }
    }

    /// Starts the graph on a user's stream.
    pub(crate) fn launch_on(&mut self, draft: &Draft, stream: &CudaStream) -> Result<()> {
        let stream = self.check_stream(draft, stream)?;
        self.launch_recorded(stream).at(|| Site::graph(&draft.name))
    }

    /// The stream of a user, if the graph can be launched there. Its context is current then.
    pub(super) fn check_stream(&self, draft: &Draft, stream: &CudaStream) -> Result<CUstream> {
        let graph = || Site::graph(&draft.name);
        let refuse = |message| Err(Error::Stream { site: graph(), message });
        if stream.context().cu_ctx() != self.cuda.raw() {
            return refuse("the stream belongs to another context");
        }
        // Null streams mean those of the current context.
        self.cuda.bind().at(graph)?;
        let stream = stream.cu_stream();
        // SAFETY: the `CudaStream` is borrowed, so the stream lives.
        let status = unsafe { driver::stream_capture_status(stream) }.at(graph)?;
        if status != CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE {
            return refuse("the stream is being captured: a graph's own memory must not end up in another graph");
        }
        Ok(stream)
    }

    /// Starts the graph on a stream that lives, is of this context and is not being captured, and records `event` behind it. The context is current.
    pub(super) fn launch_recorded(&mut self, stream: CUstream) -> Result<(), CudaError> {
        self.in_flight.set(self.in_flight.get() | LOST);
        self.event.lose();
        // SAFETY: facts 1 and 2; the stream lives and is of this context.
        unsafe { driver::graph_launch(self.exec, stream) }?;
        // SAFETY: the stream lives and is of this context, which is current.
        unsafe { self.event.record(stream) }?;
        self.in_flight.set(self.in_flight.get() & !LOST | EVENT);
        Ok(())
    }

    /// Waits until no launch is in flight.
    pub(crate) fn wait(&self) -> Result<(), CudaError> {
        let in_flight = self.in_flight.get();
        if in_flight == 0 {
            return Ok(());
        }
        let _relaxed = RelaxedCapture::enter();
        self.cuda.bind()?;
        if in_flight & OWN != 0 {
            // SAFETY: fact 1.
            unsafe { driver::stream_synchronize(self.stream) }?;
        }
        if in_flight & EVENT != 0 {
            self.event.wait()?;
        }
        if in_flight & LOST != 0 {
            self.cuda.synchronize()?;
        }
        self.in_flight.set(0);
        Ok(())
    }

    /// Would the device, or CUDA's rules for changing nodes in place, refuse this?
    pub(crate) fn check_change(&self, draft: &Draft, program: &Program, node: usize, op: &Op) -> Result<()> {
        let site = || Site::graph(&draft.name).at_node(&draft.nodes[node].name);
        match (op, &program.ops[node]) {
            (Op::Kernel(kernel), _) => {
                let checked = self.kernels.check(kernel.function, &kernel.config);
                let checked = checked.and_then(|()| attribute::check_change(&self.cuda, &self.kernels, kernel));
                checked.map_err(|message| Error::Kernel {
                    site: site(),
                    kernel: program.functions[kernel.function as usize].facts.name,
                    message,
                })
            }
            (Op::Memset { to, value, changes }, Op::Memset { value: built, .. }) => {
                let fill = |value: &[u8]| Fill::new(value, to.start, to.bytes, *changes);
                check_fill(&fill(value.bytes()), &fill(built.bytes()), site)
            }
            (Op::SetRows(set), Op::SetRows(built)) => check_fill(&Fill::of_rows(set), &Fill::of_rows(built), site),
            _ => Ok(()),
        }
    }

    /// Makes later launches run `node` as the program now says.
    pub(crate) fn apply(&mut self, draft: &Draft, program: &Program, node: usize) -> Result<()> {
        if self.stale {
            return Ok(()); // it is done when the graph is made anew
        }
        if skip::is_skipped_memset(program, node) {
            return Ok(()); // it is done when the node is enabled
        }
        let site = || Site::graph(&draft.name).at_node(&draft.nodes[node].name);
        self.cuda.bind().at(site)?;
        if let Op::Kernel(kernel) = &program.ops[node] {
            self.kernels.permit(kernel.function, kernel.config.shared).at(site)?;
        }
        match &program.ops[node] {
            Op::Conditional(_) => return self.apply_condition(node).at(site),
            Op::Call(_) => return self.apply_call(node).at(site),
            _ => {}
        }
        let handle = self.nodes[node];
        // SAFETY: facts 1, 2 and 5; `nodes[node]` is the program's node, whose kind `check_change` keeps.
        unsafe { self.adder.apply(self.exec, handle, program, &self.kernels, node) }.at(site)
    }
}

/// Can a memset node be changed from setting its value in one way to the other?
fn check_fill(new: &Fill, built: &Fill, site: impl Fn() -> Site) -> Result<()> {
    match (new, built) {
        (Fill::Memset { .. }, Fill::Memset { .. }) | (Fill::Nothing, Fill::Nothing) => Ok(()),
        (Fill::Kernel { words, .. }, Fill::Kernel { words: built, .. }) if words == built => Ok(()),
        _ => Err(Error::Unsupported {
            site: site(),
            message: "CUDA cannot change this value in place, since the old and the new one are set in different ways; mark the \
                      node with `GraphBuilder::changes` when building",
        }),
    }
}

/// Does the error mean that no context, or the wrong one, is current?
fn wants_context(error: &CudaError) -> bool {
    const INVALID_CONTEXT: u32 = 201;
    const INVALID_HANDLE: u32 = 400;
    matches!(error.code(), INVALID_CONTEXT | INVALID_HANDLE)
}

/// A failed launch, or what waiting for it brought to light.
#[cold]
pub(crate) fn launch_error(draft: &Draft, source: CudaError) -> Error {
    Error::Cuda {
        site: Site::graph(&draft.name),
        source,
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        let _relaxed = RelaxedCapture::enter();
        if let Err(error) = self.wait().and_then(|()| self.cuda.bind()) {
            // Something may still run, or the context is beyond use: nothing is freed (fact 2), the context included.
            tracing::warn!(target: "graph_runtime", %error, "the memory of a graph is leaked, since waiting for it failed");
            std::mem::forget((self.cuda.clone(), self.event.clone(), self.events.clone()));
            return;
        }
        // Errors are passed over: there is nobody to tell, and nothing else to do.
        if !self.exec.is_null() {
            // SAFETY: fact 1; no launch is in flight.
            let _ = unsafe { driver::exec_destroy(self.exec) };
        }
        if !self.graph.is_null() {
            // SAFETY: fact 1.
            let _ = unsafe { driver::graph_destroy(self.graph) };
        }
        // SAFETY: the context is current and the graph is gone.
        unsafe { self.kernels.unload() };
        if !self.stream.is_null() {
            // SAFETY: fact 1; nothing is queued on it.
            let _ = unsafe { driver::stream_destroy(self.stream) };
        }
        // SAFETY: the graph is gone (fact 8), and `self` is not used again.
        unsafe { ManuallyDrop::drop(&mut self.kept) };
        // SAFETY: nothing uses the memory any more (fact 3), and `self` is not used again.
        unsafe { ManuallyDrop::drop(&mut self.storage) };
    }
}
