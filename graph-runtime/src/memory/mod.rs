//! Memory with a shape: buffers outside graphs, which graphs may share, and views of a graph's device memory.

mod block;
mod device;
mod host;
mod launches;
mod shared_host;
mod uses;
mod view;

pub use block::Shareable;
pub(crate) use block::{Piece, SharedMemory};
pub use device::DeviceBuffer;
pub use host::HostBuffer;
pub use shared_host::{HostMut, HostRef, SharedHost};
pub(crate) use uses::Claim;
pub use view::{DeviceMut, DeviceRef};
