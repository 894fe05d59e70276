//! The stream on which the closure of a capture queues its work, and the objects that the graph keeps for it.

use crate::devices::cuda::Cuda;
use crate::devices::cuda_memory::CudaMemory;
use crate::devices::recording::{NOT_ALLOWED, explained};
#[cfg(feature = "cudarc")]
use crate::driver::CudaStream;
use crate::driver::{self, CUgraph, CUstream, CaptureRules, CaptureStatus, CudaContext, RelaxedCapture};
use crate::error::{At, CudaError, Result, Site};
use crate::ownership::device_memory::KernelMemory;
use crate::ownership::pool_memory::PoolShare;
use crate::program::capture::{BoxError, CaptureCall, CaptureMode, Session};
use crate::program::pointer::Addresses;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::Arc;

/// The stream of one closure, and what the graph keeps for it.
///
/// # Safety
///
/// 1. `stream` was made by [`Capturing::new`] for this alone. It is destroyed in `drop` only, after all that could
///    still use it: the objects that the closure prepared, and its workspaces. Whoever gets the stream from here
///    without `unsafe` gets a handle that only `unsafe` calls take.
/// 2. It captures only in the phase [`Phase::Recording`]: from [`Capturing::begin`] to [`Capturing::end`], both on one
///    thread, since a `Capturing` is lent to the closure only and is not `Sync`.
/// 3. *Values and workspaces outlive the work that uses them.* They are dropped with the graph, when no launch is in
///    flight. A value that a later run of the closure has replaced waits in `retired` until then, or until
///    [`Capturing::clear_retired`].
pub(crate) struct Capturing {
    cuda: Arc<Cuda>,
    stream: CUstream,
    /// The stream as an object of cudarc's.
    #[cfg(feature = "cudarc")]
    object: Arc<CudaStream>,
    mode: CaptureMode,
    addresses: Arc<Addresses>,
    phase: Cell<Phase>,
    /// If set, the reason why this run of the closure fails, whatever it returns.
    failed: RefCell<Option<String>>,
    /// The values that the closure prepared, in order, and the number of those that its current run has got.
    prepared: RefCell<Vec<Arc<dyn Any + Send + Sync>>>,
    next_prepared: Cell<usize>,
    /// The workspaces, in order, and the number of those that its current run has got.
    workspaces: RefCell<Vec<Workspace>>,
    next_workspace: Cell<usize>,
    retired: RefCell<Vec<Arc<dyn Any + Send + Sync>>>,
    /// The graph's share of a pool.
    pool: Option<Arc<PoolShare>>,
}

/// Memory that a closure has asked for.
#[derive(Clone)]
struct Workspace {
    bytes: usize,
    /// Whether it is scratch memory, of the pool if there is one.
    scratch: bool,
    memory: Arc<KernelMemory>,
}

/// The fate of work that is queued on the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The closure does not run.
    Idle,
    /// The closure runs, and its work does so at once.
    Eager,
    /// The closure runs, and its work is recorded.
    Recording,
    /// Code of `prepare` runs, and its work does so at once.
    Preparing,
}

impl Capturing {
    /// Makes a stream that does not capture yet. The context is current.
    pub(in crate::backend::cuda) fn new(
        cuda: &Arc<Cuda>,
        addresses: &Arc<Addresses>,
        pool: Option<&Arc<PoolShare>>,
        mode: CaptureMode,
    ) -> Result<Self, CudaError> {
        announce!(cuda, trace, "cuStreamCreate")?;
        // SAFETY: the context is current.
        let stream = unsafe { driver::stream::create() }?;
        Ok(Self {
            cuda: cuda.clone(),
            stream,
            // SAFETY: the stream is of this context and outlives what is kept in here (fact 1); `CaptureStream::cudarc`
            // asks the same of others.
            #[cfg(feature = "cudarc")]
            object: unsafe { cuda.context().wrap_borrowed_stream(stream) },
            mode,
            addresses: addresses.clone(),
            phase: Cell::new(Phase::Idle),
            failed: RefCell::new(None),
            prepared: RefCell::default(),
            next_prepared: Cell::new(0),
            workspaces: RefCell::default(),
            next_workspace: Cell::new(0),
            retired: RefCell::default(),
            pool: pool.cloned(),
        })
    }

    /// The bytes of workspaces that are in no pool.
    pub(super) fn bytes(&self) -> usize {
        let workspaces = self.workspaces.borrow();
        let own = workspaces.iter().filter(|known| !known.scratch || self.pool.is_none());
        own.map(|known| known.bytes).sum()
    }

    /// The memory that an earlier run of the closure got at this point, if it asked for the same; else new memory.
    fn allocate(&self, bytes: usize, scratch: bool) -> Result<*mut u8> {
        let index = self.next_workspace.get();
        let earlier = self.workspaces.borrow().get(index).cloned();
        let memory = match earlier {
            Some(earlier) if (earlier.bytes, earlier.scratch) == (bytes, scratch) => earlier.memory,
            replaced => {
                let site = || Site::default().at_memory(if scratch { "scratch" } else { "workspace" });
                let memory = match &self.pool {
                    Some(pool) if scratch => pool.take(bytes, site)?,
                    Some(_) | None => {
                        let memory = CudaMemory::zeroed(&self.cuda, bytes.max(1)).at(site)?;
                        Arc::new(KernelMemory::Cuda(memory))
                    }
                };
                let new = Workspace {
                    bytes,
                    scratch,
                    memory: memory.clone(),
                };
                let mut workspaces = self.workspaces.borrow_mut();
                match replaced {
                    Some(before) => {
                        self.retired.borrow_mut().push(before.memory);
                        workspaces[index] = new;
                    }
                    None => workspaces.push(new),
                }
                memory
            }
        };
        self.next_workspace.set(index + 1);
        Ok(ptr::without_provenance_mut(memory.address() as usize))
    }

    /// Gives the closure these addresses when it runs again.
    pub(crate) fn set_addresses(&mut self, addresses: Arc<Addresses>) {
        self.addresses = addresses;
    }

    /// Whether later runs of the closure have replaced values or workspaces of earlier ones.
    pub(crate) fn has_retired(&self) -> bool {
        !self.retired.borrow().is_empty()
    }

    /// Drops what later runs of the closure have replaced. No launch is in flight.
    pub(crate) fn clear_retired(&mut self) {
        self.retired.get_mut().clear();
    }

    /// Ends the capture, and fails if anything was captured.
    fn is_empty(&self) -> Result<(), String> {
        let graph = self.end().map_err(|error| explained(&error))?;
        // SAFETY: the graph was just captured, for nobody else.
        let nodes = unsafe { driver::graph::nodes(graph) };
        // SAFETY: as above.
        let _ = unsafe { driver::GraphApi::Driver.destroy(graph) };
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
        announce!(self.cuda, trace, mode = ?self.mode, "cuStreamBeginCapture_v2")?;
        // SAFETY: fact 1.
        unsafe { driver::stream::begin_capture(self.stream, self.mode.of_driver()) }?;
        self.phase.set(Phase::Recording);
        Ok(())
    }

    fn end(&self) -> Result<CUgraph, CudaError> {
        announce!(self.cuda, trace, "cuStreamEndCapture")?;
        // SAFETY: facts 1 and 2.
        let graph = unsafe { driver::stream::end_capture(self.stream) }?;
        self.phase.set(Phase::Idle);
        Ok(graph)
    }

    /// Ends a capture that gives no graph, if there is one. The context is current.
    fn abort(&self) {
        if self.phase.replace(Phase::Idle) != Phase::Recording {
            return;
        }
        // CUDA ends most captures that have become invalid at the first call; a second one is refused then.
        if let Ok(graph) = self.end().or_else(|_| self.end()) {
            // SAFETY: the graph was captured for nobody else.
            let _ = unsafe { driver::GraphApi::Driver.destroy(graph) };
        }
    }

    /// Waits for the work that was queued while the stream did not capture.
    pub(crate) fn finish(&self) -> Result<(), CudaError> {
        // SAFETY: fact 1.
        unsafe { driver::stream::synchronize(self.stream) }
    }

    /// Whether a call inside has ended the capture.
    fn is_invalidated(&self) -> bool {
        // SAFETY: fact 1.
        let status = unsafe { driver::stream::capture_status(self.stream) };
        matches!(status, Ok(CaptureStatus::Invalidated))
    }

    /// Prepares for a run of the closure, in which it asks for all values and workspaces again.
    fn start(&self) {
        self.next_prepared.set(0);
        self.next_workspace.set(0);
        self.failed.replace(None);
    }

    /// Runs the closure. Its work runs at once, and is not waited for here. The context is current, and stays so.
    pub(crate) fn run_eagerly(&self, call: &CaptureCall) -> Result<(), String> {
        self.start();
        self.phase.set(Phase::Eager);
        let returned = call.run(self);
        self.phase.set(Phase::Idle);
        self.cuda.bind().map_err(|error| error.to_string())?;
        returned.map_err(|error| format!("the closure failed while it warmed up: {error}"))?;
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Runs the closure in a capture and returns what it captured. The context is current, and stays so.
    pub(super) fn record(&self, call: &CaptureCall) -> Result<CUgraph, String> {
        self.start();
        let _aborted = Aborted(self);
        self.begin().map_err(|error| error.to_string())?;
        let returned = {
            let _rules = CaptureRules::enter(self.mode.of_driver());
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

/// Ends the capture when it is dropped, if the closure has failed or panicked. It keeps other captures and calls from
/// being disturbed, and nothing relies on it: whoever begins or drops ends the capture as well.
struct Aborted<'s>(&'s Capturing);

impl Drop for Aborted<'_> {
    fn drop(&mut self) {
        if self.0.phase.get() == Phase::Recording && self.0.cuda.bind_to_free().is_ok() {
            self.0.abort();
        }
    }
}

impl Session for Capturing {
    fn stream(&self) -> CUstream {
        self.stream
    }

    #[cfg(feature = "cudarc")]
    fn object(&self) -> &Arc<CudaStream> {
        &self.object
    }

    fn context(&self) -> &Arc<CudaContext> {
        self.cuda.context()
    }

    fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    fn workspace(&self, bytes: usize) -> Result<*mut u8> {
        self.allocate(bytes, false)
    }

    fn scratch(&self, bytes: usize) -> Result<*mut u8> {
        self.allocate(bytes, true)
    }

    fn earlier(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        // Within `prepare` there is an error to come.
        let runs = matches!(self.phase.get(), Phase::Eager | Phase::Recording);
        let earlier = || self.prepared.borrow().get(self.next_prepared.get()).cloned();
        runs.then(earlier).flatten()
    }

    fn keep(&self, value: Arc<dyn Any + Send + Sync>) {
        let index = self.next_prepared.replace(self.next_prepared.get() + 1);
        let mut prepared = self.prepared.borrow_mut();
        match prepared.get_mut(index) {
            Some(before) if Arc::ptr_eq(before, &value) => {}
            Some(before) => self.retired.borrow_mut().push(std::mem::replace(before, value)),
            None => prepared.push(value),
        }
    }

    /// Ends the capture, runs `f`, and begins the capture again. Fails if anything was captured before. The capture
    /// begins again even after a failure: the closure may go on to queue work, which must not run.
    fn outside(&self, f: &mut dyn FnMut()) -> Result<(), BoxError> {
        let phase = self.phase.get();
        if matches!(phase, Phase::Idle | Phase::Preparing) {
            return Err(self.fail("`prepare` was called within `prepare`".to_owned()));
        }
        let _relaxed = RelaxedCapture::enter();
        let result = if phase == Phase::Recording {
            self.is_empty()
        } else {
            Ok(())
        };
        let result = result.map(|()| {
            self.phase.set(Phase::Preparing);
            f();
        });
        // Work that `f` queued runs at once. It is waited for here, so that nothing that it uses is launched or freed
        // before.
        let finished = self.cuda.bind().and_then(|()| self.finish());
        let begun = finished.and_then(|()| match phase {
            Phase::Recording => self.begin(),
            Phase::Idle | Phase::Eager | Phase::Preparing => {
                self.phase.set(phase);
                Ok(())
            }
        });
        match (result, begun) {
            (Ok(()), Ok(())) => Ok(()),
            (Err(message), _) => Err(self.fail(message)),
            (Ok(()), Err(error)) => Err(self.fail(error.to_string())),
        }
    }
}

impl Drop for Capturing {
    fn drop(&mut self) {
        let _relaxed = RelaxedCapture::enter();
        if self.cuda.bind_to_free().is_err() {
            return; // the context is beyond use: the stream is leaked
        }
        self.abort();
        let _ = self.finish(); // there may be work if the closure caught a panic of `prepare` and went on
        self.prepared.get_mut().clear();
        self.retired.get_mut().clear();
        self.workspaces.get_mut().clear();
        let _ = self.cuda.bind_to_free(); // the destructors of what was prepared are code of the user
        // SAFETY: fact 1.
        let _ = unsafe { driver::stream::destroy(self.stream) };
    }
}
