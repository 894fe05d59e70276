//! Memory with a shape: buffers outside graphs, which graphs can share, and views of a graph's device memory.

mod pool;
mod report;
mod shared_host;
mod host;
mod device;
mod view;

pub use device::DeviceBuffer;
pub use host::HostBuffer;
pub use pool::Pool;
pub use report::{MemoryReport, PoolReport, PoolUser};
pub use shared_host::{HostMut, HostRef, SharedHost};
pub use view::{DeviceMut, DeviceRef};
