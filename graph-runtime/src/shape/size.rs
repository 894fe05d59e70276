//! The size of memory of a shape, which a declaration needs beside the type.

use crate::shape::float::Float;
use crate::shape::part::Layout;
use crate::shape::place::Marker;
use crate::shape::rows::Tabular;
use crate::shape::table::{Table, bytes_of, padded};
use crate::shape::{Element, Lengths, NO_LENGTHS};
use std::marker::PhantomData;

/// The size of memory of shape `S`.
pub(crate) struct Size<S: ?Sized> {
    pub(crate) layout: Layout,
    /// The lengths that `S` does not tell.
    pub(crate) lengths: Lengths,
    marker: Marker<S, ()>,
}

impl<S: ?Sized> Size<S> {
    fn new<T>(bytes: usize, lengths: Lengths) -> Self {
        let align = align_of::<T>();
        Self {
            layout: Layout {
                bytes,
                align,
                float: Float::of::<S>(),
            },
            lengths,
            marker: PhantomData,
        }
    }
}

impl<S: Element> Size<S> {
    /// The size that the type tells.
    pub(crate) fn fixed() -> Self {
        Self::new::<S>(size_of::<S>(), NO_LENGTHS)
    }
}

impl<T: Element> Size<[T]> {
    /// The size of `len` elements.
    pub(crate) fn slice(len: usize) -> Self {
        Self::new::<T>(len.saturating_mul(size_of::<T>()), NO_LENGTHS)
    }
}

impl<T: Element, const D: usize> Size<Table<T, D>>
where
    Table<T, D>: Tabular,
{
    /// The size of a table of these lengths.
    pub(crate) fn table(lengths: [usize; D]) -> Self {
        Self::new::<T>(bytes_of::<T>(&lengths), padded(lengths))
    }
}
