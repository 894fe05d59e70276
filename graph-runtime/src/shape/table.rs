//! Tables: memory with several lengths that are known only when the graph is built, and views of tables on the host.

use super::{Extent, Lengths, MAX_DIMENSIONS, NO_LENGTHS, sealed};
use crate::shape::ArrayOf;
use std::ops::{Index, IndexMut};
use std::ptr::NonNull;

/// The shape of memory with `D` dimensions, two to four, whose lengths are known only when the graph is built. It has
/// elements of type `T`, in one piece, row by row.
///
/// `[[f32; d]; n]` with build arguments `d` and `n` is a `Table<f32, 2>`. Its rows are slices, `[f32]`; a row of a
/// `Table<f32, 3>` is a `Table<f32, 2>`. Constant lengths of the innermost dimensions stay part of the element:
/// `[[[f32; 16]; d]; n]` is a `Table<[f32; 16], 2>`.
///
/// A place, a buffer or a view of a table knows its lengths; a reference to a table only knows its elements.
#[derive(Debug)]
#[repr(transparent)]
pub struct Table<T, const D: usize = 2> {
    elements: [T],
}

impl<T, const D: usize> Table<T, D> {
    /// All elements, row by row.
    pub fn as_flattened(&self) -> &[T] {
        &self.elements
    }

    /// All elements, row by row, to write.
    pub fn as_flattened_mut(&mut self) -> &mut [T] {
        &mut self.elements
    }
}

macro_rules! arrays_of {
    ($($element:ty, [$($length:ident)*];)*) => {$(
        impl<T, const DIMENSIONS: usize, $(const $length: usize),*> sealed::ArrayOf<T>
            for Table<$element, DIMENSIONS> {}
        #[diagnostic::do_not_recommend]
        impl<T, const DIMENSIONS: usize, $(const $length: usize),*> ArrayOf<T> for Table<$element, DIMENSIONS> {}
    )*};
}
arrays_of! {
    T, [];
    [T; A], [A];
    [[T; B]; A], [A B];
}

impl<T, const D: usize> sealed::Extent for Table<T, D> {}

impl<T, const D: usize> Extent for Table<T, D> {
    const BYTES: Option<usize> = None;

    fn at(address: NonNull<u8>, bytes: usize) -> NonNull<Self> {
        let elements = <[T]>::at(address, bytes);
        // SAFETY: the cast keeps the address, which is not null, and the number of elements.
        unsafe { NonNull::new_unchecked(elements.as_ptr() as *mut Self) }
    }
}

/// The lengths of a table, as its places keep them.
pub(crate) fn padded<const D: usize>(lengths: [usize; D]) -> Lengths {
    let mut padded = NO_LENGTHS;
    padded.iter_mut().zip(lengths).for_each(|(to, from)| *to = from);
    padded
}

/// The lengths of a table of `D` dimensions.
pub(crate) fn unpadded<const D: usize>(lengths: &Lengths) -> [usize; D] {
    std::array::from_fn(|dimension| lengths.get(dimension).copied().unwrap_or(0))
}

/// The size in bytes of a table with elements of type `T`, saturating at `usize::MAX`.
pub(crate) fn bytes_of<T>(lengths: &[usize]) -> usize {
    lengths
        .iter()
        .fold(size_of::<T>(), |bytes, &length| bytes.saturating_mul(length))
}

/// Lengths in words: `3 x 4`.
pub(crate) fn text(lengths: &Lengths) -> String {
    let last = lengths.iter().rposition(|&length| length > 0).unwrap_or(0).max(1);
    let lengths: Vec<String> = lengths[..=last].iter().map(usize::to_string).collect();
    lengths.join(" x ")
}

/// A view of a table on the host, to read. With two dimensions, `table[i][j]` is an element, as in arrays; with more,
/// `table[[i, j, k]]` is.
///
/// ```
/// use graph_runtime::{Device, GraphBuilder};
///
/// let mut builder = GraphBuilder::new(&Device::emulator(), "Rows");
/// let mut w = builder.device_table::<f32, 2>("w", [3, 4]);
/// let mut output = builder.host_table::<f32, 2>("output", [3, 4]);
/// let set = builder.memset("set", &mut w.row(1), 1.0_f32);
/// let download = builder.memcpy("download", &w, &mut output);
/// builder.after(download, &[set]);
///
/// let mut graph = builder.build()?;
/// graph.launch()?;
/// let output = graph.host_table(&output)?;
/// assert_eq!(output.lengths(), [3, 4]);
/// assert_eq!((&output[1], output[[2, 3]]), (&[1.0; 4][..], 0.0));
/// # Ok::<(), graph_runtime::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableRef<'a, T, const D: usize = 2> {
    elements: &'a [T],
    lengths: [usize; D],
}

/// A view of a table on the host, to read and write: see [`TableRef`].
#[derive(Debug, PartialEq)]
pub struct TableMut<'a, T, const D: usize = 2> {
    elements: &'a mut [T],
    lengths: [usize; D],
}

/// The number of elements of a row.
fn width(lengths: &[usize]) -> usize {
    lengths
        .iter()
        .skip(1)
        .fold(1, |width, &length| width.saturating_mul(length))
}

/// The lengths without the outermost.
fn inner<const D: usize, const I: usize>(lengths: [usize; D]) -> [usize; I] {
    std::array::from_fn(|dimension| lengths.get(dimension + 1).copied().unwrap_or(0))
}

/// The number of an element; `None` if it is out of bounds.
fn offset<const D: usize>(lengths: [usize; D], index: [usize; D]) -> Option<usize> {
    let mut dimensions = lengths.into_iter().zip(index);
    dimensions.try_fold(0_usize, |offset, (length, index)| {
        (index < length)
            .then_some(offset)?
            .checked_mul(length)?
            .checked_add(index)
    })
}

impl<'a, T, const D: usize> TableRef<'a, T, D> {
    /// The elements of a table of these lengths.
    pub(crate) fn new(elements: &'a [T], lengths: &Lengths) -> Self {
        Self {
            elements,
            lengths: unpadded(lengths),
        }
    }

    /// The lengths, outermost first.
    pub fn lengths(&self) -> [usize; D] {
        self.lengths
    }

    /// All elements, row by row.
    pub fn as_flattened(&self) -> &'a [T] {
        self.elements
    }

    /// An element.
    ///
    /// # Panics
    /// If the index is out of bounds, as a slice does.
    fn element(&self, index: [usize; D]) -> &'a T {
        match offset(self.lengths, index) {
            Some(offset) => &self.elements[offset],
            None => out_of_bounds(&index, &self.lengths),
        }
    }

    /// A row, as [`TableRef::element`].
    fn line(&self, row: usize) -> &'a [T] {
        self.elements_of(row)
            .unwrap_or_else(|| out_of_bounds(&[row], &self.lengths))
    }

    /// The elements of a row.
    fn elements_of(&self, row: usize) -> Option<&'a [T]> {
        let width = width(&self.lengths);
        let start = (row < self.lengths[0]).then(|| row.checked_mul(width))??;
        self.elements.get(start..start.checked_add(width)?)
    }
}

impl<'a, T, const D: usize> TableMut<'a, T, D> {
    /// The elements of a table of these lengths.
    pub(crate) fn new(elements: &'a mut [T], lengths: &Lengths) -> Self {
        Self {
            elements,
            lengths: unpadded(lengths),
        }
    }

    /// The same view, to read.
    pub fn view(&self) -> TableRef<'_, T, D> {
        TableRef {
            elements: self.elements,
            lengths: self.lengths,
        }
    }

    /// The lengths, outermost first.
    pub fn lengths(&self) -> [usize; D] {
        self.lengths
    }

    /// All elements, row by row.
    pub fn as_flattened(&self) -> &[T] {
        self.elements
    }

    /// All elements, row by row, to write.
    pub fn as_flattened_mut(&mut self) -> &mut [T] {
        self.elements
    }

    /// The elements of a row.
    fn elements_of(&mut self, row: usize) -> Option<&mut [T]> {
        let width = width(&self.lengths);
        let start = (row < self.lengths[0]).then(|| row.checked_mul(width))??;
        self.elements.get_mut(start..start.checked_add(width)?)
    }

    /// The elements of each row.
    fn split(&mut self) -> impl Iterator<Item = &mut [T]> {
        let (width, mut rest) = (width(&self.lengths), &mut *self.elements);
        (0..self.lengths[0]).map_while(move |_| {
            let (row, after) = std::mem::take(&mut rest).split_at_mut_checked(width)?;
            rest = after;
            Some(row)
        })
    }
}

macro_rules! rows {
    ($($dimensions:literal: $row:ty, $row_mut:ty, |$elements:ident, $lengths:ident| $make:expr, $make_mut:expr;)*) => {$(
        impl<'a, T> TableRef<'a, T, $dimensions> {
            /// The row of this index, if there is one.
            pub fn row(&self, index: usize) -> Option<$row> {
                let ($elements, $lengths) = (self.elements_of(index)?, self.lengths);
                Some($make)
            }

            /// All rows.
            pub fn rows(self) -> impl Iterator<Item = $row> {
                (0..self.lengths[0]).map_while(move |index| self.row(index))
            }
        }

        impl<T> TableMut<'_, T, $dimensions> {
            /// The row of this index to write, if there is one.
            pub fn row_mut<'a>(&'a mut self, index: usize) -> Option<$row_mut> {
                let $lengths = self.lengths;
                let $elements = self.elements_of(index)?;
                Some($make_mut)
            }

            /// All rows, to write.
            pub fn rows_mut<'a>(&'a mut self) -> impl Iterator<Item = $row_mut> {
                let $lengths = self.lengths;
                self.split().map(move |$elements| $make_mut)
            }
        }
    )*};
}
rows! {
    2: &'a [T], &'a mut [T], |elements, _lengths| elements, elements;
    3: TableRef<'a, T, 2>, TableMut<'a, T, 2>, |elements, lengths|
        TableRef { elements, lengths: inner(lengths) }, TableMut { elements, lengths: inner(lengths) };
    4: TableRef<'a, T, 3>, TableMut<'a, T, 3>, |elements, lengths|
        TableRef { elements, lengths: inner(lengths) }, TableMut { elements, lengths: inner(lengths) };
}

/// Panics if the index is out of bounds, as a slice does.
impl<T, const D: usize> Index<[usize; D]> for TableRef<'_, T, D> {
    type Output = T;

    fn index(&self, index: [usize; D]) -> &T {
        self.element(index)
    }
}

/// Panics if the index is out of bounds, as a slice does.
impl<T> Index<usize> for TableRef<'_, T, 2> {
    type Output = [T];

    fn index(&self, row: usize) -> &[T] {
        self.line(row)
    }
}

/// Panics if the index is out of bounds, as a slice does.
impl<T, const D: usize> Index<[usize; D]> for TableMut<'_, T, D> {
    type Output = T;

    fn index(&self, index: [usize; D]) -> &T {
        self.view().element(index)
    }
}

/// Panics if the index is out of bounds, as a slice does.
impl<T, const D: usize> IndexMut<[usize; D]> for TableMut<'_, T, D> {
    fn index_mut(&mut self, index: [usize; D]) -> &mut T {
        match offset(self.lengths, index) {
            Some(offset) => &mut self.elements[offset],
            None => out_of_bounds(&index, &self.lengths),
        }
    }
}

/// Panics if the index is out of bounds, as a slice does.
impl<T> Index<usize> for TableMut<'_, T, 2> {
    type Output = [T];

    fn index(&self, row: usize) -> &[T] {
        self.view().line(row)
    }
}

/// Panics if the index is out of bounds, as a slice does.
impl<T> IndexMut<usize> for TableMut<'_, T, 2> {
    fn index_mut(&mut self, row: usize) -> &mut [T] {
        let lengths = self.lengths;
        match self.elements_of(row) {
            Some(row) => row,
            None => out_of_bounds(&[row], &lengths),
        }
    }
}

#[cold]
fn out_of_bounds(index: &[usize], lengths: &[usize]) -> ! {
    panic!("index {index:?} is out of bounds of a table of lengths {lengths:?}")
}

const _: () = assert!(MAX_DIMENSIONS == 4, "tables have at most four dimensions");
