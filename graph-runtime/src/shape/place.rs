//! Places: typed names of memory in one graph. A place is a resource's index and a range of bytes, never a pointer.

use crate::error::{Error, Result, Site};
use crate::shape::rows::Rows;
use crate::shape::same_shape::SameShape;
use crate::shape::table::{Table, unpadded};
use crate::shape::{Lengths, NO_LENGTHS};
use graph_plan::Mode;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

mod sealed {
    pub trait Copied {}
    pub trait TexelMemory {}
}

/// The kind of memory of a place that has addresses: [`OnHost`] or [`OnDevice`].
pub trait Memory: Copied {}

/// The kind of memory of a place that copies take: [`OnHost`], [`OnDevice`] or [`OnArray`].
pub trait Copied: sealed::Copied {}

/// The kind of memory of a place that kernels can read as texels: [`OnDevice`] or [`OnArray`].
pub trait TexelMemory: sealed::TexelMemory {}

/// A kind of memory that a graph declares for itself.
pub trait OwnMemory {
    /// The kind in the draft.
    const MEMORY: graph_plan::Memory;
    /// The kind of its places.
    type Place;
}

/// The kind of a place in page-locked host memory.
#[derive(Debug)]
pub enum OnHost {}

/// The kind of a place in device memory.
#[derive(Debug)]
pub enum OnDevice {}

/// The kind of a place in [mapped](crate::GraphBuilder::mapped) host memory, which only kernels take.
#[derive(Debug)]
pub enum OnMapped {}

/// The kind of a place in a CUDA [array](crate::GraphBuilder::array), which has no address: only kernels and copies
/// take it.
#[derive(Debug)]
pub enum OnArray {}

impl sealed::Copied for OnHost {}
impl sealed::Copied for OnDevice {}
impl sealed::Copied for OnArray {}
impl Copied for OnHost {}
impl Copied for OnDevice {}
impl Copied for OnArray {}
impl Memory for OnHost {}
impl Memory for OnDevice {}
impl sealed::TexelMemory for OnDevice {}
impl sealed::TexelMemory for OnArray {}
impl TexelMemory for OnDevice {}
impl TexelMemory for OnArray {}

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
    pub(crate) lengths: Lengths,
    pub(crate) mode: Mode,
}

impl DeclaredAccess {
    pub(crate) fn new<S: ?Sized, M>(place: &Place<S, M>, mode: Mode) -> Self {
        Self {
            span: place.span,
            lengths: place.lengths,
            mode,
        }
    }
}

/// A name for all or part of a graph's resource: memory of shape `S`, in [`OnHost`] or [`OnDevice`] memory `M`.
/// [`GraphBuilder`](crate::GraphBuilder) returns places when memory is declared.
///
/// A place is a range of bytes. It is cheap to copy and keeps nothing alive; using it with another graph is an error.
pub struct Place<S: ?Sized, M> {
    pub(crate) span: Span,
    /// The lengths that `S` does not tell.
    pub(crate) lengths: Lengths,
    marker: Marker<S, M>,
}

/// The marker of a place, which owns neither its shape nor its memory, so any thread may have it.
pub(crate) type Marker<S, M> = PhantomData<(fn() -> M, fn(&S))>;

impl<S: ?Sized, M> Place<S, M> {
    /// A place whose shape is no table.
    pub(crate) fn new(span: Span) -> Self {
        Self::with_lengths(span, NO_LENGTHS)
    }

    /// A place. If its shape is a table, these are its lengths, and `span` has their bytes.
    pub(crate) fn with_lengths(span: Span, lengths: Lengths) -> Self {
        Self {
            span,
            lengths,
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
    /// The place with the shape of a table. The caller compares its lengths.
    pub(crate) fn as_table<T, const D: usize>(&self) -> Place<Table<T, D>, M>
    where
        S: SameShape<Table<T, D>>,
    {
        Place::with_lengths(self.span, S::converted(self.span.bytes, &self.lengths))
    }
}

impl<T, const D: usize, M> Place<Table<T, D>, M> {
    /// The lengths of the table, outermost first.
    pub fn lengths(&self) -> [usize; D] {
        unpadded(&self.lengths)
    }
}

impl<S: ?Sized + Rows, M> Place<S, M> {
    /// The element `index` of the outermost dimension: `x[index]`. If it is out of bounds, `build` fails with
    /// [`Error::Invalid`] (`out-of-bounds`) if a node uses it.
    pub fn row(&self, index: usize) -> Place<S::Row, M> {
        let span = self.part(index, index.saturating_add(1));
        Place::with_lengths(span, S::row_lengths(&self.lengths))
    }

    /// The elements `range` of the outermost dimension: `x[a..b]`. If it is out of bounds, `build` fails with
    /// [`Error::Invalid`] (`out-of-bounds`) if a node uses it.
    pub fn rows(&self, range: impl RangeBounds<usize>) -> Place<S::Several, M> {
        let (start, end) = self.bounds(range);
        self.several(start, end)
    }

    /// `LEN` elements of the outermost dimension from `start` on. As [`Place::rows`], with the length in the type.
    pub fn rows_from<const LEN: usize>(&self, start: usize) -> Place<S::Exactly<LEN>, M> {
        self.several(start, start.saturating_add(LEN))
    }

    /// Start and end of a range of the outermost dimension.
    pub(crate) fn bounds(&self, range: impl RangeBounds<usize>) -> (usize, usize) {
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => S::count(self.span.bytes, &self.lengths).unwrap_or(0),
        };
        (start, end)
    }

    /// The rows from `start` to `end`. The shape is that of some rows of `S`.
    fn several<P: ?Sized>(&self, start: usize, end: usize) -> Place<P, M> {
        let mut lengths = self.lengths;
        lengths[0] = end.saturating_sub(start);
        Place::with_lengths(self.part(start, end), S::kept(lengths))
    }

    fn part(&self, start: usize, end: usize) -> Span {
        let row = S::row_bytes(&self.lengths);
        let (from, to) = (start.saturating_mul(row), end.saturating_mul(row));
        let count = S::count(self.span.bytes, &self.lengths);
        let left = to > self.span.bytes || count.is_some_and(|count| end > count);
        let outside = self.span.outside || start > end || left;
        if outside {
            return Span { outside, ..self.span };
        }
        Span {
            // Saturating: the empty rows of a rectangle are widened to a pitch, and a length may be huge.
            start: self.span.start.saturating_add(from),
            bytes: to - from,
            ..self.span
        }
    }
}

/// A part of a buffer.
#[derive(Clone, Copy)]
pub(crate) struct Selected {
    /// The start in the buffer, in bytes.
    pub(crate) start: usize,
    /// The size in bytes.
    pub(crate) bytes: usize,
    /// The lengths that its shape does not tell.
    pub(crate) lengths: Lengths,
}

/// The part that `f` selects in memory of `bytes` bytes.
pub(crate) fn select<S: ?Sized, P: ?Sized, M>(
    bytes: usize,
    lengths: Lengths,
    site: impl FnOnce() -> Site,
    f: impl FnOnce(Place<S, M>) -> Place<P, M>,
) -> Result<Selected> {
    let all = Span {
        graph: 0,
        resource: 0,
        start: 0,
        bytes,
        outside: false,
    };
    let Place { span, lengths, .. } = f(Place::with_lengths(all, lengths));
    if span.outside {
        return Err(Error::OutOfBounds { site: site() });
    }
    Ok(Selected {
        start: span.start,
        bytes: span.bytes,
        lengths,
    })
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
    use crate::shape::table::{bytes_of, padded};

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

    fn table<const D: usize>(lengths: [usize; D]) -> Place<Table<f32, D>, OnDevice> {
        let span = place::<f32>(bytes_of::<f32>(&lengths)).span;
        Place::with_lengths(span, padded(lengths))
    }

    #[test]
    fn rows_of_tables_are_byte_ranges() {
        let matrix = table([8, 3]);
        assert_eq!(bytes(matrix.row(2)), Some((24, 12)));
        assert_eq!(bytes(matrix.row(2).row(2)), Some((32, 4)));
        assert_eq!(bytes(matrix.rows(2..5)), Some((24, 36)));
        assert_eq!(matrix.rows(2..5).lengths(), [3, 3]);
        assert_eq!(bytes(matrix.rows(6..).row(1)), Some((84, 12)));
        assert_eq!(bytes(matrix.rows_from::<2>(1)), Some((12, 24)));
        let cube = table([2, 3, 5]);
        assert_eq!(cube.row(1).lengths(), [3, 5]);
        assert_eq!(bytes(cube.row(1).row(2)), Some((60 + 40, 20)));
        let deep = table([2, 3, 5, 7]);
        assert_eq!(deep.rows(1..).lengths(), [1, 3, 5, 7]);
        assert_eq!(bytes(deep.row(1).row(2).row(4)), Some(((15 + 10 + 4) * 28, 28)));
    }

    #[test]
    fn leaving_a_table_is_remembered_even_if_it_has_no_bytes() {
        assert_eq!(bytes(table([8, 3]).row(8)), None);
        assert_eq!(bytes(table([8, 3]).row(7).row(3)), None);
        assert_eq!(bytes(table([8, 3]).rows(..9)), None);
        let empty = table([4, 0]);
        assert_eq!(bytes(empty.row(3)), Some((0, 0)));
        assert_eq!(bytes(empty.row(4)), None);
        assert_eq!(empty.rows(1..).lengths(), [3, 0]);
        let huge = table([usize::MAX, 2]);
        assert!(bytes(huge.row(usize::MAX - 1).row(0)).is_none_or(|(start, bytes)| start.checked_add(bytes).is_some()));
        // An empty row, widened to its pitch.
        let _ = table([2, usize::MAX]).rectangle_of(1..2, 1..2);
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
