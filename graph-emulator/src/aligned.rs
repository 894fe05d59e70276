//! Storage for the rows of a register file.

use crate::registers::LANES;

/// Bytes of a cache line: a row that begins at one takes no more of them than it must, which halves the time of stores.
const LINE: usize = 64;

/// Rows of lanes in one piece of memory, the first of which begins at a cache line.
#[derive(Default)]
pub(crate) struct Aligned<T> {
    lanes: Vec<T>,
    /// The first lane of the first row.
    start: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.rows().len()
    }

    /// Make it at least so many rows, the new ones zero.
    pub(crate) fn grow(&mut self, rows: usize) {
        let rows = rows.max(self.len() * 2);
        let spare = LINE / size_of::<T>();
        let mut lanes = vec![T::default(); rows * LANES + spare];
        // An `align_offset` that cannot be had is more than there is to spare.
        let start = lanes.as_ptr().align_offset(LINE).min(spare);
        let old = self.rows().as_flattened();
        lanes[start..start + old.len()].copy_from_slice(old);
        lanes.truncate(start + rows * LANES);
        *self = Aligned { lanes, start };
    }

    #[inline(always)]
    pub(crate) fn rows(&self) -> &[[T; LANES]] {
        self.lanes[self.start..].as_chunks().0
    }

    #[inline(always)]
    pub(crate) fn rows_mut(&mut self) -> &mut [[T; LANES]] {
        self.lanes[self.start..].as_chunks_mut().0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_begin_at_cache_lines_and_keep_their_values() {
        let mut rows = Aligned::<u32>::default();
        rows.grow(3);
        rows.rows_mut()[2] = [7; LANES];
        rows.grow(100);
        assert_eq!(rows.len(), 100);
        assert_eq!(rows.rows()[2], [7; LANES]);
        assert_eq!(rows.rows()[99], [0; LANES]);
        assert_eq!(rows.rows().as_ptr() as usize % LINE, 0);
    }
}
