//! Memory outside graphs that graphs can share: buffers with a shape, and generators; and views of a graph's memory.

mod pool;
mod report;
mod generator;
mod scope;
mod mapped;
mod host;
mod shared_host;
mod device;
mod view;

pub use device::DeviceBuffer;
pub(crate) use generator::Beginning;
pub use generator::{Generator, Philox, Seed};
pub use host::HostBuffer;
pub use mapped::MappedHost;
pub use pool::Pool;
pub use report::{MemoryReport, PoolReport, PoolUser};
pub use scope::{Lend, Scope};
pub use shared_host::{HostMut, HostRef, SharedHost};
pub use view::{DeviceMut, DeviceRef};
