//! Shapes that may be equal: the two sides of a copy, and memory that is passed for other memory.

use super::table::Table;
use super::{Lengths, NO_LENGTHS};

pub(crate) mod sealed {
    use super::Lengths;

    /// The comparison of lengths that the types do not tell. `bytes` and `lengths` are those of a place of the shape.
    pub trait SameShape<Destination: ?Sized> {
        /// The lengths of a source that are compared: those of all dimensions down to the elements that both shapes
        /// have. All are 0 if the types tell that the shapes are equal.
        fn counts(_bytes: usize, lengths: &Lengths) -> Lengths {
            *lengths
        }

        /// The lengths of a destination that are compared, as [`SameShape::counts`] has those of a source.
        fn counts_of_destination(_bytes: usize, lengths: &Lengths) -> Lengths {
            *lengths
        }

        /// The lengths that a place of the destination's shape has in memory of the source's shape.
        fn converted(_bytes: usize, lengths: &Lengths) -> Lengths {
            *lengths
        }
    }
}

/// The relation between the two sides of a memcpy: they have the same shape. If lengths are known only when the graph
/// is built, they are compared then.
#[diagnostic::on_unimplemented(
    message = "a memcpy from `{Self}` to `{Destination}` changes the shape [shape-mismatch]",
    label = "has shape `{Self}`",
    note = "copy between resources of one shape, or between ranges of one length"
)]
pub trait SameShape<Destination: ?Sized>: sealed::SameShape<Destination> {}

/// The lengths of source and destination, if they differ. Both sides are given by bytes and lengths.
pub(crate) fn difference<A, B>(from: (usize, &Lengths), to: (usize, &Lengths)) -> Option<(Lengths, Lengths)>
where
    A: ?Sized + SameShape<B>,
    B: ?Sized,
{
    let (source, destination) = (A::counts(from.0, from.1), A::counts_of_destination(to.0, to.1));
    // Bytes do not tell the number of rows without elements, and between such memory there is nothing to copy.
    let empty = from.0 == 0 && to.0 == 0;
    (source != destination && !empty).then_some((source, destination))
}

impl<S: ?Sized> sealed::SameShape<S> for S {}
impl<R, const N: usize> sealed::SameShape<[R]> for [R; N] {}
impl<R, const N: usize> sealed::SameShape<[R; N]> for [R] {}

#[diagnostic::do_not_recommend]
impl<S: ?Sized> SameShape<S> for S {}
#[diagnostic::do_not_recommend]
impl<R, const N: usize> SameShape<[R]> for [R; N] {}
#[diagnostic::do_not_recommend]
impl<R, const N: usize> SameShape<[R; N]> for [R] {}

/// The relations between tables and other shapes with the same number of dimensions. Each line has the lengths of the
/// other shape as a table has them, and the lengths that its places keep.
macro_rules! tables {
    ($([$($length:ident)*] $shape:ty => $dimensions:literal, |$bytes:ident, $lengths:ident| $counts:expr, $kept:expr;)*) => {$(
        impl<T, $(const $length: usize),*> sealed::SameShape<Table<T, $dimensions>> for $shape {
            fn counts($bytes: usize, $lengths: &Lengths) -> Lengths {
                $counts
            }

            fn converted($bytes: usize, $lengths: &Lengths) -> Lengths {
                $counts
            }
        }

        impl<T, $(const $length: usize),*> sealed::SameShape<$shape> for Table<T, $dimensions> {
            fn counts_of_destination($bytes: usize, $lengths: &Lengths) -> Lengths {
                $counts
            }

            fn converted(_bytes: usize, $lengths: &Lengths) -> Lengths {
                $kept
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T, $(const $length: usize),*> SameShape<Table<T, $dimensions>> for $shape {}
        #[diagnostic::do_not_recommend]
        impl<T, $(const $length: usize),*> SameShape<$shape> for Table<T, $dimensions> {}
    )*};
}
tables! {
    [A B] [[T; B]; A] => 2, |_bytes, _lengths| [A, B, 0, 0], NO_LENGTHS;
    [B] [[T; B]] => 2, |bytes, _lengths| [rows::<[T; B]>(bytes), B, 0, 0], NO_LENGTHS;
    [A B C] [[[T; C]; B]; A] => 3, |_bytes, _lengths| [A, B, C, 0], NO_LENGTHS;
    [B C] [[[T; C]; B]] => 3, |bytes, _lengths| [rows::<[[T; C]; B]>(bytes), B, C, 0], NO_LENGTHS;
    [C] Table<[T; C], 2> => 3, |_bytes, lengths| [lengths[0], lengths[1], C, 0], [lengths[0], lengths[1], 0, 0];
    [A B C D] [[[[T; D]; C]; B]; A] => 4, |_bytes, _lengths| [A, B, C, D], NO_LENGTHS;
    [B C D] [[[[T; D]; C]; B]] => 4, |bytes, _lengths| [rows::<[[[T; D]; C]; B]>(bytes), B, C, D], NO_LENGTHS;
    [D] Table<[T; D], 3> => 4, |_bytes, lengths| [lengths[0], lengths[1], lengths[2], D],
        [lengths[0], lengths[1], lengths[2], 0];
    [C D] Table<[[T; D]; C], 2> => 4, |_bytes, lengths| [lengths[0], lengths[1], C, D],
        [lengths[0], lengths[1], 0, 0];
}

/// The number of rows of type `R` in `bytes` bytes; 0 if a row has no bytes.
fn rows<R>(bytes: usize) -> usize {
    bytes.checked_div(size_of::<R>()).unwrap_or(0)
}
