//! The memory of random graphs, and parts of it.

use crate::common::random::Random;

pub(crate) const ROWS: usize = 4;
pub(crate) const COLUMNS: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Space {
    Device,
    Scratch,
    Host,
}

/// Memory of [`ROWS`] times [`COLUMNS`] elements of this size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) space: Space,
    pub(crate) size: usize,
}

const fn memory(space: Space, size: usize) -> Memory {
    Memory { space, size }
}

/// The memory of every graph. What [`SHARED`] has is that of both graphs of a program.
pub(crate) const MEMORIES: [Memory; 23] = {
    use Space::*;
    let mut all = [memory(Scratch, 4); 23];
    (all[0], all[1]) = (memory(Device, 4), memory(Device, 4));
    all[HOST] = memory(Host, 4);
    (all[13], all[14]) = (memory(Device, 1), memory(Host, 1));
    (all[15], all[16]) = (memory(Scratch, 2), memory(Host, 2));
    (all[FLAGS[0]], all[CONSTANT]) = (memory(Device, 4), memory(Device, 4));
    (all[SHARED[0]], all[SHARED[1]]) = (memory(Device, 4), memory(Host, 4));
    all[VARIABLE] = memory(Device, 4);
    all
};
/// Scratch of words, most of which lives for a part of a graph only.
pub(crate) const SCRATCH: std::ops::Range<usize> = 2..9;
/// Scratch of words that is begun anew.
pub(crate) const REVIVED: std::ops::Range<usize> = 9..12;
pub(crate) const HOST: usize = 12;
/// The memories that conditions read: on the device, and scratch.
pub(crate) const FLAGS: [usize; 2] = [17, 18];
/// Nothing writes it, so kernels may read it before they have waited for others.
pub(crate) const CONSTANT: usize = 19;
pub(crate) const SHARED: [usize; 2] = [20, 21];
/// The memories whose lengths their types do not tell.
pub(crate) const TABLES: [usize; 7] = [4, 6, HOST, 13, 15, 16, SHARED[0]];
/// The variable of the kernel that counts its launches, which no node names.
pub(crate) const VARIABLE: usize = 22;

/// The random numbers of a graph: the seed of each, and how many numbers a use draws at most.
pub(crate) const RNGS: [(u64, u64); 2] = [(7, 2), (11, 5)];

/// The index of the one whose generator both graphs share.
pub(crate) const SHARED_RNG: usize = 1;

/// A number of rows and columns of an area, from a corner on. One of both may be 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Window {
    row: usize,
    column: usize,
    rows: usize,
    columns: usize,
}

impl Window {
    /// Some window of the area; of one row, if the area is a row.
    pub(crate) fn of(random: &mut Random, area: &Area) -> Self {
        let rows = if area.rows == 1 { 1 } else { random.below(area.rows + 1) };
        let columns = random.below(area.columns + 1);
        Self {
            row: random.below(area.rows - rows + 1),
            column: random.below(area.columns - columns + 1),
            rows,
            columns,
        }
    }
}

/// A number of rows and columns of a memory, from a corner on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) memory: usize,
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl Area {
    /// All of a memory.
    pub(crate) fn whole(memory: usize) -> Self {
        Self {
            memory,
            row: 0,
            column: 0,
            rows: ROWS,
            columns: COLUMNS,
        }
    }

    /// One element, counted row by row.
    pub(crate) fn cell(memory: usize, index: usize) -> Self {
        Self {
            memory,
            row: index / COLUMNS,
            column: index % COLUMNS,
            rows: 1,
            columns: 1,
        }
    }

    /// The offsets of its elements in bytes, row by row.
    pub(crate) fn elements(&self) -> impl Iterator<Item = usize> + use<> {
        let Self {
            memory,
            row,
            column,
            rows,
            columns,
        } = *self;
        let size = MEMORIES[memory].size;
        (row..row + rows)
            .flat_map(move |row| (column..column + columns).map(move |column| (row * COLUMNS + column) * size))
    }

    /// Its bytes, as bits.
    pub(crate) fn mask(&self) -> u128 {
        let size = MEMORIES[self.memory].size;
        let bytes = |element| ((1_u128 << size) - 1) << element;
        self.elements().map(bytes).fold(0, |all, bytes| all | bytes)
    }

    /// A part of it.
    pub(crate) fn part(&self, window: Window) -> Self {
        Self {
            memory: self.memory,
            row: self.row + window.row,
            column: self.column + window.column,
            rows: window.rows,
            columns: window.columns,
        }
    }

    pub(crate) fn meets(&self, other: &Area) -> bool {
        self.memory == other.memory && self.mask() & other.mask() != 0
    }
}
