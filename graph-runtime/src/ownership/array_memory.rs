//! CUDA arrays of graphs: memory of texels.

use crate::devices::Backend;
use crate::devices::cuda_array::CudaArray;
use crate::error::{At, Result, Site};
use crate::ownership::device_memory::DeviceMemory;
use crate::program::array::ArrayForm;

/// Zeroed memory of texels.
pub(crate) enum ArrayMemory {
    Cuda(CudaArray),
    /// Texels that follow each other, row after row.
    Emulator(DeviceMemory),
}

impl ArrayMemory {
    /// Allocates an array of `bytes` bytes. The name appears in the emulator's messages.
    pub(crate) fn zeroed(
        backend: &Backend,
        name: &str,
        form: &ArrayForm,
        bytes: usize,
        site: impl Fn() -> Site,
    ) -> Result<Self> {
        match backend {
            Backend::Cuda(cuda) => CudaArray::zeroed(cuda, form, bytes).at(site).map(Self::Cuda),
            Backend::Emulator(_) => DeviceMemory::zeroed(backend, name, bytes, site).map(Self::Emulator),
        }
    }

    /// Zeroes all texels. The caller has checked that nothing touches them.
    pub(crate) fn clear(&self, site: impl Fn() -> Site) -> Result<()> {
        match self {
            Self::Cuda(array) => array.clear().at(site),
            Self::Emulator(memory) => memory.clear(site),
        }
    }
}
