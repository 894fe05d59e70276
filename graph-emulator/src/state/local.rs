//! The local memory of a warp: a stack for each lane, interleaved by words, so that the words of all lanes at one
//! address are a row.

use crate::state::LANES;

/// Local memory; an address is an offset in the stack of a lane.
#[derive(Default)]
pub(crate) struct Local {
    rows: Vec<[u32; LANES]>,
}

/// The most local memory of a thread, in bytes: as much as on a GPU.
pub(crate) const MAX_LOCAL: u32 = 512 * 1024;

impl Local {
    /// The number of bytes of each lane.
    pub(crate) fn len(&self) -> usize {
        self.rows.len() * 4
    }

    /// Makes room for at least `bytes` in each lane; returns false beyond the limit.
    pub(crate) fn reserve(&mut self, bytes: u32) -> bool {
        let rows = bytes.div_ceil(4) as usize;
        if rows > self.rows.len() {
            self.rows.resize(rows, [0; LANES]);
        }
        bytes <= MAX_LOCAL
    }

    /// Clears the kernel's own frame and drops all others, so that no data of the previous block remains.
    pub(crate) fn clear(&mut self, bytes: u32) {
        self.rows.truncate(bytes.div_ceil(4) as usize);
        // A kernel has nothing in the first sixteen bytes.
        self.rows.iter_mut().skip(4).for_each(|row| *row = [0; LANES]);
    }

    /// Reads aligned bytes within the bounds.
    #[inline(always)]
    pub(crate) fn load(&self, lane: usize, address: u64, bytes: u8) -> u64 {
        let row = (address / 4) as usize;
        let word = u64::from(self.rows[row][lane]);
        match bytes {
            8 => word | u64::from(self.rows[row + 1][lane]) << 32,
            4 => word,
            2 => word >> (address % 4 * 8) & 0xffff,
            _ => word >> (address % 4 * 8) & 0xff,
        }
    }

    /// Writes aligned bytes within the bounds.
    #[inline(always)]
    pub(crate) fn store(&mut self, lane: usize, address: u64, bytes: u8, value: u64) {
        let row = (address / 4) as usize;
        let shift = (address % 4 * 8) as u32;
        match bytes {
            8 => {
                self.rows[row][lane] = value as u32;
                self.rows[row + 1][lane] = (value >> 32) as u32;
            }
            4 => self.rows[row][lane] = value as u32,
            _ => {
                let mask = if bytes == 2 { 0xffff } else { 0xff };
                let word = &mut self.rows[row][lane];
                *word = (*word & !(mask << shift)) | (value as u32 & mask) << shift;
            }
        }
    }

    /// Copies bytes from one word-aligned place to another, in the lanes of a mask.
    pub(crate) fn copy(&mut self, mask: u32, from: u32, to: u32, bytes: u32) {
        for row in 0..bytes.div_ceil(4) as usize {
            let source = self.rows[from as usize / 4 + row];
            let target = &mut self.rows[to as usize / 4 + row];
            for lane in 0..LANES {
                target[lane] = if mask >> lane & 1 != 0 {
                    source[lane]
                } else {
                    target[lane]
                };
            }
        }
    }
}
