//! Memory outside graphs that graphs can share: buffers with a shape, and generators; and views of a graph's memory.

/// The methods and traits that all handles to shared memory have. A handle has a `piece`, of a kind of
/// [`SharedMemory`](crate::ownership::block::SharedMemory), and a function that selects a `part`.
macro_rules! shared_handle {
    ($handle:ident, $kind:ident, $memory:ty) => {
        impl<S: ?Sized> $handle<S> {
            /// The size in bytes.
            pub fn bytes(&self) -> usize {
                self.piece.bytes
            }

            /// Returns a handle to the element `index` of the outermost dimension.
            ///
            /// # Errors
            /// [`Error::OutOfBounds`](crate::Error::OutOfBounds) if there is no such element.
            pub fn row(&self, index: usize) -> Result<$handle<S::Row>>
            where
                S: crate::Rows,
            {
                self.part(|all| all.row(index))
            }

            /// Returns a handle to the elements `range` of the outermost dimension. Parts that do not overlap can be
            /// used, and lent, at the same time.
            ///
            /// # Errors
            /// [`Error::OutOfBounds`](crate::Error::OutOfBounds) if the range reaches outside.
            pub fn rows(&self, range: impl std::ops::RangeBounds<usize>) -> Result<$handle<S::Several>>
            where
                S: crate::Rows,
            {
                self.part(|all| all.rows(range))
            }
        }

        /// Makes another handle to the same memory, for functions that take `impl Into` of one.
        impl<S: ?Sized> From<&$handle<S>> for $handle<S> {
            fn from(handle: &$handle<S>) -> Self {
                handle.clone()
            }
        }

        impl<S: ?Sized> crate::ownership::block::sealed::Shareable for $handle<S> {
            fn handle(&self) -> crate::ownership::block::sealed::SharedHandle {
                let memory = crate::ownership::block::SharedMemory::$kind(self.piece.clone());
                crate::ownership::block::sealed::SharedHandle(memory)
            }
        }

        impl<S: ?Sized> crate::Shareable for $handle<S> {
            type Shape = S;
            type Memory = $memory;
        }

        impl<S: ?Sized> std::fmt::Debug for $handle<S> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($handle), "({} bytes)"), self.bytes())
            }
        }
    };
}

mod pool;
mod report;
mod generator;
#[cfg(feature = "cudarc")]
mod of_cudarc;
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
