//! A graph in a CUDA context: launching it, waiting for it and freeing it.

use super::{CudaExecutable, EVENT, LOST, OWN};
use crate::backend::host_calls::HostCalls;
use crate::devices::cuda::twice;
use crate::devices::launch_event::LaunchEvent;
use crate::driver::{
    self, CUgraph, CUgraphExec, CUgraphNode, CUstream, CaptureStatus, CudaStream, RelaxedCapture, reading,
};
use crate::error::{At, CudaError, Error, Result, Site, mistakes};
use crate::in_flight::uses::Awaited;
use crate::kernel::texture;
use crate::ownership::storage::Storage;
use crate::program::host_call::refuse_in_host_function;
use crate::program::{KernelOp, Program};
use graph_plan::Draft;
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::mem::ManuallyDrop;

/// A node of the program, and its ids for tools: in the graph and, if CUDA tells it, in the executable graph.
pub(crate) type ToolIds = (usize, u64, Option<u64>);

impl CudaExecutable {
    pub(crate) fn storage(&self) -> &[Storage] {
        &self.storage
    }

    /// The bytes of device memory besides that of resources.
    pub(crate) fn workspaces(&self) -> usize {
        self.user_objects.bytes()
    }

    /// The host functions.
    pub(crate) fn calls(&self) -> &HostCalls {
        &self.user_objects.calls
    }

    /// The node by which `exec` knows a node of the program.
    #[inline]
    pub(super) fn handle(&self, node: usize) -> CUgraphNode {
        self.origin.as_ref().map_or(&self.nodes, |origin| &origin.nodes)[node]
    }

    /// The handles, for a user who calls CUDA: the graph, its executable form, and its own stream.
    pub(crate) fn raw(&self) -> (CUgraph, CUgraphExec, CUstream) {
        (self.graph, self.exec, self.stream)
    }

    /// The nodes of the CUDA graph that stand for nodes of the program. A node that runs in several passes of a loop
    /// has several.
    pub(crate) fn handles(&self) -> Vec<(usize, CUgraphNode)> {
        let nodes = self.nodes.iter().copied().enumerate();
        let placed = self.predicated.placed.iter();
        let placed = placed.flat_map(|(node, all)| all.iter().map(|placed| (*node, placed.handle)));
        let all: BTreeSet<(usize, CUgraphNode)> = nodes.chain(placed).collect();
        all.into_iter().filter(|(_, handle)| !handle.is_null()).collect()
    }

    /// The ids by which tools know the nodes: in the graph that the executable graph was instantiated from, and in the
    /// executable graph, if they are no nodes of a graph in it. `None` if the driver does not tell.
    pub(crate) fn tool_ids(&self) -> Result<Option<Vec<ToolIds>>, CudaError> {
        self.cuda.bind()?;
        let (graph, nodes) = match &self.origin {
            None => (self.graph, self.handles()),
            Some(origin) => {
                let nodes = origin.nodes.iter().copied().enumerate();
                (origin.graph, nodes.filter(|(_, handle)| !handle.is_null()).collect())
            }
        };
        // SAFETY: facts 1 and 7.
        let known = unsafe { reading::tool_ids(graph, self.exec, nodes.iter().map(|(_, handle)| *handle)) }?;
        let ids = |known: Vec<(u64, Option<u64>)>| {
            let nodes = nodes.iter().zip(known);
            nodes
                .map(|((node, _), (id, executable))| (*node, id, executable))
                .collect()
        };
        Ok(known.map(ids))
    }

    /// Writes the graph as a DOT file.
    pub(crate) fn print(&self, path: &CStr) -> Result<(), CudaError> {
        const VERBOSE: u32 = 1;
        self.cuda.bind()?;
        announce!(self.cuda, trace, path = ?path, "{}", self.cuda.api().names().print)?;
        // SAFETY: fact 1.
        unsafe { self.cuda.api().print(self.graph, path, VERBOSE) }
    }

    /// Starts the graph on its own stream.
    ///
    /// The context is not made current first: `exec` and `stream` determine it, and asking which one is current would
    /// cost more than all that this function adds to `cuGraphLaunch`. A driver that wants a current context fails
    /// before anything is queued; then the launch is tried again with one. The runtime library would make a context of
    /// its own instead.
    #[inline]
    pub(crate) fn launch(&mut self) -> Result<(), CudaError> {
        refuse_in_host_function()?;
        self.in_flight.set(self.in_flight.get() | OWN);
        let api = self.cuda.api();
        if api.needs_context() {
            announce!(self.cuda, trace, "{}", api.names().launch)?;
            return self.launch_bound();
        }
        // SAFETY: facts 1 and 2.
        match unsafe { api.launch(self.exec, self.stream) } {
            Err(error) if wants_context(&error) => self.launch_bound(),
            result => result,
        }
    }

    fn launch_bound(&mut self) -> Result<(), CudaError> {
        self.cuda.bind()?;
        // SAFETY: facts 1 and 2.
        unsafe { self.cuda.api().launch(self.exec, self.stream) }
    }

    /// Starts the graph on a user's stream.
    pub(crate) fn launch_on(&mut self, draft: &Draft, stream: &CudaStream) -> Result<()> {
        let stream = self.check_stream(draft, stream)?;
        self.launch_on_checked(draft, stream)
    }

    /// Refuses a user's stream if the graph cannot be launched on it. Otherwise returns the stream, with its context
    /// current.
    pub(super) fn check_stream(&self, draft: &Draft, stream: &CudaStream) -> Result<CUstream> {
        let graph = || Site::graph(&draft.name);
        let refuse = |message| Err(Error::Stream { site: graph(), message });
        if stream.context().cu_ctx() != self.cuda.raw() {
            return refuse("the stream belongs to another context");
        }
        // A null stream means that of the current context.
        self.cuda.bind().at(graph)?;
        let stream = stream.cu_stream();
        // SAFETY: the `CudaStream` is borrowed, so the stream lives (C1 of `docs/safety.md`).
        let status = unsafe { driver::stream::capture_status(stream) }.at(graph)?;
        if status != CaptureStatus::None {
            return refuse("the stream is being captured: a graph's own memory must not end up in another graph");
        }
        Ok(stream)
    }

    /// Starts the graph on a stream from [`CudaExecutable::check_stream`], and records `event` after it. Since then,
    /// another thread may have begun to capture the stream, so that the launch has become a part of that capture
    /// instead of running. This is an error, and it leaves no graph that may use this graph's memory unknown to Rust
    /// (fact 10).
    pub(super) fn launch_on_checked(&mut self, draft: &Draft, stream: CUstream) -> Result<()> {
        // SAFETY: the stream lives and is of this context, which is current.
        let launched = self
            .launch_noted(stream)
            .and_then(|()| unsafe { self.record_launch(stream) });
        // SAFETY: as above.
        let status = unsafe { driver::stream::capture_status(stream) };
        let graph = || Site::graph(&draft.name);
        let message = match status {
            Ok(CaptureStatus::None) => match launched {
                // The capture that a call fell into has been ended since, without a graph.
                Err(error) if is_capture_error(&error) => INVALIDATED,
                Err(error) => return Err(error).at(graph),
                Ok(()) if !self.event.is_captured().at(graph)? => return Ok(()),
                Ok(()) => self.give_up(),
            },
            Ok(CaptureStatus::Invalidated) => INVALIDATED,
            _ => {
                // CUDA does not allow to wait for a stream that is being captured: the call returns at once, and makes
                // the capture invalid (CUDA programming guide, stream capture, "prohibited operations").
                // SAFETY: as above.
                match (status, unsafe { driver::stream::synchronize(stream) }) {
                    (_, Err(error)) if is_capture_error(&error) => INVALIDATED,
                    // The stream is not being captured, or the context is lost: then no graph runs in it any more, and
                    // waiting for the launch fails.
                    (Err(unknown), waited) if waited.is_ok() || unknown.is_of_kernel() => {
                        self.note_launch();
                        return launched.and(Err(unknown)).at(graph);
                    }
                    _ => self.give_up(),
                }
            }
        };
        // The launch may run, although the recording of the event is in the capture.
        self.note_launch();
        Err(Error::Stream { site: graph(), message })
    }

    /// Makes all waiting fail from now on. Returns the reason.
    #[cold]
    fn give_up(&self) -> &'static str {
        self.in_flight.set(self.in_flight.get() | EVENT);
        self.event.give_up();
        CAPTURED
    }

    /// Whether a launch is in a graph that another thread has captured. Then this graph must not be used any more.
    pub(crate) fn is_captured(&self) -> bool {
        self.event.is_given_up()
    }

    /// Starts the graph on its own stream, after whose launches `event` is recorded when somebody waits for it. The
    /// context is current.
    pub(super) fn launch_deferred(&mut self) -> Result<(), CudaError> {
        self.launch_noted(self.stream)?;
        // SAFETY: fact 1: the event forgets the stream before that is destroyed.
        unsafe { self.event.defer(self.stream) };
        self.in_flight.set(self.in_flight.get() & !LOST | OWN);
        Ok(())
    }

    /// Starts the graph on a stream that lives and is of this context, which is current.
    fn launch_noted(&mut self, stream: CUstream) -> Result<(), CudaError> {
        self.note_launch();
        // SAFETY: facts 1 and 2; the stream lives and is of this context.
        unsafe { self.cuda.api().launch(self.exec, stream) }
    }

    /// An event for the end of one launch.
    pub(crate) fn end_event(&self) -> Result<LaunchEvent, CudaError> {
        LaunchEvent::new(&self.cuda)
    }

    /// Records `event` on a user's stream or on the graph's own, on which the graph was just launched.
    pub(crate) fn record_end(&self, event: &LaunchEvent, stream: Option<&CudaStream>) -> Result<(), CudaError> {
        self.cuda.bind()?;
        let stream = stream.map_or(self.stream, CudaStream::cu_stream);
        // SAFETY: fact 1, or the `CudaStream` is borrowed (C1 of `docs/safety.md`), and the launch on it was possible,
        // so it is of this context; the context is current.
        unsafe { event.record(stream) }
    }

    /// Notes that work is about to be queued, after which `event` is not recorded yet.
    pub(super) fn note_launch(&self) {
        self.in_flight.set(self.in_flight.get() | LOST);
        self.event.lose();
    }

    /// Records `event` after all work of the graph, which was queued on `stream` after [`CudaExecutable::note_launch`].
    ///
    /// # Safety
    ///
    /// The stream lives and is of this context, which is current.
    pub(super) unsafe fn record_launch(&self, stream: CUstream) -> Result<(), CudaError> {
        // SAFETY: by the caller's promise.
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
            unsafe { driver::stream::synchronize(self.stream) }?;
            self.event.forget_deferred();
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

    /// Destroys the textures that nodes have no longer, if no launch is in flight. The context is current. A node that
    /// is to be given another texture gets it before the next launch: a rebinding that fails half-way must be repeated
    /// before.
    pub(super) fn sweep_textures(&mut self) {
        if self.in_flight.get() == 0 {
            // SAFETY: the context is current, and no launch is in flight (fact 3).
            unsafe { self.adder.textures.sweep() };
        }
    }
}

impl CudaExecutable {
    /// Refuses memory that is where a kernel cannot access it: through a texture, which CUDA cannot have everywhere, or
    /// several elements at once, for which its proof assumes an alignment.
    #[inline]
    pub(super) fn check_addresses(
        &self,
        draft: &Draft,
        program: &Program,
        node: usize,
        kernel: &KernelOp,
    ) -> Result<()> {
        let facts = program.functions[kernel.function as usize].facts;
        if facts.textures.is_empty() && facts.aligned.is_empty() {
            return Ok(());
        }
        let aligned = facts.aligned.iter().copied();
        if let Some((resource, bytes)) = self.adder.misaligned(program, kernel, aligned) {
            let [name, memory] = [&draft.nodes[node].name, &draft.resources[resource].name];
            let mistake = mistakes::misaligned(node, name, facts.name, memory, bytes);
            return Err(Error::mistake(&draft.name, mistake));
        }
        let textures = facts.textures.iter();
        let textures = textures.map(|texture| (texture.param, texture::ALIGNMENT as u32));
        let Some((resource, _)) = self.adder.misaligned(program, kernel, textures) else {
            return Ok(());
        };
        let site = Site::graph(&draft.name).at_node(&draft.nodes[node].name);
        Err(Error::Unsupported {
            site: site.at_memory(&draft.resources[resource].name),
            message: "a kernel reads this memory through a texture, which must begin at a multiple of 512 bytes: pass `device` \
                      memory, or shared memory, or a part of it that begins there",
        })
    }
}

/// The message about a launch that is in a capture that will give no graph.
const INVALIDATED: &str = "another thread began to capture the stream during the launch; that capture is invalid now, since a graph's \
                           own memory must not end up in another graph; launch again when it has been ended";
/// The message about a launch that is in a graph that somebody has captured.
pub(crate) const CAPTURED: &str = "another thread captured the stream during a launch, so that another graph may use this graph's memory \
                                   at any time; the memory is kept for ever, and this graph cannot be used any more";

/// Whether the error means that the stream is being captured, and that the capture is invalid now.
fn is_capture_error(error: &CudaError) -> bool {
    const STREAM_CAPTURE_UNSUPPORTED: u32 = 900;
    const STREAM_CAPTURE_INVALIDATED: u32 = 901;
    matches!(error.code(), STREAM_CAPTURE_UNSUPPORTED | STREAM_CAPTURE_INVALIDATED)
}

/// Whether the error means that no context, or the wrong one, is current.
pub(super) fn wants_context(error: &CudaError) -> bool {
    const INVALID_CONTEXT: u32 = 201;
    const INVALID_HANDLE: u32 = 400;
    matches!(error.code(), INVALID_CONTEXT | INVALID_HANDLE)
}

/// The error of a launch: it could not be queued, or failed while it ran.
#[cold]
pub(crate) fn launch_error(draft: &Draft, source: CudaError) -> Error {
    Error::Cuda {
        site: Site::graph(&draft.name),
        source,
    }
}

impl Drop for CudaExecutable {
    fn drop(&mut self) {
        let _relaxed = RelaxedCapture::enter();
        if let Err(error) = twice(|| self.wait()).and_then(|()| self.cuda.bind_to_free()) {
            // Something may still run, or the context is beyond use: nothing is freed (fact 2), not even the context.
            tracing::warn!(target: "graph_runtime", %error, "the memory of a graph is leaked, since waiting for it failed");
            std::mem::forget((self.cuda.clone(), self.event.clone(), self.events.clone()));
            return;
        }
        // Errors are ignored: there is nobody to tell, and nothing else to do.
        if !self.exec.is_null() {
            // SAFETY: fact 1; no launch is in flight.
            let _ = unsafe { self.cuda.api().destroy_executable(self.exec) };
        }
        if !self.graph.is_null() {
            // SAFETY: fact 1.
            let _ = unsafe { self.cuda.api().destroy(self.graph) };
        }
        if let Some(origin) = &self.origin {
            // SAFETY: fact 1.
            let _ = unsafe { self.cuda.api().destroy(origin.graph) };
        }
        // SAFETY: the context is current and the graph is gone.
        unsafe { self.adder.textures.destroy() };
        // SAFETY: as above.
        unsafe { self.kernels.unload() };
        if !self.stream.is_null() {
            // SAFETY: fact 1; nothing is queued on it.
            let _ = unsafe { driver::stream::destroy(self.stream) };
        }
        // SAFETY: the graph is gone (fact 8), and `self` is not used again.
        unsafe { ManuallyDrop::drop(&mut self.user_objects) };
        // SAFETY: nothing uses the memory any more (fact 3), and `self` is not used again.
        unsafe { ManuallyDrop::drop(&mut self.storage) };
    }
}
