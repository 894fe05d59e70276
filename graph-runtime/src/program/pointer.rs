//! The arguments of `capture` and `raw` nodes: addresses with a shape, and a lifetime that ends with the closure.

use crate::driver::CUdeviceptr;
use crate::program::host_call::HostArgument;
use crate::program::tuples::each_tuple;
use crate::shape::place::{DeclaredAccess, Memory, OnDevice, OnHost, Place, Span};
use crate::shape::table::{Table, unpadded};
use crate::shape::{ArrayOf, Lengths};
use graph_plan::Mode;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::slice;

/// Memory of a graph that a `capture` or `raw` node declares to read: an address, and a length of shape `S`.
///
/// Having one is safe. The `unsafe` calls that take the address must not write through it.
pub struct Pointer<'n, S: ?Sized, M> {
    /// The first byte. In device memory, this is an address without provenance.
    first: *mut u8,
    bytes: usize,
    /// The lengths that `S` does not tell.
    lengths: Lengths,
    marker: PointerMarker<'n, S, M>,
}

/// Marks a pointer as usable only in the closure that gets it; the graph owns the memory.
type PointerMarker<'n, S, M> = PhantomData<(&'n (), fn() -> M, fn(&S))>;

impl<S: ?Sized, M> Pointer<'_, S, M> {
    pub(crate) fn new(first: *mut u8, bytes: usize, lengths: Lengths) -> Self {
        Self {
            first,
            bytes,
            lengths,
            marker: PhantomData,
        }
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of elements of type `T`, in all dimensions together.
    pub fn count<T>(&self) -> usize
    where
        S: ArrayOf<T>,
    {
        self.bytes.checked_div(size_of::<T>()).unwrap_or(0)
    }
}

impl<T, const D: usize, M> Pointer<'_, Table<T, D>, M> {
    /// The lengths of the table, outermost first.
    pub fn lengths(&self) -> [usize; D] {
        unpadded(&self.lengths)
    }
}

impl<S: ?Sized> Pointer<'_, S, OnDevice> {
    /// The device address of the first element.
    pub fn address(&self) -> CUdeviceptr {
        self.first.addr() as CUdeviceptr
    }
}

impl<S: ?Sized> Pointer<'_, S, OnHost> {
    /// The first element, of page-locked host memory.
    pub fn as_ptr<T>(&self) -> *const T
    where
        S: ArrayOf<T>,
    {
        self.first.cast_const().cast()
    }
}

impl<S: ?Sized, M> Clone for Pointer<'_, S, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: ?Sized, M> Copy for Pointer<'_, S, M> {}

impl<S: ?Sized, M> fmt::Debug for Pointer<'_, S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:p}, {} bytes", self.first, self.bytes)
    }
}

/// Memory of a graph that a `capture` or `raw` node declares to read and write. It dereferences to [`Pointer`].
pub struct PointerMut<'n, S: ?Sized, M>(Pointer<'n, S, M>);

impl<S: ?Sized, M> PointerMut<'_, S, M> {
    pub(crate) fn new(first: *mut u8, bytes: usize, lengths: Lengths) -> Self {
        Self(Pointer::new(first, bytes, lengths))
    }
}

impl<S: ?Sized> PointerMut<'_, S, OnHost> {
    /// The first element, of page-locked host memory.
    pub fn as_mut_ptr<T>(&self) -> *mut T
    where
        S: ArrayOf<T>,
    {
        self.0.first.cast()
    }
}

impl<'n, S: ?Sized, M> Deref for PointerMut<'n, S, M> {
    type Target = Pointer<'n, S, M>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<S: ?Sized, M> fmt::Debug for PointerMut<'_, S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The address of each resource of a graph.
pub struct Addresses(Vec<*mut u8>);

// SAFETY: the pointers are only numbers here. Using one needs an `unsafe` block elsewhere.
unsafe impl Send for Addresses {}
// SAFETY: as above.
unsafe impl Sync for Addresses {}

impl Addresses {
    /// Takes the first byte of each resource; null if it has no address.
    pub(crate) fn new(first: impl Iterator<Item = *mut u8>) -> Self {
        Self(first.collect())
    }

    /// The address of the first byte of a span.
    fn of(&self, span: Span) -> *mut u8 {
        self.0[span.resource].wrapping_add(span.start)
    }
}

mod sealed {
    pub trait NodeArgument {}
    pub trait NodeArguments {}
}

/// An argument of a `capture` or `raw` node: `&Place` to read it, `&mut Place` to read and write it, or a value in a
/// [`ByValue`].
#[diagnostic::on_unimplemented(
    message = "a `capture` or `raw` node cannot take `{Self}`",
    label = "neither a borrowed place nor a value",
    note = "pass `&place` or `&mut place`"
)]
pub trait NodeArgument: sealed::NodeArgument {
    /// The part of it that is kept until the graph is built.
    #[doc(hidden)]
    type Kept: Kept;

    #[doc(hidden)]
    fn keep(self) -> (Option<DeclaredAccess>, Self::Kept);
}

/// An argument that is kept until a closure gets it.
#[doc(hidden)]
pub trait Kept: Send + 'static {
    /// The argument that the closure gets.
    type Given<'n>;

    fn give<'n>(&self, addresses: &'n Addresses) -> Self::Given<'n>;
}

/// An argument that is kept until the stand-in of captured work gets it: as a reference to a copy of its memory.
#[doc(hidden)]
pub trait Lend: Kept + Clone {
    /// The argument that the stand-in gets: `&S` or `&mut S`, if the memory has shape `S`; for a table, a view; or the
    /// value.
    type Lent<'a>;

    /// Takes as many entries of `memory` as this has places.
    ///
    /// # Safety
    ///
    /// As for [`HostArgument::reference`]: each entry is a pointer to memory of its place's shape, and its length in
    /// bytes. During `'a` nobody else touches that memory.
    unsafe fn lend<'a>(&self, memory: &mut slice::Iter<'_, (NonNull<u8>, usize)>) -> Self::Lent<'a>;
}

/// A place that is read.
#[doc(hidden)]
pub struct Read<S: ?Sized, M>(Place<S, M>);

/// A place that is read and written.
#[doc(hidden)]
pub struct Write<S: ?Sized, M>(Place<S, M>);

impl<S: ?Sized, M> Clone for Read<S, M> {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

impl<S: ?Sized, M> Clone for Write<S, M> {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

impl<S: ?Sized, M: Memory> sealed::NodeArgument for &Place<S, M> {}
impl<S: ?Sized, M: Memory> sealed::NodeArgument for &mut Place<S, M> {}

impl<S: ?Sized + 'static, M: Memory + 'static> NodeArgument for &Place<S, M> {
    type Kept = Read<S, M>;

    fn keep(self) -> (Option<DeclaredAccess>, Read<S, M>) {
        (Some(DeclaredAccess::new(self, Mode::Read)), Read(*self))
    }
}

impl<S: ?Sized + 'static, M: Memory + 'static> NodeArgument for &mut Place<S, M> {
    type Kept = Write<S, M>;

    fn keep(self) -> (Option<DeclaredAccess>, Write<S, M>) {
        (Some(DeclaredAccess::new(self, Mode::ReadWrite)), Write(*self))
    }
}

impl<S: ?Sized + 'static, M: Memory + 'static> Kept for Read<S, M> {
    type Given<'n> = Pointer<'n, S, M>;

    fn give<'n>(&self, addresses: &'n Addresses) -> Pointer<'n, S, M> {
        Pointer::new(addresses.of(self.0.span), self.0.span.bytes, self.0.lengths)
    }
}

impl<S: ?Sized + 'static, M: Memory + 'static> Kept for Write<S, M> {
    type Given<'n> = PointerMut<'n, S, M>;

    fn give<'n>(&self, addresses: &'n Addresses) -> PointerMut<'n, S, M> {
        PointerMut::new(addresses.of(self.0.span), self.0.span.bytes, self.0.lengths)
    }
}

/// Host functions get places on the host; stand-ins get copies of any places in the same way.
type AsRead<S> = &'static Place<S, OnHost>;
type AsWrite<S> = &'static mut Place<S, OnHost>;

impl<S: ?Sized + 'static, M: Memory + 'static> Lend for Read<S, M>
where
    AsRead<S>: HostArgument,
{
    type Lent<'a> = <AsRead<S> as HostArgument>::Reference<'a>;

    unsafe fn lend<'a>(&self, memory: &mut slice::Iter<'_, (NonNull<u8>, usize)>) -> Self::Lent<'a> {
        let &(pointer, bytes) = memory.next().expect("there is an entry for each place");
        // SAFETY: by the caller's promise.
        unsafe { <AsRead<S>>::reference(pointer, bytes, &self.0.lengths) }
    }
}

impl<S: ?Sized + 'static, M: Memory + 'static> Lend for Write<S, M>
where
    AsWrite<S>: HostArgument,
{
    type Lent<'a> = <AsWrite<S> as HostArgument>::Reference<'a>;

    unsafe fn lend<'a>(&self, memory: &mut slice::Iter<'_, (NonNull<u8>, usize)>) -> Self::Lent<'a> {
        let &(pointer, bytes) = memory.next().expect("there is an entry for each place");
        // SAFETY: by the caller's promise.
        unsafe { <AsWrite<S>>::reference(pointer, bytes, &self.0.lengths) }
    }
}

/// An argument that is passed by value: the closure gets a clone.
#[derive(Clone, Copy, Debug)]
pub struct ByValue<T>(pub T);

impl<T> sealed::NodeArgument for ByValue<T> {}

impl<T: Clone + Send + 'static> NodeArgument for ByValue<T> {
    type Kept = Self;

    fn keep(self) -> (Option<DeclaredAccess>, Self) {
        (None, self)
    }
}

impl<T: Clone + Send + 'static> Kept for ByValue<T> {
    type Given<'n> = T;

    fn give(&self, _addresses: &Addresses) -> T {
        self.0.clone()
    }
}

impl<T: Clone + Send + 'static> Lend for ByValue<T> {
    type Lent<'a> = T;

    unsafe fn lend<'a>(&self, _memory: &mut slice::Iter<'_, (NonNull<u8>, usize)>) -> Self::Lent<'a> {
        self.0.clone()
    }
}

/// The arguments of a `capture` or `raw` node: a tuple of up to twelve [`NodeArgument`]s.
#[diagnostic::on_unimplemented(
    message = "a `capture` or `raw` node cannot take `{Self}`",
    label = "not a tuple of borrowed places",
    note = "the arguments are a tuple of `&Place` and `&mut Place`: `(&a, &mut b)`, and `(&a,)` for one"
)]
pub trait NodeArguments: sealed::NodeArguments {
    /// The part of them that is kept until the graph is built.
    #[doc(hidden)]
    type Kept: Kept;

    #[doc(hidden)]
    fn keep(self) -> (Vec<DeclaredAccess>, Self::Kept);
}

impl sealed::NodeArguments for () {}

impl NodeArguments for () {
    type Kept = ();

    fn keep(self) -> (Vec<DeclaredAccess>, ()) {
        (Vec::new(), ())
    }
}

impl Kept for () {
    type Given<'n> = ();

    fn give<'n>(&self, _addresses: &'n Addresses) -> Self::Given<'n> {}
}

impl Lend for () {
    type Lent<'a> = ();

    unsafe fn lend<'a>(&self, _memory: &mut slice::Iter<'_, (NonNull<u8>, usize)>) -> Self::Lent<'a> {}
}

macro_rules! tuples {
    ($([$($argument:ident $index:tt)*])*) => {$(
        impl<$($argument: NodeArgument),*> sealed::NodeArguments for ($($argument,)*) {}

        impl<$($argument: NodeArgument),*> NodeArguments for ($($argument,)*) {
            type Kept = ($($argument::Kept,)*);

            fn keep(self) -> (Vec<DeclaredAccess>, Self::Kept) {
                let mut declared = Vec::new();
                let kept = ($({
                    let (place, kept) = self.$index.keep();
                    declared.extend(place);
                    kept
                },)*);
                (declared, kept)
            }
        }

        impl<$($argument: Kept),*> Kept for ($($argument,)*) {
            type Given<'n> = ($($argument::Given<'n>,)*);

            fn give<'n>(&self, addresses: &'n Addresses) -> Self::Given<'n> {
                ($(self.$index.give(addresses),)*)
            }
        }

        impl<$($argument: Lend),*> Lend for ($($argument,)*) {
            type Lent<'a> = ($($argument::Lent<'a>,)*);

            unsafe fn lend<'a>(&self, memory: &mut slice::Iter<'_, (NonNull<u8>, usize)>) -> Self::Lent<'a> {
                // SAFETY: by the caller's promise; each argument takes its own entries.
                ($(unsafe { self.$index.lend(memory) },)*)
            }
        }
    )*};
}
each_tuple!(tuples);
