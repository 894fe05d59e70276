//! Captures library calls into a graph of their own, which becomes a child node.

use crate::backend::device::cuda::Cuda;
use crate::backend::device::cuda_memory::CudaMemory;
use crate::backend::memory::DeviceMemory;
use crate::backend::pool::PoolShare;
use crate::driver::{self, CUgraph, CUstream, CaptureStatus, RelaxedCapture, StrictCapture};
use crate::error::{At, CudaError, Result, Site};
use crate::program::capture::{BoxError, CaptureCall, Session};
use crate::program::pointer::Addresses;
use cudarc::driver::{CudaContext, CudaStream};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::Arc;

/// The stream of one `capture` node, and what the graph keeps for it.
///
/// # Safety
///
/// 1. `stream` was made by [`Capturing::new`] for this alone. It is destroyed in `drop` only, after all that could
///    still use it: the objects that the node prepared, and its workspaces. Whoever gets the stream from here without
///    `unsafe` gets a handle that only `unsafe` calls take.
/// 2. It captures only while `capturing` is set: from [`Capturing::begin`] to [`Capturing::end`], both on the thread
///    of the build, since a `Capturing` is lent to the closure of the node only and is not `Sync`.
pub(super) struct Capturing {
    cuda: Arc<Cuda>,
    stream: CUstream,
    /// The stream in cudarc's type.
    cudarc: Arc<CudaStream>,
    addresses: Arc<Addresses>,
    capturing: Cell<bool>,
    /// If set, the reason why this capture fails, whatever the closure returns.
    failed: RefCell<Option<String>>,
    prepared: RefCell<Vec<Arc<dyn Any + Send + Sync>>>,
    workspaces: RefCell<Vec<CudaMemory>>,
    /// The graph's share of a pool.
    pool: Option<Arc<PoolShare>>,
    /// The parts of the pool that the node has.
    pooled: RefCell<Vec<Arc<DeviceMemory>>>,
}

impl Capturing {
    /// Makes a stream that does not capture yet. The context is current.
    fn new(cuda: &Arc<Cuda>, addresses: &Arc<Addresses>, pool: Option<&Arc<PoolShare>>) -> Result<Self, CudaError> {
        announce!(cuda, trace, "cuStreamCreate")?;
        // SAFETY: the context is current.
        let stream = unsafe { driver::stream::create() }?;
        Ok(Self {
            cuda: cuda.clone(),
            stream,
            // SAFETY: the stream is of this context and outlives what is kept in here (fact 1); `CaptureStream::cudarc`
            // asks the same of others.
            cudarc: unsafe { cuda.context().wrap_borrowed_stream(stream) },
            addresses: addresses.clone(),
            capturing: Cell::new(false),
            failed: RefCell::new(None),
            prepared: RefCell::default(),
            workspaces: RefCell::default(),
            pool: pool.cloned(),
            pooled: RefCell::default(),
        })
    }

    /// Ends the capture, and fails if anything was captured.
    fn is_empty(&self) -> Result<(), String> {
        let graph = self.end().map_err(|error| explained(&error))?;
        // SAFETY: the graph was just captured, for nobody else.
        let nodes = unsafe { driver::graph::nodes(graph) };
        // SAFETY: as above.
        let _ = unsafe { driver::graph::destroy(graph) };
        match nodes {
            Ok(nodes) if nodes.is_empty() => Ok(()),
            Ok(_) => Err("`prepare` must come before anything is captured".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn fail(&self, message: String) -> BoxError {
        self.failed.borrow_mut().get_or_insert_with(|| message.clone());
        message.into()
    }

    fn begin(&self) -> Result<(), CudaError> {
        announce!(self.cuda, trace, "cuStreamBeginCapture_v2")?;
        // SAFETY: fact 1.
        unsafe { driver::stream::begin_capture(self.stream) }?;
        self.capturing.set(true);
        Ok(())
    }

    fn end(&self) -> Result<CUgraph, CudaError> {
        announce!(self.cuda, trace, "cuStreamEndCapture")?;
        // SAFETY: facts 1 and 2.
        let graph = unsafe { driver::stream::end_capture(self.stream) }?;
        self.capturing.set(false);
        Ok(graph)
    }

    /// Waits for the work that was queued while the stream did not capture.
    fn finish(&self) -> Result<(), CudaError> {
        // SAFETY: fact 1.
        unsafe { driver::stream::synchronize(self.stream) }
    }

    /// Whether a call inside has ended the capture.
    fn is_invalidated(&self) -> bool {
        // SAFETY: fact 1.
        let status = unsafe { driver::stream::capture_status(self.stream) };
        matches!(status, Ok(CaptureStatus::Invalidated))
    }

    /// Runs the closure in a capture and returns what it captured.
    fn capture(&self, call: &CaptureCall) -> Result<CUgraph, String> {
        self.begin().map_err(|error| error.to_string())?;
        let returned = {
            let _strict = StrictCapture::enter();
            call.run(self)
        };
        self.cuda.bind().map_err(|error| error.to_string())?;
        if let Err(error) = returned {
            let mut message = format!("the closure of the capture failed: {error}");
            if self.is_invalidated() {
                message.push_str("; ");
                message.push_str(NOT_ALLOWED);
            }
            return Err(message);
        }
        if let Some(message) = self.failed.take() {
            return Err(message);
        }
        self.end().map_err(|error| explained(&error))
    }
}

impl Session for Capturing {
    fn stream(&self) -> CUstream {
        self.stream
    }

    fn cudarc(&self) -> &Arc<CudaStream> {
        &self.cudarc
    }

    fn context(&self) -> &Arc<CudaContext> {
        self.cuda.context()
    }

    fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    fn workspace(&self, bytes: usize) -> Result<*mut u8> {
        let memory = CudaMemory::zeroed(&self.cuda, bytes.max(1)).at(|| Site::default().at_memory("workspace"))?;
        let first = ptr::without_provenance_mut(memory.address() as usize);
        self.workspaces.borrow_mut().push(memory);
        Ok(first)
    }

    fn scratch(&self, bytes: usize) -> Result<*mut u8> {
        let Some(pool) = &self.pool else {
            return self.workspace(bytes);
        };
        let memory = pool.take(bytes, || Site::default().at_memory("scratch"))?;
        let first = ptr::without_provenance_mut(memory.address() as usize);
        self.pooled.borrow_mut().push(memory);
        Ok(first)
    }

    fn keep(&self, value: Arc<dyn Any + Send + Sync>) {
        self.prepared.borrow_mut().push(value);
    }

    /// Ends the capture, runs `f`, and begins the capture again. Fails if anything was captured before. The capture
    /// begins again even after a failure: the closure may go on to queue work, which must not run.
    fn outside(&self, f: &mut dyn FnMut()) -> Result<(), BoxError> {
        if !self.capturing.get() {
            return Err(self.fail("`prepare` was called within `prepare`".to_owned()));
        }
        let _relaxed = RelaxedCapture::enter();
        let result = self.is_empty().map(|()| f());
        // Work that `f` queued runs at once. It is waited for here, so that nothing that it uses is launched or freed
        // before.
        let begun = self
            .cuda
            .bind()
            .and_then(|()| self.finish())
            .and_then(|()| self.begin());
        match (result, begun) {
            (Ok(()), Ok(())) => Ok(()),
            (Err(message), _) => Err(self.fail(message)),
            (Ok(()), Err(error)) => Err(self.fail(error.to_string())),
        }
    }
}

/// The explanation of a call that a capture does not allow.
const NOT_ALLOWED: &str = "a call was made that CUDA does not allow during a capture, such as allocating, freeing or waiting: make it in \
                           `prepare`, and take scratch memory from `workspace`";

/// The error of a capture that could not be ended, with an explanation.
fn explained(error: &CudaError) -> String {
    let meaning = match error.code() {
        900 | 901 => NOT_ALLOWED,
        902 => "work of another capture was waited for",
        904 => "work was forked to another stream that the node's stream does not wait for at the end",
        905 => "work outside the capture was waited for",
        906 => "the null stream was used, which waits for others",
        908 => "the capture was moved to another thread",
        _ => return error.to_string(),
    };
    format!("{error}: {meaning}")
}

impl Drop for Capturing {
    fn drop(&mut self) {
        let _relaxed = RelaxedCapture::enter();
        if self.cuda.bind_to_free().is_err() {
            return; // the context is beyond use: the stream is leaked
        }
        if self.capturing.get()
            && let Ok(graph) = self.end()
        {
            // SAFETY: the graph was captured for nobody else.
            let _ = unsafe { driver::graph::destroy(graph) };
        }
        let _ = self.finish(); // there may be work if the closure caught a panic of `prepare` and went on
        self.prepared.get_mut().clear();
        self.workspaces.get_mut().clear();
        self.pooled.get_mut().clear();
        let _ = self.cuda.bind_to_free(); // the destructors of what was prepared are code of the user
        // SAFETY: fact 1.
        let _ = unsafe { driver::stream::destroy(self.stream) };
    }
}

/// The graph that a `capture` node adds, and the stream with the objects that its work uses.
pub(super) struct Captured {
    graph: CUgraph,
    session: Capturing,
}

impl Captured {
    /// Captures the work that a closure queues. The context is current. The error says why there is no graph.
    pub(super) fn new(
        cuda: &Arc<Cuda>,
        addresses: &Arc<Addresses>,
        pool: Option<&Arc<PoolShare>>,
        call: &CaptureCall,
    ) -> Result<Self, String> {
        let session = Capturing::new(cuda, addresses, pool).map_err(|error| error.to_string())?;
        let graph = session.capture(call)?;
        let captured = Self { graph, session };
        // SAFETY: the graph was just captured.
        match unsafe { find(graph, &|kind| is_allocation(kind).then_some(())) } {
            // CUDA's own error would not say what is wrong.
            Ok(Some(())) => Err(ALLOCATES.to_owned()),
            Ok(None) => Ok(captured),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Describes a captured node that CUDA runs in no conditional body, if there is one.
    pub(super) fn forbidden_in_bodies(&self) -> Result<Option<&'static str>, CudaError> {
        // SAFETY: the graph lives as long as `self`.
        unsafe { find(self.graph, &forbidden_in_bodies) }
    }

    /// The bytes of its workspaces.
    pub(super) fn bytes(&self) -> usize {
        self.session.workspaces.borrow().iter().map(CudaMemory::bytes).sum()
    }

    /// The graph, which lives as long as `self`.
    pub(super) fn graph(&self) -> CUgraph {
        self.graph
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        let _ = self.session.cuda.bind_to_free(); // destructors of closures, which are code of the user, have run
        // SAFETY: it was captured for `self`; child nodes have copies.
        let _ = unsafe { driver::graph::destroy(self.graph) };
    }
}

/// Child graphs cannot hold allocations.
const ALLOCATES: &str = "the library allocates memory when it is called, which CUDA cannot repeat in a part of a graph: give it \
                         memory from `workspace` (cuBLAS: `cublasSetWorkspace`, after `cublasSetStream`)";

fn is_allocation(kind: u32) -> bool {
    matches!(kind, driver::graph::MEMORY_ALLOC | driver::graph::MEMORY_FREE)
}

/// Describes a kind of node that CUDA runs in no conditional body. Returns `None` for the kinds that it runs there.
fn forbidden_in_bodies(kind: u32) -> Option<&'static str> {
    match kind {
        driver::graph::KERNEL
        | driver::graph::MEMCPY
        | driver::graph::MEMSET
        | driver::graph::CHILD_GRAPH
        | driver::graph::EMPTY
        | driver::graph::CONDITIONAL => None,
        driver::graph::HOST => Some("a host function"),
        driver::graph::WAIT_EVENT => Some("a wait for an event"),
        driver::graph::EVENT_RECORD => Some("the recording of an event"),
        driver::graph::SEMAPHORE_SIGNAL => Some("the signal of an external semaphore"),
        driver::graph::SEMAPHORE_WAIT => Some("a wait for an external semaphore"),
        driver::graph::MEMORY_ALLOC => Some("an allocation of memory"),
        driver::graph::MEMORY_FREE => Some("a release of memory"),
        driver::graph::BATCH_MEMORY_OPERATION => Some("a batch memory operation"),
        _ => Some("a node of a kind that this library does not know"),
    }
}

/// Returns the first result of `look` for the kinds of a graph's nodes, and of those in its child graphs.
///
/// # Safety
///
/// The graph lives.
unsafe fn find<T>(graph: CUgraph, look: &impl Fn(u32) -> Option<T>) -> Result<Option<T>, CudaError> {
    // SAFETY: by the caller's promise.
    for node in unsafe { driver::graph::nodes(graph) }? {
        // SAFETY: the node is one of the graph's.
        let kind = unsafe { driver::graph::node_type(node) }?;
        let mut found = look(kind);
        if found.is_none() && kind == driver::graph::CHILD_GRAPH {
            // SAFETY: the node is a child graph's, and has it as long as it lives.
            let child = unsafe { driver::graph::child(node) }?;
            // SAFETY: as above.
            found = unsafe { find(child, look) }?;
        }
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_run_six_kinds_of_captured_nodes() {
        // As `CUgraphNodeType` numbers them: kernel, memcpy, memset, child graph, empty, conditional.
        let allowed: Vec<u32> = (0..20).filter(|&kind| forbidden_in_bodies(kind).is_none()).collect();
        assert_eq!(allowed, [0, 1, 2, 4, 5, 13]);
        assert_eq!(forbidden_in_bodies(3), Some("a host function"));
    }
}
