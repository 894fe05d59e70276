//! The registers of a block, as structures of arrays.
//!
//! A register is a slot: for each warp of the block it has a row of 32 lanes, of 32 or 64 bits, or of one bit for a
//! predicate. The rows of a slot follow each other, so that one instruction can be applied to all warps at once.
//! Registers of 8 and 16 bits are in 32-bit slots, whose upper bits then mean nothing. Literals and constant special
//! registers are slots too, which are filled when a frame is entered, so that every operand is read the same way.

use std::cell::Cell;

use super::affine::{Affine, Tracked, row_width};
use super::mask::LANES;
use super::vector::{Aligned, Wide};
use crate::code::{File, FrameSize, Guard, Register, Slot};

/// The register files of a block, which hold all frames of its warps' call stacks. They are lent to the warp that is
/// running.
#[derive(Default)]
pub(crate) struct Files {
    r32: RegisterFile<u32>,
    r64: RegisterFile<u64>,
    predicates: Vec<u32>,
}

/// The slots of one width, and the knowledge about their values.
#[derive(Default)]
pub(crate) struct RegisterFile<B> {
    rows: Aligned<B>,
    tracked: Vec<Tracked>,
}

/// The rows of both widths as cells, because the sources and the target of an instruction may be the same.
pub(crate) struct FileCells<'a> {
    r32: &'a [[Cell<u32>; LANES]],
    r64: &'a [[Cell<u64>; LANES]],
}

/// The bits that a slot holds in each lane.
pub(crate) trait LaneBits: Copy + Default + 'static {
    /// The slots of this width.
    fn file(files: &Files) -> &RegisterFile<Self>;
    fn file_mut(files: &mut Files) -> &mut RegisterFile<Self>;
    fn cells<'a>(cells: &FileCells<'a>) -> &'a [[Cell<Self>; LANES]];
    /// The first slot of a frame.
    fn first_slot(frame: Frame) -> Slot;
    /// Detects whether the values of consecutive threads are affine, for rows of `width` threads.
    fn detect(values: &[Self], width: usize) -> Option<Affine>;
    /// Writes affine values of consecutive threads, modulo the size of the bits.
    fn write(affine: Affine, values: &mut [Self], width: usize);
}

macro_rules! lane_bits {
    ($($bits:ty, $signed:ty, $file:ident);*) => {$(
        impl LaneBits for $bits {
            #[inline(always)]
            fn file(files: &Files) -> &RegisterFile<$bits> {
                &files.$file
            }
            #[inline(always)]
            fn file_mut(files: &mut Files) -> &mut RegisterFile<$bits> {
                &mut files.$file
            }
            #[inline(always)]
            fn cells<'a>(cells: &FileCells<'a>) -> &'a [[Cell<$bits>; LANES]] {
                cells.$file
            }
            #[inline(always)]
            fn first_slot(frame: Frame) -> Slot {
                frame.$file
            }
            #[inline(always)]
            fn detect(values: &[$bits], width: usize) -> Option<Affine> {
                let base = values[0];
                let across = values[1 % width].wrapping_sub(base);
                let down = values.get(width).map_or(0, |next| next.wrapping_sub(base));
                let mut differs = 0;
                for (y, row) in values.chunks_exact(width).enumerate() {
                    differs |= row[0] ^ base.wrapping_add(down.wrapping_mul(y as $bits));
                    for (next, value) in row[1..].iter().zip(row) {
                        differs |= next.wrapping_sub(*value) ^ across;
                    }
                }
                // The steps of 32-bit values are sign-extended.
                let (base, across, down) = (base.into(), (across as $signed).into(), (down as $signed).into());
                (differs == 0).then_some(Affine { base, across, down })
            }
            fn write(affine: Affine, values: &mut [$bits], width: usize) {
                let (mut start, across) = (affine.base as $bits, affine.across as $bits);
                for row in values.chunks_exact_mut(width) {
                    for (x, value) in row.iter_mut().enumerate() {
                        *value = start.wrapping_add(across.wrapping_mul(x as $bits));
                    }
                    start = start.wrapping_add(affine.down as $bits);
                }
            }
        }
    )*};
}

lane_bits!(u32, i32, r32; u64, i64, r64);

impl<B: Copy + Default> RegisterFile<B> {
    /// Grows to at least this number of slots and rows.
    fn grow(&mut self, slots: u32, rows: usize) {
        if self.tracked.len() < slots as usize {
            self.tracked.resize(slots as usize, Tracked::Computed);
        }
        if self.rows.len() < rows {
            self.rows.grow(rows);
        }
    }
}

/// Registers as instructions see them: those of one warp or, in lockstep, those of all warps.
pub(crate) struct Registers {
    files: Files,
    /// The number of warps of the block.
    pub(super) warps: u32,
    /// The warps that instructions apply to: the first one, and their number.
    pub(super) first: u32,
    count: u32,
    row_width: usize,
    row_count: usize,
    /// The frame that instructions refer to.
    pub(crate) frame: Frame,
    /// The carry flag of each lane of one warp.
    pub(crate) carry: u32,
    /// Proof that the wide instruction set may be used.
    pub(crate) wide: Option<Wide>,
}

/// The beginning of a frame in each register file and in local memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) r32: u32,
    pub(crate) r64: u32,
    pub(crate) predicates: u32,
    pub(crate) local: u32,
}

impl Frame {
    /// The frame that follows one of this size.
    pub(crate) fn after(self, size: FrameSize) -> Frame {
        Frame {
            r32: self.r32 + size.r32,
            r64: self.r64 + size.r64,
            predicates: self.predicates + size.predicates,
            local: self.local + size.local,
        }
    }
}

impl Registers {
    /// The registers of all warps of a block.
    pub(crate) fn of_block(block: [u32; 3]) -> Registers {
        let warps = block.iter().product::<u32>().div_ceil(LANES as u32);
        let row_width = row_width(block);
        Registers {
            files: Files::default(),
            warps,
            first: 0,
            count: warps,
            row_width,
            row_count: warps as usize * LANES / row_width,
            frame: Frame::default(),
            carry: 0,
            wide: Wide::detect(),
        }
    }

    /// The registers of one warp of a block; the files are lent to it.
    pub(crate) fn of_warp(block: [u32; 3], index: u32) -> Registers {
        let all = Registers::of_block(block);
        let divides = LANES.is_multiple_of(all.row_width);
        let row_width = if divides { all.row_width } else { LANES };
        Registers {
            first: index,
            count: 1,
            row_width,
            row_count: LANES / row_width,
            ..all
        }
    }

    /// Lends the files to another view of them, or takes them back.
    #[inline(always)]
    pub(crate) fn exchange(&mut self, other: &mut Registers) {
        std::mem::swap(&mut self.files, &mut other.files);
    }

    /// Makes room for a frame of this size at the current one.
    pub(crate) fn reserve(&mut self, size: FrameSize) {
        let end = self.frame.after(size);
        let rows = |slots: u32| slots as usize * self.warps as usize;
        let files = &mut self.files;
        files.r32.grow(end.r32, rows(end.r32));
        files.r64.grow(end.r64, rows(end.r64));
        if files.predicates.len() < rows(end.predicates) {
            files.predicates.resize(rows(end.predicates), 0);
        }
    }

    /// Calls `f` for each of the warps, one after the other.
    #[inline(always)]
    pub(crate) fn each_warp(&mut self, mut f: impl FnMut(&mut Registers)) {
        let (first, count) = (self.first, self.count);
        self.count = 1;
        for warp in first..first + count {
            self.first = warp;
            f(self);
        }
        (self.first, self.count) = (first, count);
    }

    /// The index of the first row of a slot.
    #[inline(always)]
    fn row(&self, slot: Slot) -> usize {
        slot as usize * self.warps as usize + self.first as usize
    }

    #[inline(always)]
    pub(crate) fn predicate(&self, slot: Slot) -> u32 {
        self.files.predicates[self.row(self.frame.predicates + slot)]
    }

    /// A predicate source.
    #[inline(always)]
    pub(crate) fn guard(&self, guard: Guard) -> u32 {
        self.predicate(guard.predicate) ^ guard.flip
    }

    /// The predicates of all the warps.
    #[inline(always)]
    pub(crate) fn predicates(&self, slot: Slot) -> &[u32] {
        let start = self.row(self.frame.predicates + slot);
        &self.files.predicates[start..start + self.count as usize]
    }

    /// Writes the predicates of all the warps.
    #[inline(always)]
    pub(crate) fn fill_predicates(&mut self, slot: Slot, value: u32) {
        let start = self.row(self.frame.predicates + slot);
        self.files.predicates[start..start + self.count as usize].fill(value);
    }

    #[inline(always)]
    pub(crate) fn set_predicate(&mut self, slot: Slot, mask: u32, value: u32) {
        let row = self.row(self.frame.predicates + slot);
        let predicate = &mut self.files.predicates[row];
        *predicate = (*predicate & !mask) | (value & mask);
    }

    #[inline(always)]
    pub(crate) fn get32(&self, slot: Slot) -> &[u32; LANES] {
        self.get(slot)
    }

    #[inline(always)]
    pub(crate) fn get64(&self, slot: Slot) -> &[u64; LANES] {
        self.get(slot)
    }

    #[inline(always)]
    pub(crate) fn get32_mut(&mut self, slot: Slot) -> &mut [u32; LANES] {
        self.get_mut(slot)
    }

    #[inline(always)]
    pub(crate) fn get64_mut(&mut self, slot: Slot) -> &mut [u64; LANES] {
        self.get_mut(slot)
    }

    /// The lanes of a slot in the first of the warps that instructions apply to.
    #[inline(always)]
    fn get<B: LaneBits>(&self, slot: Slot) -> &[B; LANES] {
        &B::file(&self.files).rows.rows()[self.row(B::first_slot(self.frame) + slot)]
    }

    #[inline(always)]
    fn get_mut<B: LaneBits>(&mut self, slot: Slot) -> &mut [B; LANES] {
        let row = self.row(B::first_slot(self.frame) + slot);
        self.forget::<B>(slot);
        &mut B::file_mut(&mut self.files).rows.rows_mut()[row]
    }

    /// The rows of a slot: the lanes of each warp that instructions apply to.
    #[inline(always)]
    pub(crate) fn rows<B: LaneBits>(&self, slot: Slot) -> &[[B; LANES]] {
        let start = self.row(B::first_slot(self.frame) + slot);
        &B::file(&self.files).rows.rows()[start..start + self.count as usize]
    }

    #[inline(always)]
    pub(crate) fn rows_mut<B: LaneBits>(&mut self, slot: Slot) -> &mut [[B; LANES]] {
        let start = self.row(B::first_slot(self.frame) + slot);
        let end = start + self.count as usize;
        self.forget::<B>(slot);
        &mut B::file_mut(&mut self.files).rows.rows_mut()[start..end]
    }

    /// Clears registers in the lanes of `mask`.
    pub(crate) fn clear(&mut self, registers: &[Register], mask: u32) {
        for &(file, slot) in registers {
            match file {
                File::R32 => self.set(slot, mask, [0u32; LANES]),
                File::R64 => self.set(slot, mask, [0u64; LANES]),
                File::Predicate => self.set_predicate(slot, mask, 0),
            }
        }
    }

    /// Notes that all values were computed before the block began.
    pub(crate) fn forget_all(&mut self) {
        self.files.r32.tracked.fill(Tracked::Unseen);
        self.files.r64.tracked.fill(Tracked::Unseen);
    }

    /// Forgets the knowledge about a slot, which will be written.
    #[inline(always)]
    pub(crate) fn forget<B: LaneBits>(&mut self, slot: Slot) {
        *self.tracked_mut::<B>(slot) = Tracked::Computed;
    }

    #[inline(always)]
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Whether instructions apply to only some warps of the block.
    #[inline(always)]
    pub(crate) fn is_part(&self) -> bool {
        self.count != self.warps
    }

    /// The number of threads in a row, for affine values.
    #[inline(always)]
    pub(crate) fn row_width(&self) -> usize {
        self.row_width
    }

    /// The number of such rows.
    #[inline(always)]
    pub(crate) fn row_count(&self) -> usize {
        self.row_count
    }

    /// All rows of both widths.
    #[inline(always)]
    pub(super) fn cells(&mut self) -> FileCells<'_> {
        FileCells {
            r32: cells(self.files.r32.rows.rows_mut()),
            r64: cells(self.files.r64.rows.rows_mut()),
        }
    }

    /// The knowledge about a slot.
    #[inline(always)]
    pub(crate) fn tracked<B: LaneBits>(&self, slot: Slot) -> Tracked {
        B::file(&self.files).tracked[(B::first_slot(self.frame) + slot) as usize]
    }

    #[inline(always)]
    pub(crate) fn tracked_mut<B: LaneBits>(&mut self, slot: Slot) -> &mut Tracked {
        let slot = B::first_slot(self.frame) + slot;
        &mut B::file_mut(&mut self.files).tracked[slot as usize]
    }
}

#[inline(always)]
fn cells<T>(rows: &mut [[T; LANES]]) -> &[[Cell<T>; LANES]] {
    let lanes = Cell::from_mut(rows.as_flattened_mut()).as_slice_of_cells();
    lanes.as_chunks().0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affine_values_are_found() {
        let value = |x: u64, y: u64| 1000 + 4 * x + 64 * y;
        let mut values: Vec<u64> = (0..256).map(|thread| value(thread % 16, thread / 16)).collect();
        let affine = u64::detect(&values, 16).unwrap();
        assert_eq!((affine.base, affine.across, affine.down), (1000, 4, 64));
        assert_eq!(affine.bounds(16, 16), Some((1000, 1000 + 60 + 960)));
        values[200] += 1;
        assert_eq!(u64::detect(&values, 16), None);
    }
}
