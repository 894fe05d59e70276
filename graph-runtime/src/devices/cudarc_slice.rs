//! Device memory that is taken over from cudarc's type, and lent as it.

use crate::devices::cuda::Cuda;
use crate::devices::cuda_memory::{CudaMemory, Lent, MemoryOwner};
use crate::devices::launch_event::LaunchEvent;
use crate::driver::RelaxedCapture;
use crate::driver::objects::failed;
use crate::error::CudaError;
use crate::in_flight::uses::Claim;
use cudarc::driver::{CudaSlice, DevicePtr};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc;

impl CudaMemory {
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
