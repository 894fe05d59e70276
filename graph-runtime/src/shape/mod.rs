//! Shapes: the Rust types that describe memory, and the relations between them.
//!
//! A buffer's shape is a Rust type: `[[f32; 1024]; 64]` is 64 rows of 1024 elements, `f32` is a single element, and
//! `[f32]` has a length that is known when the graph is built. Nothing here depends on a device.

pub(crate) mod rectangle;
pub(crate) mod part;
pub(crate) mod place;
pub(crate) mod iterations;

use bytemuck::Pod;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// Seals the relations between shapes. The type of a place says its elements, their size and their alignment; that
/// makes it sound to lend references into it and to pass it to kernels.
mod sealed {
    pub trait ArrayOf<T> {}
    pub trait SameShape<Destination: ?Sized> {}
    pub trait Rows {}
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
    note = "in generics, demand `Element`: `graph Name<T: graph_runtime::Element>`"
)]
pub trait Element: Pod + Send + Sync {}

#[diagnostic::do_not_recommend]
impl<T: Pod + Send + Sync> Element for T {}

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

/// The shape of a rectangle whose number of rows, and of elements `T` in each row, are known when the graph is built.
#[derive(Debug)]
pub struct Table<T> {
    rows: PhantomData<T>,
}

macro_rules! tables_of {
    ($($element:ty, [$($length:ident)*];)*) => {$(
        impl<T, $(const $length: usize),*> sealed::ArrayOf<T> for Table<$element> {}
        #[diagnostic::do_not_recommend]
        impl<T, $(const $length: usize),*> ArrayOf<T> for Table<$element> {}
    )*};
}
tables_of! {
    T, [];
    [T; A], [A];
    [[T; B]; A], [A B];
}

/// The relation between the two sides of a memcpy: they have the same shape. If the outermost length of one is known
/// only when the graph is built, the lengths are compared then.
#[diagnostic::on_unimplemented(
    message = "a memcpy from `{Self}` to `{Destination}` changes the shape [shape-mismatch]",
    label = "has shape `{Self}`",
    note = "copy between resources of one shape, or between ranges of one length"
)]
pub trait SameShape<Destination: ?Sized>: sealed::SameShape<Destination> {}

impl<S: ?Sized> sealed::SameShape<S> for S {}
impl<R, const N: usize> sealed::SameShape<[R]> for [R; N] {}
impl<R, const N: usize> sealed::SameShape<[R; N]> for [R] {}
impl<T, const N: usize, const M: usize> sealed::SameShape<Table<T>> for [[T; N]; M] {}
impl<T, const N: usize, const M: usize> sealed::SameShape<[[T; N]; M]> for Table<T> {}
impl<T, const N: usize> sealed::SameShape<Table<T>> for [[T; N]] {}
impl<T, const N: usize> sealed::SameShape<[[T; N]]> for Table<T> {}

#[diagnostic::do_not_recommend]
impl<S: ?Sized> SameShape<S> for S {}
#[diagnostic::do_not_recommend]
impl<R, const N: usize> SameShape<[R]> for [R; N] {}
#[diagnostic::do_not_recommend]
impl<R, const N: usize> SameShape<[R; N]> for [R] {}
#[diagnostic::do_not_recommend]
impl<T, const N: usize, const M: usize> SameShape<Table<T>> for [[T; N]; M] {}
#[diagnostic::do_not_recommend]
impl<T, const N: usize, const M: usize> SameShape<[[T; N]; M]> for Table<T> {}
#[diagnostic::do_not_recommend]
impl<T, const N: usize> SameShape<Table<T>> for [[T; N]] {}
#[diagnostic::do_not_recommend]
impl<T, const N: usize> SameShape<[[T; N]]> for Table<T> {}

/// A shape with an outermost dimension, from which an index or a range selects: `[T; N]` or `[T]`.
#[diagnostic::on_unimplemented(
    message = "memory of shape `{Self}` has no dimension to select from [out-of-bounds]",
    label = "not an array"
)]
pub trait Rows: sealed::Rows {
    /// One element of the outermost dimension.
    type Row: Element;
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

impl<R, const N: usize> sealed::Rows for [R; N] {}
impl<R> sealed::Rows for [R] {}

impl<R: Element, const N: usize> Rows for [R; N]
where
    [R; N]: Element,
{
    type Row = R;
}

impl<R: Element> Rows for [R] {
    type Row = R;
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
