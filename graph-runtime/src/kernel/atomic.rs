//! Elements that kernels access by atomic operations alone.

use crate::shape::Element;
use std::marker::PhantomData;

/// An element of memory that a kernel accesses by atomic operations alone, in the declaration of a kernel:
/// `&[Atomic<T>]`. Nodes that access memory so need no order among each other.
///
/// `T` is `u32`, `i32`, `u64`, `i64`, `f32` or `f64`, or any other [`Element`] of 2, 4, 8 or 16 bytes that is
/// aligned to its size, since PTX knows bits and not types. For `f16` and `bf16`, it can be `half::f16` and
/// `half::bf16`, or `u16`, which has their bits.
///
/// The graph's memory has elements `T`, and a node passes `&bins`. The kernel may use `atom` and `red` (`atomicAdd` and
/// others like it) if they are atomic on the whole GPU and their elements are as large as `T`. If the kernel is
/// declared `safe`, PTX that loads or stores the memory in any other way is refused.
///
/// ```
/// use graph_runtime::{Atomic, Device, cuda_graph, cuda_kernels};
///
/// #[cuda_kernels("tests/kernels/atomic.ptx")] // relative to the crate's manifest
/// unsafe extern "C" {
///     /// `bins[bytes[i]] += 1`, one thread for each byte
///     #[requires(threads <= bytes.len())]
///     safe fn histogram(bins: &[Atomic<u32>; 256], bytes: &[u8]);
/// }
///
/// cuda_graph! {
///     graph Histogram {
///         device left: [u8; 64];
///         device right: [u8; 64];
///         scratch bins: [u32; 256];
///         host counts: [u32; 256];
///
///         memset clear = bins <- 0;
///         kernel count_left = histogram<<<1, 64>>>(&bins, &left) after clear;
///         kernel count_right = histogram<<<1, 64>>>(&bins, &right) after clear;
///         memcpy down = bins -> counts after count_left, count_right;
///     }
/// }
///
/// let mut graph = Histogram::build(&Device::emulator())?;
/// graph.left_mut()?.copy_from(&[7; 64])?;
/// graph.launch()?;
/// assert_eq!((graph.counts()?[0], graph.counts()?[7]), (64, 64));
/// # Ok::<(), graph_runtime::Error>(())
/// ```
#[derive(Debug)]
pub struct Atomic<T: Element> {
    element: PhantomData<T>,
}
