//! The memory that nodes touch.

use super::super::program::{Area, COLUMNS, CONSTANT, FLAGS, ROWS, SCRATCH, SHARED};
use super::Author;

impl Author {
    /// Words on the device that nodes write: scratch memory more often than not, and of it what is in use at the time.
    pub(super) fn writable(&mut self) -> usize {
        if self.random.chance(60) {
            return SCRATCH.start + (self.nodes / 2 + self.random.below(3)) % SCRATCH.len();
        }
        self.random.of(&[0, 1, SHARED[0]])
    }

    /// Part of a row of words on the device, or, where that may be, of some rows.
    pub(super) fn readable(&mut self, rectangle: bool) -> Area {
        let lately = self.recent.len().saturating_sub(1 + self.random.below(3));
        let known = |area: &&Area| self.written[area.memory] & area.mask() == area.mask();
        if let Some(&area) = self.recent.get(lately).filter(known)
            && self.random.chance(60)
        {
            let rows = if rectangle { area.rows } else { 1 };
            return Area { rows, ..area };
        }
        for _ in 0..20 {
            let memory = match self.random.below(10) {
                0 => self.random.of(&FLAGS),
                1 => CONSTANT,
                _ => self.writable(),
            };
            let area = if rectangle {
                self.rectangle(memory)
            } else {
                self.segment(memory)
            };
            if self.written[memory] & area.mask() == area.mask() {
                return area;
            }
        }
        self.segment(CONSTANT)
    }

    /// As above, of memory that may be written.
    pub(super) fn changeable(&mut self) -> Area {
        loop {
            let memory = self.writable();
            let area = self.segment(memory);
            if self.written[memory] & area.mask() == area.mask() {
                return area;
            }
        }
    }

    /// As above, preferring what was written last.
    pub(super) fn changed_lately(&mut self) -> Area {
        let lately = self.recent.last().filter(|area| !FLAGS.contains(&area.memory)).copied();
        match lately.filter(|area| self.written[area.memory] & area.mask() == area.mask()) {
            Some(area) if self.random.chance(60) => Area { rows: 1, ..area },
            _ => self.changeable(),
        }
    }

    /// As many words as `from`, to be written.
    pub(super) fn like(&mut self, from: Area) -> Area {
        loop {
            let to = Area {
                memory: self.writable(),
                row: self.random.below(ROWS),
                column: self.random.below(COLUMNS - from.columns + 1),
                ..from
            };
            if !from.meets(&to) {
                return to;
            }
        }
    }

    /// The part that a memset sets: all of it, some rows of some columns, or part of a row.
    pub(super) fn settable(&mut self) -> Area {
        let memory = match self.random.below(4) {
            0 => self.random.of(&[13, 15]),
            _ => self.writable(),
        };
        if self.random.chance(40) {
            return Area::whole(memory);
        }
        self.rectangle(memory)
    }

    pub(super) fn segment(&mut self, memory: usize) -> Area {
        let area = self.rectangle(memory);
        Area {
            row: area.row + self.random.below(area.rows),
            rows: 1,
            ..area
        }
    }

    pub(super) fn rectangle(&mut self, memory: usize) -> Area {
        if SCRATCH.contains(&memory) && self.random.chance(self.whole) {
            return Area::whole(memory);
        }
        let rows = 1 + self.random.below(ROWS);
        let columns = self.random.of(&[1, 2, 3, 5, 8, 8]);
        Area {
            memory,
            row: self.random.below(ROWS - rows + 1),
            column: self.random.below(COLUMNS - columns + 1),
            rows,
            columns,
        }
    }
}
