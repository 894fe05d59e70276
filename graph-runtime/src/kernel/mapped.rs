//! Elements that kernels and the host access at the same time.

use crate::shape::Element;
use std::marker::PhantomData;

mod sealed {
    pub trait Word {}
}

/// Numbers that the host and a kernel can load and store as one: of 4 or 8 bytes.
#[diagnostic::on_unimplemented(
    message = "host and kernel cannot both access elements `{Self}`",
    label = "expected `u32`, `i32`, `u64`, `i64`, `f32` or `f64`"
)]
pub trait Word: Element + sealed::Word {}

macro_rules! words {
    ($($ty:ty)*) => {$(
        impl sealed::Word for $ty {}
        impl Word for $ty {}
    )*};
}
words!(u32 i32 u64 i64 f32 f64);

/// An element of `mapped` memory, which the host may load and store while a kernel does, in the declaration of a
/// kernel: `&[Mapped<T>]`. `T` is `u32`, `i32`, `u64`, `i64`, `f32` or `f64`.
///
/// The kernel accesses the memory by loads and stores of elements of this size that are strong for the whole system:
/// `volatile`, or `relaxed`, `acquire` or `release` with `.sys`. In CUDA C++ these are accesses of `volatile` elements
/// and, in `cuda::atomic_ref<T, cuda::thread_scope_system>`, `load` and `store`. If the kernel is declared `safe`, PTX
/// that accesses the memory in any other way is refused. Atomic updates (`atomicAdd_system`) are among these: where the
/// GPU reaches host memory by PCI Express, they are not atomic for the host.
///
/// A `release` store, or a `volatile` store after `__threadfence_system()`, makes all earlier stores to mapped memory
/// visible to a host that has loaded its value by [`MappedHost::load`](crate::MappedHost::load).
///
/// ```
/// use graph_runtime::{Device, Mapped, cuda_graph, cuda_kernels};
///
/// #[cuda_kernels("tests/kernels/mapped.ptx")] // relative to the crate's manifest
/// unsafe extern "C" {
///     /// `tokens[position] = position * position + 1`, then `position += 1`; `more = position < len && stop == 0`
///     #[requires(grid == 1 && block == 1 && len <= tokens.len())]
///     safe fn next(tokens: &[Mapped<u32>], len: u32, stop: &Mapped<u32>, position: &mut u32, more: &mut u32);
/// }
///
/// cuda_graph! {
///     graph Decode {
///         mapped tokens: [u32; 8];
///         mapped stop: u32;
///         device position: u32;
///         device more: u32;
///
///         memset start = position <- 0;
///         memset go = more <- 1;
///         while decode = more {
///             kernel step = next<<<1, 1>>>(&tokens, 8, &stop, &mut position, &mut more);
///         } after start, go;
///     }
/// }
///
/// let mut graph = Decode::build(&Device::emulator())?;
/// let tokens = graph.tokens()?;
/// let reader = std::thread::spawn(move || {
///     let token = |index| loop {
///         match tokens.load(index) {
///             Ok(0) => std::thread::yield_now(), // not there yet
///             token => break token,
///         }
///     };
///     (0..8).map(token).collect::<Result<Vec<u32>, _>>() // while the graph runs
/// });
/// graph.launch()?;
/// assert_eq!(reader.join().unwrap()?, [1, 2, 5, 10, 17, 26, 37, 50]);
/// # Ok::<(), graph_runtime::Error>(())
/// ```
#[derive(Debug)]
pub struct Mapped<T: Word> {
    element: PhantomData<T>,
}
