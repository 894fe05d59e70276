//! Shapes: the Rust types that describe memory, and the relations between them.
//!
//! A buffer's shape is a Rust type: `[[f32; 1024]; 64]` is 64 rows of 1024 elements, `f32` is a single element, `[f32]`
//! has a length that is known when the graph is built, and `Table<f32, 2>` has two of them. Nothing here depends on a
//! device.

pub(crate) mod size;
pub(crate) mod rectangle;
pub(crate) mod bytes;
pub(crate) mod part;
pub(crate) mod float;
pub(crate) mod place;
pub(crate) mod same_shape;
pub(crate) mod rows;
pub(crate) mod table;
pub(crate) mod iterations;
pub(crate) mod builders;

use bytemuck::Pod;
use std::ptr::NonNull;

/// Seals the relations between shapes. The type of a place says its elements, their size and their alignment; that
/// makes it sound to lend references into it and to pass it to kernels.
mod sealed {
    pub trait ArrayOf<T> {}
    pub trait Condition {}
    pub trait Extent {}
}

/// Types that memory may hold: plain data that any thread may see. Arrays of elements are elements.
///
/// With [`Pod`], every byte pattern is a valid value, so the bytes that a kernel writes can be read as this type; and
/// there is no padding, so every byte of a value can be copied to a device.
#[diagnostic::on_unimplemented(
    message = "memory cannot hold `{Self}`",
    label = "not plain data",
    note = "what memory holds is `Pod`, of which any bits are a value, and `Send` and `Sync`",
    note = "a struct: `cargo add bytemuck --features derive`, and `#[repr(C)] #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]` before it",
    note = "numbers of the crate `half`: `cargo add half --features bytemuck`; flags: `u32`, not `bool`",
    note = "in generics, demand `Element`: `graph Name<T: graph_runtime::Element>`"
)]
pub trait Element: Pod + Send + Sync {}

#[diagnostic::do_not_recommend]
impl<T: Pod + Send + Sync> Element for T {}

/// The maximum number of dimensions of a shape.
pub(crate) const MAX_DIMENSIONS: usize = 4;

/// The lengths of a shape that its type does not tell, outermost first: those of a [`Table`](table::Table). For all
/// other shapes, and past the dimensions of a table, they are 0.
pub(crate) type Lengths = [usize; MAX_DIMENSIONS];

/// The [`Lengths`] of shapes that are no tables.
pub(crate) const NO_LENGTHS: Lengths = [0; MAX_DIMENSIONS];

/// An array of up to four dimensions whose innermost elements are `T`, or `T` itself.
///
/// This is the relation between the shape of a buffer and the kernel parameter `&[T]` that takes it.
#[diagnostic::on_unimplemented(
    message = "this takes elements of type `{T}`, but the memory has shape `{Self}`",
    label = "its elements are not `{T}`",
    note = "nothing converts elements: memory and parameter have the same element type"
)]
pub trait ArrayOf<T>: sealed::ArrayOf<T> {}

macro_rules! arrays_of {
    ($($shape:ty, [$($length:ident)*];)*) => {$(
        impl<T, $(const $length: usize),*> sealed::ArrayOf<T> for $shape {}
        #[diagnostic::do_not_recommend]
        impl<T, $(const $length: usize),*> ArrayOf<T> for $shape {}
    )*};
}
arrays_of! {
    T, [];
    [T; A], [A];
    [[T; B]; A], [A B];
    [[[T; C]; B]; A], [A B C];
    [[[[T; D]; C]; B]; A], [A B C D];
    [T], [];
    [[T; B]], [B];
    [[[T; C]; B]], [B C];
    [[[[T; D]; C]; B]], [B C D];
}

/// The layout of a shape in memory: a type whose size is known, or a slice.
pub trait Extent: sealed::Extent {
    /// The size in bytes; `None` for a slice.
    const BYTES: Option<usize>;

    /// A pointer to the shape at an address with `bytes` bytes.
    #[doc(hidden)]
    fn at(address: NonNull<u8>, bytes: usize) -> NonNull<Self>;
}

impl<S> sealed::Extent for S {}
impl<T> sealed::Extent for [T] {}

impl<S> Extent for S {
    const BYTES: Option<usize> = Some(size_of::<S>());

    fn at(address: NonNull<u8>, _: usize) -> NonNull<Self> {
        address.cast()
    }
}

impl<T> Extent for [T] {
    const BYTES: Option<usize> = None;

    fn at(address: NonNull<u8>, bytes: usize) -> NonNull<Self> {
        let len = bytes.checked_div(size_of::<T>()).unwrap_or(0);
        NonNull::slice_from_raw_parts(address.cast(), len)
    }
}

/// The shape of the memory that an `if`, a `while` or a `switch` reads: one `u32`.
#[diagnostic::on_unimplemented(
    message = "a condition is one `u32` in device memory, but this is `{Self}`",
    label = "no `u32`",
    note = "of an array of `u32`s, one can be selected: `flags[0]`"
)]
pub trait Condition: sealed::Condition {}

impl sealed::Condition for u32 {}
#[diagnostic::do_not_recommend]
impl Condition for u32 {}
