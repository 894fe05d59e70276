//! `capture` nodes and captured graphs: library calls on a stream, recorded instead of run.

#[cfg(feature = "cudarc")]
use crate::driver::CudaStream;
use crate::driver::{self, CUgraph, CUstream, CUstreamCaptureMode, CaptureRules, CudaContext};
use crate::error::{Error, Result};
use crate::program::host_call::HostCall;
use crate::program::pointer::{Addresses, Kept, Lend, PointerMut};
use crate::shape::NO_LENGTHS;
use crate::shape::place::{DeclaredAccess, OnDevice};
use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// The error of closures of `capture` and `raw` nodes. `?` converts every error type into it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The calls that CUDA forbids during a capture, because they may wait for the stream that is being captured or for
/// memory that it uses: allocating and freeing by `cuMemAlloc` and `cuMemFree`, `cuEventQuery`, and others.
///
/// `cudaStreamCaptureMode` and PyTorch's `capture_error_mode` have the same names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaptureMode {
    /// Such calls fail on every thread, and make the capture invalid. This crate's own calls do not count: other graphs
    /// may be built, launched and dropped on other threads.
    Global,
    /// Such calls fail on this thread only.
    #[default]
    ThreadLocal,
    /// Such calls are allowed, and run at once.
    Relaxed,
}

impl CaptureMode {
    /// Sets the mode of this thread until the value is dropped: whether its calls to CUDA, by cudarc or others, count
    /// as calls that captures forbid. In [`CaptureMode::Relaxed`] they neither fail nor disturb a capture of any
    /// thread; a thread begins in [`CaptureMode::Global`]. This crate's own calls need no such thing.
    ///
    /// `cudaThreadExchangeStreamCaptureMode`, which is undone at the end of the scope.
    ///
    /// # Errors
    /// [`Error::NoDriver`] if there is no CUDA.
    pub fn on_this_thread(self) -> Result<ThreadCaptureMode> {
        if !driver::context::is_present() {
            return Err(Error::NoDriver);
        }
        Ok(ThreadCaptureMode {
            _rules: CaptureRules::enter(self.of_driver()),
        })
    }

    pub(crate) fn of_driver(self) -> CUstreamCaptureMode {
        match self {
            Self::Global => CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL,
            Self::ThreadLocal => CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
            Self::Relaxed => CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED,
        }
    }
}

/// The mode of this thread, until it is dropped: see [`CaptureMode::on_this_thread`].
#[derive(Debug)]
pub struct ThreadCaptureMode {
    _rules: CaptureRules,
}

/// Options of a captured graph: see [`GraphBuilder::build_captured`](crate::GraphBuilder::build_captured).
///
/// More fields may come: end literals with `..Default::default()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureOptions {
    /// The calls that are forbidden while the work is recorded. The default is [`CaptureMode::ThreadLocal`].
    pub mode: CaptureMode,
    /// The number of times that the closure runs before it is recorded, with the work that it queues: "warm-up". The
    /// default is 0.
    pub warm_up: usize,
}

/// The stream of one `capture` node, and the objects that the graph keeps for it.
pub(crate) trait Session {
    /// The stream.
    fn stream(&self) -> CUstream;
    /// The stream as an object of cudarc's.
    #[cfg(feature = "cudarc")]
    fn object(&self) -> &Arc<CudaStream>;
    /// The context of the stream.
    fn context(&self) -> &Arc<CudaContext>;
    /// The addresses of the graph's memory.
    fn addresses(&self) -> &Addresses;
    /// Allocates zeroed device memory that lives as long as `self`. Returns its first byte, as an address without
    /// provenance.
    fn workspace(&self, bytes: usize) -> Result<*mut u8>;
    /// Allocates device memory, of the graph's pool if it has one, that lives as long as `self`. Returns its first
    /// byte, as an address without provenance.
    fn scratch(&self, bytes: usize) -> Result<*mut u8>;
    /// The value that an earlier run of the closure kept at this point, if there is one.
    fn earlier(&self) -> Option<Arc<dyn Any + Send + Sync>>;
    /// Keeps a value as long as `self`, in place of the earlier one.
    fn keep(&self, value: Arc<dyn Any + Send + Sync>);
    /// Runs `f` while the stream does not capture; fails if something was captured before.
    fn outside(&self, f: &mut dyn FnMut()) -> std::result::Result<(), BoxError>;
}

/// The argument of the closure of a `capture` node: a stream that is being captured, and the node's memory. See
/// [`GraphBuilder::capture`](crate::GraphBuilder::capture).
pub struct CaptureStream<'n, K> {
    session: &'n dyn Session,
    kept: &'n K,
}

impl<'n, K: Kept> CaptureStream<'n, K> {
    /// The memory that the node declared, in order: a tuple of [`Pointer`](crate::Pointer)s and
    /// [`PointerMut`](crate::PointerMut)s.
    pub fn memory(&self) -> K::Given<'n> {
        self.kept.give(self.session.addresses())
    }
}

impl<'n, K> CaptureStream<'n, K> {
    /// The stream, for calls of the driver and of libraries. It is the node's own: nothing else uses it.
    pub fn cu_stream(&self) -> CUstream {
        self.session.stream()
    }

    /// The context of the graph's memory; it is current.
    pub fn context(&self) -> &'n Arc<CudaContext> {
        self.session.context()
    }

    /// The stream as an object of cudarc's.
    #[cfg(feature = "cudarc")]
    pub(crate) fn object(&self) -> &'n Arc<CudaStream> {
        self.session.object()
    }

    /// Allocates `bytes` bytes of device memory for this node alone: scratch memory for a library. It is zeroed when
    /// the graph is built. The graph keeps it. If the closure runs again ([warm-up](CaptureOptions::warm_up), or
    /// [recording again](crate::CapturedGraph::record_again)), it gets the memory of the first run, unless it asks for
    /// another number of bytes.
    ///
    /// cuBLAS takes it by `cublasSetWorkspace`, which must come after `cublasSetStream`, since that resets it. Without
    /// a workspace, cuBLAS allocates when it is called, and a `capture` node cannot hold allocations. (A captured graph
    /// can: see [`GraphBuilder::build_captured`](crate::GraphBuilder::build_captured).)
    ///
    /// # Errors
    /// [`Error::Cuda`](crate::Error::Cuda) if the device has too little memory.
    pub fn workspace(&self, bytes: usize) -> Result<PointerMut<'n, [u8], OnDevice>> {
        Ok(PointerMut::new(self.session.workspace(bytes)?, bytes, NO_LENGTHS))
    }

    /// Allocates `bytes` bytes of device memory that hold nothing between launches. On a device
    /// [with a pool](crate::Device::with_pool), other graphs of the pool write it then, so the captured work must write
    /// what it reads, and this closure itself must not touch it, not even in [`CaptureStream::prepare`]. Other nodes of
    /// the same graph do not use it. The graph keeps it.
    ///
    /// cuBLAS takes it as its workspace, as PyTorch does with the pool that its graphs share. A library that counts in
    /// its workspace from launch to launch, or expects zeros there, needs [`CaptureStream::workspace`].
    ///
    /// # Errors
    /// [`Error::Cuda`](crate::Error::Cuda) if the device has too little memory.
    pub fn scratch(&self, bytes: usize) -> Result<PointerMut<'n, [u8], OnDevice>> {
        Ok(PointerMut::new(self.session.scratch(bytes)?, bytes, NO_LENGTHS))
    }

    /// Runs `make` outside the capture, before anything is captured. `make` may allocate, free and wait; work that it
    /// queues on the stream runs at once, and is waited for. Such work must not touch memory that the graph shares,
    /// nor its scratch memory, which others may be using. The graph keeps the value that `make` returns.
    ///
    /// This is the way to make library handles: creating one allocates, and destroying one waits, and CUDA allows
    /// neither in a capture. If the closure runs again ([warm-up](CaptureOptions::warm_up), or
    /// [recording again](crate::CapturedGraph::record_again)), `make` does not: the first call returns the value of the
    /// first call of the run before, the second call that of the second, and so on, if their types are the same.
    ///
    /// # Errors
    /// The error of `make`; an error if something was captured before, or if CUDA does not begin another capture.
    pub fn prepare<T: Send + Sync + 'static>(
        &self,
        make: impl FnOnce() -> std::result::Result<T, BoxError>,
    ) -> std::result::Result<Arc<T>, BoxError> {
        if let Some(Ok(value)) = self.session.earlier().map(Arc::downcast::<T>) {
            self.session.keep(value.clone());
            return Ok(value);
        }
        let (mut make, mut made) = (Some(make), None);
        self.session.outside(&mut || made = make.take().map(|make| make()))?;
        let made = Arc::new(made.ok_or("`prepare` was not run")??);
        self.session.keep(made.clone());
        Ok(made)
    }
}

impl<K> fmt::Debug for CaptureStream<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CaptureStream({:?})", self.session.stream())
    }
}

type Function = dyn for<'n> FnMut(&'n dyn Session) -> std::result::Result<(), BoxError> + Send;

/// A graph that was captured before the build.
pub(crate) trait Recorded: Send {
    /// Gives the graph away, to be destroyed by the caller.
    fn take(self: Box<Self>) -> CUgraph;
}

/// The work of a `capture` node or a captured graph. The mutexes make it `Sync`; they are never contended: only `build`
/// uses them, and calls that have the graph exclusively.
pub(crate) struct CaptureCall {
    source: Source,
    /// If the work is a whole graph instead of a node, its options.
    whole: Option<CaptureOptions>,
    /// The host function that stands for the work where there is no CUDA. It gets copies of the memory.
    stand_in: Option<HostCall>,
}

enum Source {
    /// A closure that queues the work, without the types of its arguments.
    Closure(Mutex<Box<Function>>),
    /// The work is recorded already. `None` after the build has taken it.
    Recorded(Mutex<Option<Box<dyn Recorded>>>),
}

impl CaptureCall {
    /// The closure of a node.
    pub(crate) fn new<K, F>(kept: K, mut function: F) -> Self
    where
        K: Kept,
        F: for<'n> FnMut(&CaptureStream<'n, K>) -> std::result::Result<(), BoxError> + Send + 'static,
    {
        Self {
            source: Source::Closure(Mutex::new(Box::new(move |session| {
                function(&CaptureStream { session, kept: &kept })
            }))),
            whole: None,
            stand_in: None,
        }
    }

    /// The same work, with a host function that stands for it where there is no CUDA. `declared` and `kept` are the
    /// node's arguments.
    pub(crate) fn or_else<K, F>(self, declared: &[DeclaredAccess], kept: K, mut function: F) -> Self
    where
        K: Lend,
        F: for<'a> FnMut(K::Lent<'a>) + Send + 'static,
    {
        let function = move |memory: &[(NonNull<u8>, usize)]| {
            // SAFETY: `HostCall::run`, the only caller, was promised this; the references end with the call.
            function(unsafe { kept.lend(&mut memory.iter()) });
        };
        Self {
            stand_in: Some(HostCall::of(declared, Box::new(function))),
            ..self
        }
    }

    /// The host function that stands for the work where there is no CUDA.
    pub(crate) fn stand_in(&self) -> Option<&HostCall> {
        self.stand_in.as_ref()
    }

    /// Work that is recorded already, and is a whole graph.
    pub(crate) fn recorded(graph: impl Recorded + 'static) -> Self {
        Self {
            source: Source::Recorded(Mutex::new(Some(Box::new(graph)))),
            whole: Some(CaptureOptions::default()),
            stand_in: None,
        }
    }

    /// The graph, if the work was recorded before the build. It can be taken once.
    pub(crate) fn take_recorded(&self) -> Option<CUgraph> {
        match &self.source {
            Source::Closure(_) => None,
            Source::Recorded(graph) => {
                let graph = graph.lock().unwrap_or_else(PoisonError::into_inner).take();
                graph.map(Recorded::take)
            }
        }
    }

    /// Whether the work can be recorded again.
    pub(crate) fn is_repeatable(&self) -> bool {
        matches!(self.source, Source::Closure(_))
    }

    /// The same closure, whose work is a whole graph.
    pub(crate) fn of_graph(self, options: CaptureOptions) -> Self {
        Self {
            whole: Some(options),
            ..self
        }
    }

    /// Whether the work is a whole graph instead of a node.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole.is_some()
    }

    pub(crate) fn options(&self) -> CaptureOptions {
        self.whole.unwrap_or_default()
    }

    /// Calls the closure, which queues the library calls.
    pub(crate) fn run(&self, session: &dyn Session) -> std::result::Result<(), BoxError> {
        match &self.source {
            Source::Closure(function) => function.lock().unwrap_or_else(PoisonError::into_inner)(session),
            Source::Recorded(_) => Err("the work was recorded before the build".into()),
        }
    }
}

impl fmt::Debug for CaptureCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CaptureCall")
    }
}
