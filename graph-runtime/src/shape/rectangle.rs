//! Columns of a matrix: rows of memory that lie apart. Copies and memsets take them; kernels do not.

use crate::shape::Lengths;
use crate::shape::bytes::{Bytes, Selection};
use crate::shape::place::{Marker, Memory, Place, Span};
use crate::shape::rows::{Rows, sealed};
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

/// Some columns of some rows of a resource: memory of shape `S`, in [`OnHost`](crate::OnHost) or
/// [`OnDevice`](crate::OnDevice) memory `M`. [`Place::rectangle`] and the functions after it select them.
///
/// It is not a [`Place`], since its rows lie apart: kernels do not take it. A place of two dimensions converts into a
/// rectangle, by `Rectangle::from`.
pub struct Rectangle<S: ?Sized, M> {
    pub(crate) span: Bytes,
    /// The lengths that `S` does not tell.
    pub(crate) lengths: Lengths,
    marker: Marker<S, M>,
}

/// The shape of one row.
type Row<S> = <S as Rows>::Row;

impl<S: ?Sized, M> Rectangle<S, M> {
    fn new(span: Bytes, lengths: Lengths) -> Self {
        Self {
            span,
            lengths,
            marker: PhantomData,
        }
    }
}

/// Some columns of some rows.
struct Columns {
    span: Bytes,
    /// The numbers of rows and columns, and the inner lengths of a column that its shape does not tell.
    lengths: Lengths,
}

impl<S: ?Sized, M> Place<S, M> {
    /// `R` rows from `row` on, and of each row `C` elements from `column` on:
    /// `x[row..row + R][column..column + C]`. If it is out of bounds, `build` fails with
    /// [`Error::Invalid`](crate::Error::Invalid) (`out-of-bounds`) if a node uses it.
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder};
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Corner");
    /// let input = builder.host::<[[f32; 8]; 8]>("input");
    /// let mut corner = builder.device::<[[f32; 3]; 2]>("corner");
    /// builder.memcpy_2d("cut", &input.rectangle::<2, 3>(6, 5), &mut (&corner).into());
    ///
    /// let mut graph = builder.build()?;
    /// graph.host_mut(&input)?[7][5..].copy_from_slice(&[1.0, 2.0, 3.0]);
    /// graph.launch()?;
    /// assert_eq!(*graph.device(&corner)?.read()?, [[0.0; 3], [1.0, 2.0, 3.0]]);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    pub fn rectangle<const R: usize, const C: usize>(
        &self,
        row: usize,
        column: usize,
    ) -> Rectangle<<Row<S> as Rows>::StackExactly<R, C>, M>
    where
        S: Rows<Row: Rows>,
    {
        self.columns(row..row.saturating_add(R), column..column.saturating_add(C))
            .exact::<S, _, _>()
    }

    /// The rows `rows`, and of each row `C` elements from `column` on. As [`Place::rectangle`], for a number of rows
    /// that is known only when the graph is built.
    pub fn rectangle_rows<const C: usize>(
        &self,
        rows: impl RangeBounds<usize>,
        column: usize,
    ) -> Rectangle<<Row<S> as Rows>::StackOf<C>, M>
    where
        S: Rows<Row: Rows>,
    {
        self.columns(rows, column..column.saturating_add(C)).exact::<S, _, _>()
    }

    /// The columns `columns` of the rows `rows`. As [`Place::rectangle`], for lengths that are known only when the
    /// graph is built.
    pub fn rectangle_of(
        &self,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> Rectangle<<Row<S> as Rows>::Stack, M>
    where
        S: Rows<Row: Rows>,
    {
        let Columns { span, lengths } = self.columns(rows, columns);
        Rectangle::new(span, lengths)
    }

    /// The element `column` of each of `R` rows from `row` on: `x[row..row + R][column]`.
    pub fn column<const R: usize>(&self, row: usize, column: usize) -> Rectangle<<Row<S> as Rows>::Exactly<R>, M>
    where
        S: Rows<Row: Rows>,
    {
        self.columns(row..row.saturating_add(R), column..column.saturating_add(1))
            .single::<S, _, _>()
    }

    /// The element `column` of each of `rows`. As [`Place::column`], for a number of rows that is known only when the
    /// graph is built.
    pub fn column_rows(&self, rows: impl RangeBounds<usize>, column: usize) -> Rectangle<<Row<S> as Rows>::Several, M>
    where
        S: Rows<Row: Rows>,
    {
        self.columns(rows, column..column.saturating_add(1)).single::<S, _, _>()
    }

    /// Some columns of some rows.
    fn columns(&self, rows: impl RangeBounds<usize>, columns: impl RangeBounds<usize>) -> Columns
    where
        S: Rows<Row: Rows>,
    {
        let (start, end) = self.bounds(rows);
        let (rows, pitch) = (self.rows(start..end).span, S::row_bytes(&self.lengths));
        // The columns are selected from the first row, even if there are no rows, so that they are checked.
        let own = S::row_lengths(&self.lengths);
        let first = Place::<S::Row, M>::with_lengths(Span { bytes: pitch, ..rows }, own);
        let (left, right) = first.bounds(columns);
        let columns = first.rows(left..right).span;
        let count = rows.bytes.checked_div(pitch).unwrap_or(0);
        let span = Bytes {
            all: Span {
                // If there are no rows, the rectangle may be at the end of memory, where no column begins.
                start: if count == 0 { rows.start } else { columns.start },
                bytes: count * columns.bytes,
                ..columns
            },
            width: columns.bytes,
            pitch,
            is_rectangle: true,
        };
        Columns {
            span,
            lengths: [end.saturating_sub(start), right.saturating_sub(left), own[1], own[2]],
        }
    }
}

impl Columns {
    /// The rectangle, of a shape whose type tells the number of columns.
    fn exact<S: ?Sized + Rows<Row: Rows>, P: ?Sized, M>(self) -> Rectangle<P, M> {
        Rectangle::new(self.span, <Row<S> as sealed::Rows>::kept(self.lengths))
    }

    /// The rectangle of a single column. Its shape has no dimension for the columns.
    fn single<S: ?Sized + Rows<Row: Rows>, P: ?Sized, M>(self) -> Rectangle<P, M> {
        let [rows, _, inner @ ..] = self.lengths;
        let lengths = [rows, inner[0], inner[1], 0];
        Rectangle::new(self.span, <Row<S> as sealed::Rows>::kept(lengths))
    }
}

/// Takes all of a place, row by row.
impl<S: ?Sized + Rows, M> From<Place<S, M>> for Rectangle<S, M> {
    fn from(place: Place<S, M>) -> Self {
        let width = S::row_bytes(&place.lengths);
        let span = Bytes {
            all: place.span,
            width,
            pitch: width,
            is_rectangle: true,
        };
        Self::new(span, place.lengths)
    }
}

impl<S: ?Sized + Rows, M> From<&Place<S, M>> for Rectangle<S, M> {
    fn from(place: &Place<S, M>) -> Self {
        Self::from(*place)
    }
}

impl<S: ?Sized, M: Memory> Selection for Rectangle<S, M> {
    type Shape = S;
    type Memory = M;

    fn selected(&self) -> (Bytes, Lengths) {
        (self.span, self.lengths)
    }
}

impl<S: ?Sized, M> Clone for Rectangle<S, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: ?Sized, M> Copy for Rectangle<S, M> {}

impl<S: ?Sized, M> fmt::Debug for Rectangle<S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rectangle").field(&self.span).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::place::OnDevice;
    use crate::shape::table::Table;

    fn matrix() -> Place<[[f32; 8]; 4], OnDevice> {
        Place::new(Span {
            graph: 1,
            resource: 0,
            start: 256,
            bytes: 128,
            outside: false,
        })
    }

    /// The start, width and pitch in bytes, and the number of rows.
    fn numbers<S: ?Sized>(rectangle: Rectangle<S, OnDevice>) -> Option<[usize; 4]> {
        let span = rectangle.span;
        (!span.all.outside).then(|| [span.all.start, span.width, span.pitch, span.rows()])
    }

    #[test]
    fn rows_and_columns_are_selected() {
        let matrix = matrix();
        let expected = Some([256 + 32 + 20, 12, 32, 2]);
        assert_eq!(numbers(matrix.rectangle::<2, 3>(1, 5)), expected);
        assert_eq!(numbers(matrix.rectangle_rows::<3>(1..3, 5)), Some([308, 12, 32, 2]));
        assert_eq!(numbers(matrix.rectangle_of(1..=2, 5..)), Some([308, 12, 32, 2]));
        assert_eq!(numbers(matrix.column::<4>(0, 7)), Some([256 + 28, 4, 32, 4]));
        assert_eq!(numbers(matrix.column_rows(3.., 0)), Some([352, 4, 32, 1]));
        assert_eq!(numbers(matrix.rectangle_of(4..4, 0..8)), Some([384, 32, 32, 0]));
        assert_eq!(
            numbers(matrix.rectangle_of(4..4, 3..8)),
            Some([384, 20, 32, 0]),
            "nothing lies behind the resource"
        );
        assert_eq!(numbers(Rectangle::from(&matrix)), Some([256, 32, 32, 4]));
        let in_one_piece = matrix.rectangle::<2, 8>(1, 0).span.in_one_piece();
        assert_eq!(in_one_piece, Some(matrix.rows(1..3).span));
        assert_eq!(matrix.rectangle::<2, 7>(1, 0).span.in_one_piece(), None);
    }

    #[test]
    fn rectangles_of_tables_have_their_lengths() {
        let span = matrix().span;
        let table = Place::<Table<f32, 2>, OnDevice>::with_lengths(span, [4, 8, 0, 0]);
        let some = table.rectangle_of(1..=2, 5..);
        assert_eq!((numbers(some), some.lengths), (Some([308, 12, 32, 2]), [2, 3, 0, 0]));
        assert_eq!(table.rectangle::<2, 3>(1, 5).lengths, [0; 4], "its type tells");
        assert_eq!(numbers(table.column::<4>(0, 7)), Some([256 + 28, 4, 32, 4]));
        assert_eq!(numbers(table.rectangle_of(.., 9..)), None);
        let cube = Place::<Table<f32, 3>, OnDevice>::with_lengths(span, [2, 4, 4, 0]);
        let some = cube.rectangle_of(.., 1..3);
        let expected = (Some([256 + 16, 32, 64, 2]), [2, 2, 4, 0]);
        assert_eq!((numbers(some), some.lengths), expected);
        assert_eq!(cube.rectangle::<2, 2>(0, 1).lengths, [2, 2, 4, 0]);
        assert_eq!(cube.column::<2>(0, 3).lengths, [2, 4, 0, 0]);
    }

    #[test]
    fn leaving_either_dimension_is_remembered() {
        let matrix = matrix();
        assert_eq!(numbers(matrix.rectangle::<2, 3>(3, 0)), None);
        assert_eq!(numbers(matrix.rectangle::<2, 3>(0, 6)), None);
        assert_eq!(numbers(matrix.column::<1>(0, 8)), None);
        assert_eq!(numbers(matrix.rectangle_of(.., 9..)), None);
        assert_eq!(numbers(matrix.rectangle_of(..5, 0..0)), None);
        assert_eq!(numbers(matrix.column_rows(usize::MAX.., 0)), None);
    }
}
