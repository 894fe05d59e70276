//! Shapes with an outermost dimension, and the shapes that indices and ranges select from them.

use super::table::Table;
use super::{Element, Extent, Lengths, NO_LENGTHS};

pub(crate) mod sealed {
    use super::Lengths;

    /// The sizes and lengths from which a selection is computed. `lengths` are those that a place of the shape keeps.
    pub trait Rows {
        /// The size of a row in bytes.
        fn row_bytes(lengths: &Lengths) -> usize;

        /// The number of rows in `bytes` bytes; `None` if rows of no bytes leave that open.
        fn count(bytes: usize, lengths: &Lengths) -> Option<usize>;

        /// The lengths of a row.
        fn row_lengths(lengths: &Lengths) -> Lengths;

        /// The lengths that a place of some rows keeps: `lengths` for a table, else none.
        fn kept(lengths: Lengths) -> Lengths;
    }
}

/// A shape with an outermost dimension, from which an index or a range selects: `[T; N]`, `[T]` or a [`Table`].
#[diagnostic::on_unimplemented(
    message = "memory of shape `{Self}` has no dimension to select from [out-of-bounds]",
    label = "not an array"
)]
pub trait Rows: sealed::Rows {
    /// One element of the outermost dimension.
    type Row: ?Sized + Extent;
    /// A number of rows that is known only when the graph is built.
    type Several: ?Sized + Extent;
    /// `LEN` rows.
    type Exactly<const LEN: usize>: ?Sized;
    /// Several parts of this shape, one above the other, of lengths that are known only when the graph is built: a
    /// [`Rectangle`](crate::Rectangle) of an array of this shape.
    type Stack: ?Sized;
    /// As [`Rows::Stack`], where each part has `COLUMNS` rows.
    type StackOf<const COLUMNS: usize>: ?Sized;
    /// `PARTS` parts of this shape, each of `COLUMNS` rows.
    type StackExactly<const PARTS: usize, const COLUMNS: usize>: ?Sized;
}

macro_rules! rows_of_arrays {
    ($([$($length:ident)?] $shape:ty;)*) => {$(
        impl<R: Element $(, const $length: usize)?> sealed::Rows for $shape {
            fn row_bytes(_: &Lengths) -> usize {
                size_of::<R>()
            }

            fn count(bytes: usize, _: &Lengths) -> Option<usize> {
                bytes.checked_div(size_of::<R>())
            }

            fn row_lengths(_: &Lengths) -> Lengths {
                NO_LENGTHS
            }

            fn kept(_: Lengths) -> Lengths {
                NO_LENGTHS
            }
        }

        impl<R: Element $(, const $length: usize)?> Rows for $shape {
            type Row = R;
            type Several = [R];
            type Exactly<const LEN: usize> = [R; LEN];
            type Stack = Table<R, 2>;
            type StackOf<const COLUMNS: usize> = [[R; COLUMNS]];
            type StackExactly<const PARTS: usize, const COLUMNS: usize> = [[R; COLUMNS]; PARTS];
        }
    )*};
}
rows_of_arrays! {
    [N] [R; N];
    [] [R];
}

macro_rules! rows_of_tables {
    ($($dimensions:literal: $row:ty, $stack:ty;)*) => {$(
        impl<T: Element> sealed::Rows for Table<T, $dimensions> {
            fn row_bytes(lengths: &Lengths) -> usize {
                let inner = lengths[1..$dimensions].iter();
                inner.fold(size_of::<T>(), |bytes, &length| bytes.saturating_mul(length))
            }

            fn count(_: usize, lengths: &Lengths) -> Option<usize> {
                Some(lengths[0])
            }

            fn row_lengths(lengths: &Lengths) -> Lengths {
                match $dimensions {
                    2 => NO_LENGTHS, // a row is a slice
                    _ => [lengths[1], lengths[2], lengths[3], 0],
                }
            }

            fn kept(lengths: Lengths) -> Lengths {
                lengths
            }
        }

        impl<T: Element> Rows for Table<T, $dimensions> {
            type Row = $row;
            type Several = Self;
            type Exactly<const LEN: usize> = Self;
            type Stack = $stack;
            type StackOf<const COLUMNS: usize> = $stack;
            type StackExactly<const PARTS: usize, const COLUMNS: usize> = $stack;
        }
    )*};
}
rows_of_tables! {
    2: [T], Table<T, 3>;
    3: Table<T, 2>, Table<T, 4>;
    4: Table<T, 3>, Self; // nothing has rows of this shape
}

/// A [`Table`] of two to four dimensions.
#[diagnostic::on_unimplemented(
    message = "a table has two to four dimensions, but this is `{Self}`",
    label = "neither two nor three nor four lengths"
)]
pub trait Tabular: Rows {}

#[diagnostic::do_not_recommend]
impl<T: Element> Tabular for Table<T, 2> {}
#[diagnostic::do_not_recommend]
impl<T: Element> Tabular for Table<T, 3> {}
#[diagnostic::do_not_recommend]
impl<T: Element> Tabular for Table<T, 4> {}
