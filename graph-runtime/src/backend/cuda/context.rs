//! A CUDA context, and memory in it.

use crate::driver::{self, CUcontext, CUdevice_attribute, CUdeviceptr, CUstream, RelaxedCapture};
use crate::error::{At, CudaError, Error, Result, Site};
use crate::memory::Claim;
use cudarc::driver::{CudaContext, CudaSlice, DevicePtr};
use std::any::Any;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// The oldest CUDA whose calls are used: `cuGraphAddKernelNode_v2` came with it.
const OLDEST: u32 = 12_000;

/// A CUDA context and a stream for copies outside graphs.
pub(crate) struct Cuda {
    context: Arc<CudaContext>,
    copies: Mutex<CopyStream>,
}

/// Made at the first copy; null before. Not the null stream, which would wait for the user's own work.
struct CopyStream(CUstream);

// SAFETY: a stream may be used by any thread, and the mutex around it gives it to one at a time.
unsafe impl Send for CopyStream {}

impl Cuda {
    /// The primary context of a device.
    pub(crate) fn open(ordinal: usize) -> Result<Arc<Self>> {
        if !driver::is_present() {
            return Err(Error::NoDriver);
        }
        check_version()?;
        // SAFETY: the library is loaded.
        unsafe { driver::init() }.at(Site::default)?;
        // SAFETY: the driver is initialised.
        let devices = unsafe { driver::device_count() }.at(Site::default)?;
        if ordinal >= devices {
            return Err(Error::NoDevice { ordinal, devices });
        }
        let context = CudaContext::new(ordinal)
            .map_err(|error| driver::error("cuDevicePrimaryCtxRetain", error.0))
            .at(Site::default)?;
        Ok(Self::new(context))
    }

    pub(crate) fn new(context: Arc<CudaContext>) -> Arc<Self> {
        Arc::new(Self {
            context,
            copies: Mutex::new(CopyStream(ptr::null_mut())),
        })
    }

    pub(crate) fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    pub(crate) fn raw(&self) -> CUcontext {
        self.context.cu_ctx()
    }

    /// Makes the context current on this thread. (cudarc's own way reports errors of others that it has stored.)
    pub(crate) fn bind(&self) -> Result<(), CudaError> {
        // SAFETY: the driver is initialised, or there would be no context.
        if unsafe { driver::current_context() }? != self.raw() {
            // SAFETY: `self.context` keeps the context alive.
            unsafe { driver::set_current_context(self.raw()) }?;
        }
        Ok(())
    }

    /// The device's name: `NVIDIA H200`.
    pub(crate) fn name(&self) -> String {
        // SAFETY: the driver is initialised and the device is the context's.
        unsafe { driver::device_name(self.context.cu_device()) }.unwrap_or_else(|_| "CUDA device".to_owned())
    }

    pub(crate) fn attribute(&self, attribute: CUdevice_attribute) -> Result<i32, CudaError> {
        // SAFETY: as in `name`.
        unsafe { driver::device_attribute(self.context.cu_device(), attribute) }
    }

    /// The device's compute capability, major and minor.
    pub(crate) fn capability(&self) -> Result<(i32, i32), CudaError> {
        let major = self.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = self.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        Ok((major, minor))
    }

    /// Waits for all work of the context.
    pub(crate) fn synchronize(&self) -> Result<(), CudaError> {
        self.bind()?;
        // SAFETY: the context is current.
        unsafe { driver::context_synchronize() }
    }

    /// Runs `queue` with a stream of the context and waits for what it queued.
    fn copy(&self, queue: impl FnOnce(CUstream) -> Result<(), CudaError>) -> Result<(), CudaError> {
        let _relaxed = RelaxedCapture::enter();
        self.bind()?;
        let mut stream = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        if stream.0.is_null() {
            // SAFETY: the context is current.
            stream.0 = unsafe { driver::stream_create() }?;
        }
        let queued = queue(stream.0);
        // SAFETY: the stream lives as long as `self`.
        let waited = unsafe { driver::stream_synchronize(stream.0) };
        queued.and(waited)
    }

    /// `bytes` (not 0) zeroed, page-locked bytes.
    pub(crate) fn host_alloc(&self, bytes: usize) -> Result<NonNull<u8>, CudaError> {
        let _relaxed = RelaxedCapture::enter();
        self.bind()?;
        // SAFETY: the context is current.
        let pointer = unsafe { driver::host_alloc(bytes) }?.cast::<u8>();
        let pointer = NonNull::new(pointer).expect("cuMemHostAlloc succeeded");
        // SAFETY: `bytes` bytes were just allocated there, and nobody else knows of them.
        unsafe { pointer.write_bytes(0, bytes) };
        Ok(pointer)
    }

    /// Frees what [`Cuda::host_alloc`] returned. Nothing may use it any more.
    pub(crate) fn host_free(&self, pointer: NonNull<u8>) {
        let _relaxed = RelaxedCapture::enter();
        // SAFETY: `HostMemory::drop`, the only caller, owns the allocation and gives it up.
        let free = |()| unsafe { driver::host_free(pointer.as_ptr().cast()) };
        if let Err(error) = self.bind().and_then(free) {
            tracing::warn!(target: "graph_runtime", %error, "host memory was not freed");
        }
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        let stream = self.copies.get_mut().unwrap_or_else(PoisonError::into_inner).0;
        if !stream.is_null() && self.bind().is_ok() {
            // SAFETY: the stream was made for `self` alone, and every copy on it has been waited for.
            let _ = unsafe { driver::stream_destroy(stream) };
        }
    }
}

/// Refuses a driver that lacks calls which building a graph uses. The library must be loaded.
pub(super) fn check_version() -> Result<()> {
    // SAFETY: the library is loaded; the call needs neither initialisation nor a context.
    let version = unsafe { driver::driver_version() }.at(Site::default)?;
    if version < OLDEST {
        return Err(Error::DriverTooOld { version });
    }
    Ok(())
}

/// Device memory in a context.
pub(crate) struct Memory {
    cuda: Arc<Cuda>,
    address: CUdeviceptr,
    bytes: usize,
    owner: Owner,
    /// Was it lent as a slice of cudarc's? What was queued on that, on whatever stream, may still read it: writing and freeing wait for
    /// all of the context then. (The guard cannot: it may be forgotten, and cudarc remembers only the last read.)
    lent: AtomicBool,
    /// May what was queued on the slice that it came from still write it? Reading waits then, too.
    adopted: AtomicBool,
}

/// Who frees it.
enum Owner {
    Us,
    /// The `CudaSlice` that it came from.
    Cudarc(Box<dyn Any + Send + Sync>),
    /// It is being dropped.
    Nobody,
}

impl Memory {
    /// `bytes` (not 0) zeroed bytes.
    pub(crate) fn zeroed(cuda: &Arc<Cuda>, bytes: usize) -> Result<Self, CudaError> {
        let _relaxed = RelaxedCapture::enter();
        cuda.bind()?;
        // SAFETY: the context is current.
        let address = unsafe { driver::memory_alloc(bytes) }?;
        let memory = Self {
            cuda: cuda.clone(),
            address,
            bytes,
            owner: Owner::Us,
            lent: AtomicBool::new(false),
            adopted: AtomicBool::new(false),
        };
        // SAFETY: the allocation has `bytes` bytes and lives until `copy` has waited for the stream.
        cuda.copy(|stream| unsafe { driver::memset(address, 0, bytes, stream) })?;
        Ok(memory)
    }

    /// Takes a slice of cudarc's over, once all work on it is done: cudarc remembers only the last read, so the whole context is
    /// waited for.
    pub(crate) fn from_cudarc<T: Send + Sync + 'static>(slice: CudaSlice<T>) -> Self {
        let (address, recorded) = slice.device_ptr(slice.stream());
        drop(recorded);
        let memory = Self {
            cuda: Cuda::new(slice.context().clone()),
            address,
            bytes: slice.num_bytes(),
            owner: Owner::Cudarc(Box::new(slice)),
            lent: AtomicBool::new(true),
            adopted: AtomicBool::new(true),
        };
        let _ = memory.settle(true); // where this fails, the first use tries again and returns the error
        memory
    }

    /// Waits for what was queued on a lent slice, if there was one, where it must come before a use of the memory: before any that writes, and before
    /// all where it may write itself. While any stream of the context is being captured CUDA refuses this (and ends that capture): the
    /// memory stays lent then.
    pub(crate) fn settle(&self, write: bool) -> Result<(), CudaError> {
        if self.adopted.load(Relaxed) || write && self.lent.load(Relaxed) {
            let _relaxed = RelaxedCapture::enter();
            self.cuda.synchronize()?;
            self.lent.store(false, Relaxed);
            self.adopted.store(false, Relaxed);
        }
        Ok(())
    }

    pub(crate) fn context(&self) -> CUcontext {
        self.cuda.raw()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn address(&self) -> CUdeviceptr {
        self.address
    }

    /// The memory as `len` elements of a slice of cudarc's: the one it came from, or one made for it.
    /// Others keep off while `claim` lives.
    pub(crate) fn cudarc<'a, T: 'static>(
        &'a self,
        start: usize,
        len: usize,
        claim: Claim<'a>,
    ) -> Result<CudarcSlice<'a, T>, CudaError> {
        self.lent.store(true, Relaxed);
        let owned: Option<&CudaSlice<T>> = match &self.owner {
            Owner::Cudarc(slice) => slice.downcast_ref(),
            Owner::Us | Owner::Nobody => None,
        };
        if let Some(slice) = owned.filter(|slice| start == 0 && slice.len() == len) {
            return Ok(CudarcSlice {
                slice: Slice::Owned(slice),
                claim,
            });
        }
        let _relaxed = RelaxedCapture::enter();
        let context = &self.cuda.context;
        let failed = |call| move |error: cudarc::driver::DriverError| driver::error(call, error.0);
        let stream = context.new_stream().map_err(failed("cuStreamCreate"))?;
        // `upgrade_device_ptr` panics where this fails.
        drop(context.new_event(None).map_err(failed("cuEventCreate"))?);
        // SAFETY: the allocation has room for `len` elements of `T` from `start` (the buffer's shape), which are initialised: zeroed
        // when allocated. The slice never frees it: `CudarcSlice::drop` leaks it.
        let slice = unsafe { stream.upgrade_device_ptr(self.address + start as u64, len) };
        Ok(CudarcSlice {
            slice: Slice::Made(ManuallyDrop::new(slice)),
            claim,
        })
    }

    /// Copies bytes out, from within the allocation.
    pub(crate) fn read(&self, offset: usize, to: &mut [u8]) -> Result<(), CudaError> {
        if to.is_empty() {
            return Ok(());
        }
        self.settle(false)?;
        let (pointer, bytes) = (to.as_mut_ptr().cast::<c_void>(), to.len());
        let from = self.address + offset as u64;
        // SAFETY: callers read within the allocation, and `copy` returns only when the stream is done with both sides.
        let queue = |stream| unsafe { driver::copy_to_host(pointer, from, bytes, stream) };
        self.cuda.copy(queue)
    }

    /// Copies bytes in, within the allocation.
    pub(crate) fn write(&self, offset: usize, from: &[u8]) -> Result<(), CudaError> {
        if from.is_empty() {
            return Ok(());
        }
        self.settle(true)?;
        let (pointer, bytes) = (from.as_ptr().cast::<c_void>(), from.len());
        let to = self.address + offset as u64;
        // SAFETY: callers write within the allocation, and `copy` returns only when the stream is done with both sides.
        let queue = |stream| unsafe { driver::copy_to_device(to, pointer, bytes, stream) };
        self.cuda.copy(queue)
    }
}

/// Device memory as cudarc's `CudaSlice`, to read with cudarc or to pass to its launches. Graphs that write the memory do not launch
/// while this lives; writing to the memory, or dropping it, later waits for that work.
pub struct CudarcSlice<'a, T> {
    slice: Slice<'a, T>,
    #[expect(dead_code, reason = "it keeps writers off until it is dropped")]
    claim: Claim<'a>,
}

enum Slice<'a, T> {
    /// The slice that the buffer was made of.
    Owned(&'a CudaSlice<T>),
    /// A slice over the buffer's memory, which it does not own.
    Made(ManuallyDrop<CudaSlice<T>>),
}

impl<T> Deref for CudarcSlice<'_, T> {
    type Target = CudaSlice<T>;

    fn deref(&self) -> &CudaSlice<T> {
        match &self.slice {
            Slice::Owned(slice) => slice,
            Slice::Made(slice) => slice,
        }
    }
}

impl<T> Drop for CudarcSlice<'_, T> {
    fn drop(&mut self) {
        if let Slice::Made(slice) = &mut self.slice {
            // SAFETY: `self` is being dropped, so the slice is not used again.
            let slice = unsafe { ManuallyDrop::take(slice) };
            slice.leak(); // gives the address back without freeing it
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let owner = std::mem::replace(&mut self.owner, Owner::Nobody);
        if let Err(error) = self.settle(true) {
            // Something may still read it: it is leaked.
            tracing::warn!(target: "graph_runtime", %error, "device memory is leaked, since waiting for its readers failed");
            std::mem::forget(owner);
        } else if let Owner::Us = owner {
            let _relaxed = RelaxedCapture::enter();
            // SAFETY: the allocation is ours, and whoever drops it has waited for what used it.
            let free = |()| unsafe { driver::memory_free(self.address) };
            if let Err(error) = self.cuda.bind().and_then(free) {
                tracing::warn!(target: "graph_runtime", %error, "device memory was not freed");
            }
        }
    }
}
