//! Device memory of another process, which this one has opened.

use crate::devices::cuda::Cuda;
use crate::devices::cuda_memory::CudaMemory;
use crate::driver::types::CUipcMemHandle;
use crate::driver::{self, CUdeviceptr, RelaxedCapture};
use crate::error::CudaError;
use std::sync::Arc;

/// The bytes by which another process opens memory.
pub(crate) type Handle = [u8; 64];

/// An allocation that is open as long as this lives.
struct Opened {
    cuda: Arc<Cuda>,
    address: CUdeviceptr,
}

impl CudaMemory {
    /// The handle by which another process opens the memory, which is a whole allocation.
    pub(crate) fn handle(&self) -> Result<Handle, CudaError> {
        let _relaxed = RelaxedCapture::enter();
        self.cuda.bind()?;
        // SAFETY: the context is current, and the allocation lives.
        Ok(unsafe { driver::peer_access::share(self.address()) }?.reserved)
    }

    /// Opens memory of another process for kernels of a context.
    ///
    /// # Safety
    ///
    /// The handle is that of an allocation of `bytes` bytes at least.
    pub(crate) unsafe fn open(cuda: &Arc<Cuda>, handle: Handle, bytes: usize) -> Result<Self, CudaError> {
        let _relaxed = RelaxedCapture::enter();
        cuda.bind()?;
        // SAFETY: the context is current; CUDA refuses bytes that are no handle.
        let address = unsafe { driver::peer_access::open(CUipcMemHandle { reserved: handle }) }?;
        let cuda = cuda.clone();
        let opened = Opened { cuda, address };
        // SAFETY: the memory is mapped for the context until `opened` is dropped, and has these bytes, by the caller's
        // promise. CUDA keeps it, also if the other process ends before.
        Ok(unsafe { Self::within(&opened.cuda.clone(), address, bytes, Box::new(opened)) })
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let _relaxed = RelaxedCapture::enter();
        // SAFETY: `open` has opened it once, and whoever drops the memory has waited for what used it.
        let close = |()| unsafe { driver::peer_access::close(self.address) };
        if let Err(error) = self.cuda.bind_to_free().and_then(close) {
            tracing::warn!(target: "graph_runtime", %error, "memory of another process was not closed");
        }
    }
}
