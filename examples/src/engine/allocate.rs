//! Allocators of device memory: graph-runtime's, and the engine's own.

use graph_runtime::{BoxError, Device, DeviceBuffer};

/// An allocator of device memory.
pub trait Allocate {
    /// Allocates zeroed or used memory.
    ///
    /// # Errors
    /// If there is too little.
    fn allocate(&self, bytes: usize) -> Result<DeviceBuffer<[u8]>, BoxError>;
}

impl Allocate for Device {
    fn allocate(&self, bytes: usize) -> Result<DeviceBuffer<[u8]>, BoxError> {
        Ok(self.alloc_slice(bytes)?)
    }
}
