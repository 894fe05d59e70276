//! Places: typed names of memory in one graph. A place is a resource's index and a range of bytes, never a pointer.

use crate::error::{Error, Result, Site};
use crate::shape::Rows;
use graph_plan::Mode;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

mod sealed {
    pub trait Memory {
        const SPACE: graph_plan::Space;
    }
}

/// The kind of memory of a place: [`OnHost`] or [`OnDevice`].
pub trait Memory: sealed::Memory {}

/// The kind of a place in page-locked host memory.
#[derive(Debug)]
pub enum OnHost {}

/// The kind of a place in device memory.
#[derive(Debug)]
pub enum OnDevice {}

impl sealed::Memory for OnHost {
    const SPACE: graph_plan::Space = graph_plan::Space::Host;
}

impl sealed::Memory for OnDevice {
    const SPACE: graph_plan::Space = graph_plan::Space::Device;
}

impl Memory for OnHost {}
impl Memory for OnDevice {}

/// The untyped part of a [`Place`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The id of the builder that issued it. A graph refuses places of another builder.
    pub(crate) graph: u64,
    /// The resource's index.
    pub(crate) resource: usize,
    /// The offset in the resource, in bytes.
    pub(crate) start: usize,
    /// Its size in bytes.
    pub(crate) bytes: usize,
    /// Whether an index or range reached outside the place that it was applied to. Then `build` reports
    /// `out-of-bounds`.
    pub(crate) outside: bool,
}

/// A place that a node declares to touch, and whether it reads or writes it.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredAccess {
    pub(crate) span: Span,
    pub(crate) mode: Mode,
}

impl DeclaredAccess {
    pub(crate) fn new(span: Span, mode: Mode) -> Self {
        Self { span, mode }
    }
}

/// A name for all or part of a graph's resource: memory of shape `S`, in [`OnHost`] or [`OnDevice`] memory `M`.
/// [`GraphBuilder`](crate::GraphBuilder) returns places when memory is declared.
///
/// A place is a range of bytes. It is cheap to copy and keeps nothing alive; using it with another graph is an error.
pub struct Place<S: ?Sized, M> {
    pub(crate) span: Span,
    marker: Marker<S, M>,
}

/// The marker of a place, which owns neither its shape nor its memory, so any thread may have it.
pub(crate) type Marker<S, M> = PhantomData<(fn() -> M, fn(&S))>;

impl<S: ?Sized, M> Place<S, M> {
    pub(crate) fn new(span: Span) -> Self {
        Self {
            span,
            marker: PhantomData,
        }
    }

    /// The size in bytes.
    pub fn bytes(&self) -> usize {
        self.span.bytes
    }

    /// Copies the place. (Kernel calls take `&mut Place`: this makes one to lend.)
    pub fn whole(&self) -> Self {
        *self
    }
}

impl<S: ?Sized, M> Place<S, M> {
    /// The element `index` of the outermost dimension: `x[index]`. If it is out of bounds, `build` fails with
    /// [`Error::Invalid`] (`out-of-bounds`) if a node uses it.
    pub fn row(&self, index: usize) -> Place<S::Row, M>
    where
        S: Rows,
    {
        Place::new(self.part::<S>(index, index.saturating_add(1)))
    }

    /// The elements `range` of the outermost dimension: `x[a..b]`. If it is out of bounds, `build` fails with
    /// [`Error::Invalid`] (`out-of-bounds`) if a node uses it.
    pub fn rows(&self, range: impl RangeBounds<usize>) -> Place<[S::Row], M>
    where
        S: Rows,
    {
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => self.span.bytes.checked_div(size_of::<S::Row>()).unwrap_or(0),
        };
        Place::new(self.part::<S>(start, end))
    }

    /// `LEN` elements of the outermost dimension from `start` on. As [`Place::rows`], with the length in the type.
    pub fn rows_from<const LEN: usize>(&self, start: usize) -> Place<[S::Row; LEN], M>
    where
        S: Rows,
    {
        Place::new(self.part::<S>(start, start.saturating_add(LEN)))
    }

    fn part<T: Rows + ?Sized>(&self, start: usize, end: usize) -> Span {
        let row = size_of::<T::Row>();
        let (from, to) = (start.saturating_mul(row), end.saturating_mul(row));
        let outside = self.span.outside || start > end || to > self.span.bytes;
        if outside {
            return Span { outside, ..self.span };
        }
        Span {
            start: self.span.start + from,
            bytes: to - from,
            ..self.span
        }
    }
}

/// The part that `f` selects in memory of `bytes` bytes: its offset and its size in bytes.
pub(crate) fn select<S: ?Sized, M>(bytes: usize, f: impl FnOnce(Place<S, M>) -> Span) -> Result<(usize, usize)> {
    let span = f(Place::new(Span {
        graph: 0,
        resource: 0,
        start: 0,
        bytes,
        outside: false,
    }));
    if span.outside {
        return Err(Error::OutOfBounds { site: Site::buffer() });
    }
    Ok((span.start, span.bytes))
}

impl<S: ?Sized, M> Clone for Place<S, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: ?Sized, M> Copy for Place<S, M> {}

impl<S: ?Sized, M> fmt::Debug for Place<S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Place").field(&self.span).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place<S: ?Sized>(bytes: usize) -> Place<S, OnDevice> {
        Place::new(Span {
            graph: 1,
            resource: 0,
            start: 0,
            bytes,
            outside: false,
        })
    }

    fn bytes<S: ?Sized>(place: Place<S, OnDevice>) -> Option<(usize, usize)> {
        (!place.span.outside).then_some((place.span.start, place.span.bytes))
    }

    #[test]
    fn rows_are_byte_ranges() {
        let matrix = place::<[[f32; 4]; 8]>(128);
        assert_eq!(bytes(matrix.row(2)), Some((32, 16)));
        assert_eq!(bytes(matrix.row(2).row(3)), Some((44, 4)));
        assert_eq!(bytes(matrix.rows(2..5)), Some((32, 48)));
        assert_eq!(bytes(matrix.rows(..)), Some((0, 128)));
        assert_eq!(bytes(matrix.rows(7..=7)), Some((112, 16)));
        assert_eq!(bytes(matrix.rows(6..).row(1)), Some((112, 16)));
        assert_eq!(bytes(matrix.rows_from::<2>(1)), Some((16, 32)));
    }

    #[test]
    fn leaving_a_place_is_remembered() {
        let matrix = place::<[[f32; 4]; 8]>(128);
        assert_eq!(bytes(matrix.row(8)), None);
        assert_eq!(
            bytes(matrix.row(7).row(4)),
            None,
            "inside the resource, outside the row"
        );
        #[expect(clippy::reversed_empty_ranges, reason = "this is the mistake under test")]
        let reversed = matrix.rows(5..3);
        assert_eq!(bytes(reversed), None);
        assert_eq!(bytes(matrix.rows(..9).row(0)), None);
        assert_eq!(bytes(matrix.row(usize::MAX)), None);
        assert_eq!(bytes(matrix.rows_from::<2>(7)), None);
    }
}
