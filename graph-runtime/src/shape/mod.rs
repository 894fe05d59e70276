//! Shapes: which Rust types describe memory, and how they relate.
//!
//! A buffer's shape is a Rust type: `[[f32; 1024]; 64]` is 64 rows of 1024, `f32` a buffer of one, `[f32]` a buffer
//! whose length is known at build. Nothing here knows of devices.

pub(crate) mod rectangle;
pub(crate) mod part;
pub(crate) mod place;
pub(crate) mod iterations;

use bytemuck::Pod;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// Relations between shapes are sealed: what a place's type says of its elements, their size and alignment, is what
/// makes it sound to lend references into it and to hand it to kernels.
mod sealed {
    pub trait ArrayOf<T> {}
    pub trait SameShape<Destination: ?Sized> {}
    pub trait Rows {}
    pub trait Condition {}
    pub trait Extent {}
}

/// Types that memory may hold: plain data that any thread may see. Arrays of elements are elements.
///
/// [`Pod`] makes every byte pattern a valid value, so what a kernel writes can be read as this type, and leaves no
/// padding, so all of a value can be copied to a device.
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

/// The shape of rows of which only build knows how many there are, and how many `T`s each has.
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

/// The two sides of a memcpy have the same shape. Where the outermost length of one is known only at build, lengths are
/// compared there.
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

/// A shape with an outermost dimension, which an index or a range selects from.
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
    /// The size in bytes, where the type tells.
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

/// The shape of a condition: an `if`, a `while` or a `switch` reads it.
#[diagnostic::on_unimplemented(
    message = "a condition is one `u32` in device memory, but this is `{Self}`",
    label = "no `u32`",
    note = "of an array of `u32`s, one can be selected: `flags[0]`"
)]
pub trait Condition: sealed::Condition {}

impl sealed::Condition for u32 {}
#[diagnostic::do_not_recommend]
impl Condition for u32 {}
