//! Device memory in a CUDA context that grows and shrinks in place: addresses for all of the device's memory are
//! reserved, and only the first of them have memory.

use crate::devices::cuda::Cuda;
use crate::driver::{self, CUdevice_attribute, CUdeviceptr, RelaxedCapture};
use crate::error::CudaError;
use std::sync::Arc;

/// Device memory that grows and shrinks at its end. Its bytes keep their addresses.
///
/// # Safety
///
/// 1. *The addresses are ours*: `reserved` bytes from `address` on, until `drop`.
/// 2. *They have memory from the first on*: `pieces` are the sizes of the pieces of memory, in order, without gaps.
///    Each was mapped as a whole, and can be read and written by the device of `cuda`.
/// 3. *Memory is taken away only by [`GrowingMemory::shrink`] and `drop`*, whose callers know that nothing uses it.
pub(crate) struct GrowingMemory {
    cuda: Arc<Cuda>,
    address: CUdeviceptr,
    reserved: usize,
    granularity: usize,
    pieces: Vec<usize>,
}

impl GrowingMemory {
    /// Reserves addresses. Returns `None` if the device keeps no memory apart from its addresses.
    pub(crate) fn new(cuda: &Arc<Cuda>) -> Result<Option<Self>, CudaError> {
        let _relaxed = RelaxedCapture::enter();
        cuda.bind()?;
        if cuda.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)? == 0 {
            return Ok(None);
        }
        let device = cuda.device();
        // SAFETY: the driver is initialised, and the device is the context's.
        let granularity = unsafe { driver::virtual_memory::granularity(device) }?.max(1);
        // SAFETY: as above.
        let reserved = unsafe { driver::context::total_memory(device) }?.next_multiple_of(granularity);
        // SAFETY: the size is a multiple of the granularity.
        let address = unsafe { driver::virtual_memory::reserve(reserved) }?;
        Ok(Some(Self {
            cuda: cuda.clone(),
            address,
            reserved,
            granularity,
            pieces: Vec::new(),
        }))
    }

    /// The context.
    pub(crate) fn cuda(&self) -> &Arc<Cuda> {
        &self.cuda
    }

    /// The address of the first byte.
    pub(crate) fn address(&self) -> CUdeviceptr {
        self.address
    }

    /// The size of the memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.pieces.iter().sum()
    }

    /// Makes sure that there are `bytes` bytes of memory, of which the new ones are zeroed. If this fails, the memory
    /// is as before.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), CudaError> {
        const OUT_OF_MEMORY: u32 = 2;
        let held = self.bytes();
        if bytes <= held {
            return Ok(());
        }
        if bytes > self.reserved {
            return Err(driver::error("cuMemCreate", OUT_OF_MEMORY)); // the device has less
        }
        // At most `reserved`, which is a multiple of the granularity, too.
        let size = (bytes - held).next_multiple_of(self.granularity);
        let _relaxed = RelaxedCapture::enter();
        self.cuda.bind()?;
        let (device, end) = (self.cuda.device(), self.address + held as u64);
        // SAFETY: the context is current, and the size is a multiple of the granularity.
        let memory = unsafe { driver::virtual_memory::create(device, size) }?;
        // SAFETY: the `size` bytes from `end` on are ours and have no memory (facts 1 and 2); the handle was just made.
        let mapped = unsafe { driver::virtual_memory::map(end, size, memory) };
        // SAFETY: the handle is not used again. Its memory lives as long as it has addresses.
        let _ = unsafe { driver::virtual_memory::release(memory) };
        mapped?;
        // SAFETY: the memory was just mapped there.
        let usable = unsafe { driver::virtual_memory::set_access(end, size, device) };
        let zero = |()| {
            // SAFETY: the memory was just mapped there, nobody else knows of it, and `copy` waits for the stream.
            let set = |stream| unsafe { driver::allocation::set(end, 0, size, stream) };
            self.cuda.copy(set)
        };
        if let Err(error) = usable.and_then(zero) {
            // SAFETY: the memory was just mapped there, and nothing uses it: `copy` has waited.
            let _ = unsafe { driver::virtual_memory::unmap(end, size) };
            return Err(error);
        }
        self.pieces.push(size);
        Ok(())
    }

    /// Frees memory after the first `bytes` bytes, as far as it was added later than these.
    ///
    /// # Safety
    ///
    /// Nothing uses the memory after the first `bytes` bytes.
    pub(crate) unsafe fn shrink(&mut self, bytes: usize) -> Result<(), CudaError> {
        let _relaxed = RelaxedCapture::enter();
        self.cuda.bind()?;
        let mut held = self.bytes();
        while let Some(size) = self.pieces.pop_if(|size| held - *size >= bytes) {
            held -= size;
            // SAFETY: the piece was mapped there as a whole (fact 2); nothing uses it, by the caller's promise. If the
            // call fails and the memory stays, a later `grow` fails, as these addresses have memory then.
            unsafe { driver::virtual_memory::unmap(self.address + held as u64, size) }?;
        }
        Ok(())
    }
}

impl Drop for GrowingMemory {
    fn drop(&mut self) {
        let _relaxed = RelaxedCapture::enter();
        let mut freed = self.cuda.bind_to_free();
        if freed.is_ok() {
            while let Some(size) = self.pieces.pop() {
                let end = self.address + self.bytes() as u64;
                // SAFETY: as in `shrink`; whoever drops the memory has waited for what used it.
                freed = freed.and(unsafe { driver::virtual_memory::unmap(end, size) });
            }
            // SAFETY: the addresses are ours (fact 1). If some still have memory, the driver refuses.
            freed = freed.and(unsafe { driver::virtual_memory::free_addresses(self.address, self.reserved) });
        }
        if let Err(error) = freed {
            tracing::warn!(target: "graph_runtime", %error, "the memory of a pool was not freed");
        }
    }
}
