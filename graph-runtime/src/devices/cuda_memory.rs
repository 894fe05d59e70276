//! Device memory in a CUDA context, taken over from and lent as cudarc's type.

use crate::devices::cuda::{Cuda, twice};
use crate::devices::launch_event::LaunchEvent;
use crate::driver::{self, CUcontext, CUdeviceptr, RelaxedCapture};
use crate::error::CudaError;
use crate::in_flight::lock::Lock;
use crate::in_flight::uses::Claim;
use cudarc::driver::{CudaSlice, DevicePtr};
use std::any::Any;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc;

/// Device memory in a context.
pub(crate) struct CudaMemory {
    cuda: Arc<Cuda>,
    address: CUdeviceptr,
    bytes: usize,
    owner: MemoryOwner,
    lent: Lock<Lent>,
}

/// Work that somebody may have queued on the memory as a slice of cudarc's, on whatever stream of its context (C2 and
/// U5 of `docs/safety.md`).
#[derive(Default)]
struct Lent {
    /// The number of slices that are lent now, or were forgotten.
    slices: usize,
    /// The number of slices that have ever been lent.
    lends: u64,
    /// Whether there may be work that reads. Then writing and freeing wait for all of the context. (Waiting when the
    /// slice is dropped would not do: cudarc remembers only the last read.)
    read: bool,
    /// Whether there may be work that writes, from before the slice was taken over. Then reading waits, too.
    written: bool,
}

impl Lent {
    /// Memory that others have used in any way.
    fn of_others() -> Self {
        Self {
            read: true,
            written: true,
            ..Self::default()
        }
    }
}

/// The owner of the allocation, who frees it.
enum MemoryOwner {
    Us,
    /// The value that frees it, or keeps it, as long as it lives: the `CudaSlice` that it came from, or the share of a
    /// pool that it is a part of.
    Other(Box<dyn Any + Send + Sync>),
    /// The module of which it is a variable.
    Module,
    /// Somebody who lends it, and does not free it while it is lent.
    Lender,
    /// It is being dropped.
    Nobody,
}

impl CudaMemory {
    fn new(cuda: &Arc<Cuda>, address: CUdeviceptr, bytes: usize, owner: MemoryOwner, lent: Lent) -> Self {
        Self {
            cuda: cuda.clone(),
            address,
            bytes,
            owner,
            lent: Lock::new(lent),
        }
    }

    /// Allocates `bytes` (not 0) zeroed bytes.
    pub(crate) fn zeroed(cuda: &Arc<Cuda>, bytes: usize) -> Result<Self, CudaError> {
        let _relaxed = RelaxedCapture::enter();
        cuda.bind()?;
        // SAFETY: the context is current.
        let address = unsafe { driver::allocation::alloc(bytes) }?;
        let memory = Self::new(cuda, address, bytes, MemoryOwner::Us, Lent::default());
        memory.clear()?;
        Ok(memory)
    }

    /// Zeroes all bytes, and waits for that. The caller has checked that nothing touches them.
    pub(crate) fn clear(&self) -> Result<(), CudaError> {
        let (address, bytes) = (self.address, self.bytes);
        // SAFETY: the memory has `bytes` bytes and lives until `copy` has waited for the stream.
        self.cuda
            .copy(|stream| unsafe { driver::allocation::set(address, 0, bytes, stream) })
    }

    /// A variable of a loaded module.
    ///
    /// # Safety
    ///
    /// The module is of this context, the variable has `bytes` bytes at `address`, and the module stays loaded as long
    /// as this memory is used.
    pub(crate) unsafe fn of_module(cuda: &Arc<Cuda>, address: CUdeviceptr, bytes: usize) -> Self {
        Self::new(cuda, address, bytes, MemoryOwner::Module, Lent::default())
    }

    /// A part of memory that `keeper` keeps, or memory of the host that is mapped for the context.
    ///
    /// # Safety
    ///
    /// The memory is of this context, or mapped for it, has `bytes` bytes at `address`, and lives as long as `keeper`.
    pub(crate) unsafe fn within(
        cuda: &Arc<Cuda>,
        address: CUdeviceptr,
        bytes: usize,
        keeper: Box<dyn Any + Send + Sync>,
    ) -> Self {
        Self::new(cuda, address, bytes, MemoryOwner::Other(keeper), Lent::default())
    }

    /// Takes over a slice of cudarc's. Waits for all work of the context first, since cudarc remembers only the last
    /// read of the slice. (There is no work in other contexts: C2 of `docs/safety.md`.)
    pub(crate) fn from_cudarc<T: Send + Sync + 'static>(slice: CudaSlice<T>) -> Self {
        let (address, recorded) = slice.device_ptr(slice.stream());
        drop(recorded);
        let (cuda, bytes) = (Cuda::new(slice.context().clone()), slice.num_bytes());
        let memory = Self::new(
            &cuda,
            address,
            bytes,
            MemoryOwner::Other(Box::new(slice)),
            Lent::of_others(),
        );
        let _ = memory.settle(true); // if this fails, the first use tries again and returns the error
        memory
    }

    /// Borrows the memory of a slice of cudarc's. Waits for all work of the context first, as
    /// [`CudaMemory::from_cudarc`] does.
    ///
    /// # Safety
    ///
    /// The slice is of the context of `cuda`. It stays borrowed until nothing uses this memory any more.
    pub(crate) unsafe fn borrowed<T>(cuda: &Arc<Cuda>, slice: &impl DevicePtr<T>) -> Result<Self, CudaError> {
        let (address, recorded) = slice.device_ptr(slice.stream());
        drop(recorded);
        // SAFETY: by the caller's promise.
        unsafe { Self::at(cuda, address, slice.num_bytes()) }
    }

    /// Borrows the `bytes` bytes at `address`. Waits for all work of the context first.
    ///
    /// # Safety
    ///
    /// They are device memory of the context of `cuda`, which is not freed, and with which nobody else does what
    /// conflicts with uses of this memory, until nothing uses it any more.
    pub(crate) unsafe fn at(cuda: &Arc<Cuda>, address: CUdeviceptr, bytes: usize) -> Result<Self, CudaError> {
        let memory = Self::new(cuda, address, bytes, MemoryOwner::Lender, Lent::of_others());
        memory.settle(true)?;
        Ok(memory)
    }

    /// Waits for work that was queued on a slice of cudarc's and must come before the next use: a use that writes comes
    /// after all such work, a use that reads comes after work that may write. CUDA refuses this (and ends the capture)
    /// while any stream of the context is being captured; then the memory stays lent.
    pub(crate) fn settle(&self, write: bool) -> Result<(), CudaError> {
        let lends = {
            let lent = self.lent.lock();
            if !(lent.written || write && lent.read) {
                return Ok(());
            }
            lent.lends
        };
        // The lock is not held meanwhile: a host function may need it before the work of the context can end.
        let _relaxed = RelaxedCapture::enter();
        self.cuda.synchronize()?;
        let mut lent = self.lent.lock();
        lent.written = false;
        lent.read = lent.slices > 0 || lent.lends != lends; // of other parts of the memory
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

    /// Lends `len` elements of the memory as a slice of cudarc's: the one it was taken over from, or a new one. `claim`
    /// keeps writers away while the slice is lent.
    ///
    /// # Safety
    ///
    /// As for [`DeviceBuffer::as_cudarc`](crate::DeviceBuffer::as_cudarc).
    pub(crate) unsafe fn cudarc<'a, T: 'static>(
        &'a self,
        start: usize,
        len: usize,
        claim: Claim<'a, LaunchEvent>,
    ) -> Result<CudarcSlice<'a, T>, CudaError> {
        self.cuda.bind()?;
        self.settle(false)?; // the events of a new slice know nothing of earlier work
        if let MemoryOwner::Other(owner) = &self.owner
            && let Some(slice) = owner.downcast_ref::<CudaSlice<T>>()
            && (start, len) == (0, slice.len())
        {
            return Ok(self.lend(Slice::Owned(slice), claim));
        }
        let _relaxed = RelaxedCapture::enter();
        let context = self.cuda.context();
        let failed = |call| move |error: cudarc::driver::DriverError| driver::error(call, error.0 as u32);
        let stream = context.new_stream().map_err(failed("cuStreamCreate"))?;
        // `upgrade_device_ptr` makes events, and panics if it cannot. So this tries to make one first.
        drop(context.new_event(None).map_err(failed("cuEventCreate"))?);
        // SAFETY: the allocation has room for `len` elements of `T` from `start` (the buffer's shape), which are
        // initialised: zeroed when allocated. The slice never frees it: `CudarcSlice::drop` leaks it.
        let slice = unsafe { stream.upgrade_device_ptr(self.address + start as u64, len) };
        Ok(self.lend(Slice::Made(ManuallyDrop::new(slice)), claim))
    }

    fn lend<'a, T>(&'a self, slice: Slice<'a, T>, claim: Claim<'a, LaunchEvent>) -> CudarcSlice<'a, T> {
        let mut lent = self.lent.lock();
        lent.slices += 1;
        lent.lends += 1;
        lent.read = true;
        CudarcSlice {
            slice,
            memory: self,
            claim,
        }
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
        let queue = |stream| unsafe { driver::allocation::copy_to_host(pointer, from, bytes, stream) };
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
        let queue = |stream| unsafe { driver::allocation::copy_to_device(to, pointer, bytes, stream) };
        self.cuda.copy(queue)
    }
}

/// Device memory lent as cudarc's `CudaSlice`, to be read by cudarc or by kernels that it launches:
/// [`DeviceBuffer::as_cudarc`](crate::DeviceBuffer::as_cudarc) returns it.
///
/// While this lives, a graph that writes the memory does not launch. Later writes to the memory, and dropping it, wait
/// for the work that was queued with the slice.
pub struct CudarcSlice<'a, T> {
    slice: Slice<'a, T>,
    memory: &'a CudaMemory,
    #[expect(dead_code, reason = "it keeps writers off until it is dropped")]
    claim: Claim<'a, LaunchEvent>,
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
        self.memory.lent.lock().slices -= 1;
        if let Slice::Made(slice) = &mut self.slice {
            // SAFETY: `self` is being dropped, so the slice is not used again.
            let slice = unsafe { ManuallyDrop::take(slice) };
            slice.leak(); // gives the address back without freeing it
        }
    }
}

impl Drop for CudaMemory {
    fn drop(&mut self) {
        let owner = std::mem::replace(&mut self.owner, MemoryOwner::Nobody);
        if let Err(error) = twice(|| self.settle(true)) {
            // Something may still read the memory, so it is leaked.
            tracing::warn!(target: "graph_runtime", %error, "device memory is leaked, since waiting for its readers failed");
            std::mem::forget(owner);
        } else if let MemoryOwner::Us = owner {
            let _relaxed = RelaxedCapture::enter();
            // SAFETY: the allocation is ours, and whoever drops it has waited for what used it.
            let free = |()| unsafe { driver::allocation::free(self.address) };
            if let Err(error) = self.cuda.bind_to_free().and_then(free) {
                tracing::warn!(target: "graph_runtime", %error, "device memory was not freed");
            }
        }
    }
}
