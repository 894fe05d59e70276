//! `capture` nodes: library calls on a stream, recorded instead of run.

use crate::error::Result;
use crate::program::pointer::{Addresses, Kept, Pointer, PointerMut};
use crate::shape::place::OnDevice;
use crate::shape::{ArrayOf, NO_LENGTHS};
use cudarc::driver::sys::{CUdeviceptr, CUstream};
use cudarc::driver::{CudaContext, CudaStream, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop};
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

/// Any error, as closures of `capture` and `raw` nodes return it: `?` makes one of every error type.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The stream of one `capture` node, and what the graph keeps for it.
pub(crate) trait Session {
    /// The stream.
    fn stream(&self) -> CUstream;
    /// The stream as cudarc's type.
    fn cudarc(&self) -> &Arc<CudaStream>;
    /// The context of the stream.
    fn context(&self) -> &Arc<CudaContext>;
    /// The addresses of the graph's memory.
    fn addresses(&self) -> &Addresses;
    /// Zeroed device memory that lives as long as `self`: its first byte, as an address without provenance.
    fn workspace(&self, bytes: usize) -> Result<*mut u8>;
    /// Keeps a value as long as `self`.
    fn keep(&self, value: Arc<dyn Any + Send + Sync>);
    /// Runs `f` while the stream does not capture; fails if something was captured before.
    fn outside(&self, f: &mut dyn FnMut()) -> std::result::Result<(), BoxError>;
}

/// A stream that is being captured, as the closure of a `capture` node gets it: see
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
    /// The stream, for calls of the driver and of libraries. It is the node's own: no other node, and nothing else,
    /// uses it.
    pub fn cu_stream(&self) -> CUstream {
        self.session.stream()
    }

    /// The context of the graph's memory; it is current.
    pub fn context(&self) -> &'n Arc<CudaContext> {
        self.session.context()
    }

    /// The stream as cudarc's type, which cudarc's wrappers of libraries take.
    ///
    /// # Safety
    ///
    /// Every launch of the graph repeats what is queued on the stream, after this closure has ended: all of it must
    /// touch only memory that the node declares, as it declares it, and memory that lives as long as the graph and that
    /// nothing else uses. (cudarc's functions for streams are safe to call because they run at once; captured, they do
    /// not.) The stream is used no longer than the graph lives.
    pub unsafe fn cudarc(&self) -> &'n Arc<CudaStream> {
        self.session.cudarc()
    }

    /// Device memory of `bytes` bytes that belongs to this node alone, zeroed when the graph is built: scratch memory
    /// for a library. The graph keeps it.
    ///
    /// cuBLAS wants it by `cublasSetWorkspace`, after `cublasSetStream`, which takes it away again. Without one it
    /// allocates when it is called, and a child graph cannot hold that.
    ///
    /// # Errors
    /// [`Error::Cuda`](crate::Error::Cuda) where there is not so much memory.
    pub fn workspace(&self, bytes: usize) -> Result<PointerMut<'n, [u8], OnDevice>> {
        Ok(PointerMut::new(self.session.workspace(bytes)?, bytes, NO_LENGTHS))
    }

    /// Runs `make` outside the capture: what it queues on the stream runs at once and is waited for, and it may
    /// allocate, free and wait. The graph keeps what it returns. It must come before anything is captured.
    ///
    /// Library handles are made so: creating one allocates, and destroying one waits, neither of which CUDA allows in a
    /// capture.
    ///
    /// # Errors
    /// The error of `make`; an error if something was captured before, or if CUDA does not begin another capture.
    pub fn prepare<T: Send + Sync + 'static>(
        &self,
        make: impl FnOnce() -> std::result::Result<T, BoxError>,
    ) -> std::result::Result<Arc<T>, BoxError> {
        let (mut make, mut made) = (Some(make), None);
        self.session.outside(&mut || made = make.take().map(|make| make()))?;
        let made = Arc::new(made.ok_or("`prepare` was not run")??);
        self.session.keep(made.clone());
        Ok(made)
    }

    /// Declared memory as cudarc's traits for device memory have it, to read.
    ///
    /// # Safety
    ///
    /// It is used on this stream only (cudarc's functions would copy it on others, too, while the graph runs). It tells
    /// the stream: what is done with that is as for [`CaptureStream::cudarc`].
    pub unsafe fn slice<T, S: ?Sized + ArrayOf<T>>(&self, memory: &Pointer<'n, S, OnDevice>) -> CaptureSlice<'n, T> {
        CaptureSlice {
            address: memory.address(),
            len: memory.count(),
            stream: self.session.cudarc(),
            element: PhantomData,
        }
    }

    /// Declared memory as cudarc's traits for device memory have it, to read and write.
    ///
    /// # Safety
    ///
    /// As for [`CaptureStream::slice`].
    pub unsafe fn slice_mut<T, S: ?Sized + ArrayOf<T>>(
        &self,
        memory: &PointerMut<'n, S, OnDevice>,
    ) -> CaptureSliceMut<'n, T> {
        // SAFETY: by the caller's promise.
        CaptureSliceMut(unsafe { self.slice(memory) })
    }
}

impl<K> fmt::Debug for CaptureStream<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CaptureStream({:?})", self.session.stream())
    }
}

/// Memory of a graph for cudarc's wrappers of libraries, within a `capture`.
pub struct CaptureSlice<'n, T> {
    address: CUdeviceptr,
    len: usize,
    stream: &'n Arc<CudaStream>,
    element: PhantomData<fn(&T)>,
}

/// Memory of a graph for cudarc's wrappers of libraries, within a `capture`, to write.
pub struct CaptureSliceMut<'n, T>(CaptureSlice<'n, T>);

impl<T> DeviceSlice<T> for CaptureSlice<'_, T> {
    fn len(&self) -> usize {
        self.len
    }

    fn stream(&self) -> &Arc<CudaStream> {
        self.stream
    }
}

/// The order of the graph's nodes takes the place of events.
impl<T> DevicePtr<T> for CaptureSlice<'_, T> {
    fn device_ptr<'a>(&'a self, _stream: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        (self.address, SyncOnDrop::Sync(None))
    }
}

impl<T> DeviceSlice<T> for CaptureSliceMut<'_, T> {
    fn len(&self) -> usize {
        self.0.len
    }

    fn stream(&self) -> &Arc<CudaStream> {
        self.0.stream
    }
}

impl<T> DevicePtr<T> for CaptureSliceMut<'_, T> {
    fn device_ptr<'a>(&'a self, stream: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        self.0.device_ptr(stream)
    }
}

impl<T> DevicePtrMut<T> for CaptureSliceMut<'_, T> {
    fn device_ptr_mut<'a>(&'a mut self, _stream: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        (self.0.address, SyncOnDrop::Sync(None))
    }
}

impl<T> fmt::Debug for CaptureSlice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CaptureSlice({:#x}, {})", self.address, self.len)
    }
}

impl<T> fmt::Debug for CaptureSliceMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

type Function = dyn for<'n> FnMut(&'n dyn Session) -> std::result::Result<(), BoxError> + Send;

/// The closure of a `capture` node, without the types of its arguments. The mutex is there for `Sync`; builds call it
/// one at a time.
pub(crate) struct CaptureCall(Mutex<Box<Function>>);

impl CaptureCall {
    pub(crate) fn new<K, F>(kept: K, mut function: F) -> Self
    where
        K: Kept,
        F: for<'n> FnMut(&CaptureStream<'n, K>) -> std::result::Result<(), BoxError> + Send + 'static,
    {
        Self(Mutex::new(Box::new(move |session| {
            function(&CaptureStream { session, kept: &kept })
        })))
    }

    /// Queues the library calls.
    pub(crate) fn run(&self, session: &dyn Session) -> std::result::Result<(), BoxError> {
        let mut function = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        function(session)
    }
}

impl fmt::Debug for CaptureCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CaptureCall")
    }
}
