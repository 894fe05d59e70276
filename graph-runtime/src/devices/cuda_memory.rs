//! Device memory in a CUDA context.

use crate::devices::adopted::{DeviceMemory, Using};
use crate::devices::cuda::{Cuda, twice};
use crate::driver::{self, CUcontext, CUdeviceptr, CUstream, RelaxedCapture};
use crate::error::CudaError;
use crate::in_flight::lock::Lock;
use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;

/// Device memory in a context.
pub(crate) struct CudaMemory {
    pub(super) cuda: Arc<Cuda>,
    pub(super) address: CUdeviceptr,
    bytes: usize,
    pub(super) owner: MemoryOwner,
    pub(super) lent: Lock<Lent>,
}

/// Work that somebody may have queued on the memory as a slice of cudarc's, on whatever stream of its context (C2 and
/// U5 of `docs/safety.md`).
#[derive(Default)]
pub(super) struct Lent {
    /// The number of slices that are lent now, or were forgotten.
    pub(super) slices: usize,
    /// The number of slices that have ever been lent.
    pub(super) lends: u64,
    /// Whether there may be work that reads. Then writing and freeing wait for all of the context. (Waiting when the
    /// slice is dropped would not do: cudarc remembers only the last read.)
    pub(super) read: bool,
    /// Whether there may be work that writes, from before the slice was taken over. Then reading waits, too.
    written: bool,
}

impl Lent {
    /// Memory that others have used in any way.
    pub(super) fn of_others() -> Self {
        Self {
            read: true,
            written: true,
            ..Self::default()
        }
    }
}

/// The owner of the allocation, who frees it.
pub(super) enum MemoryOwner {
    Us,
    /// The value that frees it, or keeps it, as long as it lives: the `CudaSlice` that it came from, or the share of a
    /// pool that it is a part of.
    Other(
        #[cfg_attr(not(feature = "cudarc"), expect(dead_code, reason = "it keeps the memory"))]
        Box<dyn Any + Send + Sync>,
    ),
    /// Others, who order their own work with it.
    Adopted(Box<dyn DeviceMemory>),
    /// The module of which it is a variable.
    Module,
    /// Somebody who lends it, and does not free it while it is lent.
    Lender,
    /// It is being dropped.
    Nobody,
}

impl CudaMemory {
    pub(super) fn new(cuda: &Arc<Cuda>, address: CUdeviceptr, bytes: usize, owner: MemoryOwner, lent: Lent) -> Self {
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

    /// Memory that `owner` keeps, and whose work `owner` orders (fact 7 of
    /// [`Uses`](crate::in_flight::uses::Uses)).
    ///
    /// # Safety
    ///
    /// The `bytes` bytes at `address` are those of `owner`, and of the context of `cuda`.
    pub(crate) unsafe fn adopted(
        cuda: &Arc<Cuda>,
        (address, bytes): (CUdeviceptr, usize),
        owner: Box<dyn DeviceMemory>,
    ) -> Self {
        Self::new(cuda, address, bytes, MemoryOwner::Adopted(owner), Lent::default())
    }

    /// Whether memory of others is of the context: by their word or, if they do not know, the driver's.
    pub(crate) fn is_in(cuda: &Cuda, memory: &dyn DeviceMemory) -> Result<bool, CudaError> {
        /// `CUDA_ERROR_INVALID_VALUE`
        const INVALID_VALUE: u32 = 1;
        let context = memory.context();
        if !context.is_null() {
            return Ok(context == cuda.raw().cast());
        }
        if memory.bytes() == 0 {
            return Ok(true); // there is nothing to access
        }
        let _relaxed = RelaxedCapture::enter();
        cuda.bind()?;
        // SAFETY: any address may be asked for; the context is current.
        match unsafe { driver::allocation::context_of(memory.address()) } {
            // The driver does not know the address.
            Err(error) if error.code() == INVALID_VALUE => Ok(false),
            context => Ok(context? == cuda.raw()),
        }
    }

    /// The owner of adopted memory.
    pub(crate) fn owner(&self) -> Option<&dyn DeviceMemory> {
        match &self.owner {
            MemoryOwner::Adopted(owner) => Some(&**owner),
            MemoryOwner::Us | MemoryOwner::Other(_) | MemoryOwner::Module => None,
            MemoryOwner::Lender | MemoryOwner::Nobody => None,
        }
    }

    /// Tells the owner of adopted memory that it is used on a stream until the returned value is dropped.
    fn using(&self, stream: CUstream) -> Result<Using<'_>, CudaError> {
        Using::begin(self.owner(), stream, Some(&self.cuda))
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
        self.cuda.copy(|stream| {
            let _using = self.using(stream)?;
            queue(stream)
        })
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
        self.cuda.copy(|stream| {
            let _using = self.using(stream)?;
            queue(stream)
        })
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
