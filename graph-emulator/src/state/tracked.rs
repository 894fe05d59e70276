//! Affine registers. While a block runs in lockstep, the lanes of a register whose values are affine are not written
//! until an instruction reads them: then they are materialized.

use super::affine::{Affine, Tracked};
use super::mask::LANES;
use super::registers::{LaneBits, Registers};
use crate::code::{File, Slot};

impl Registers {
    /// Finds out whether a register that serves as an address is affine.
    #[inline(always)]
    pub(crate) fn find_affine<B: LaneBits>(&mut self, slot: Slot) -> Option<Affine> {
        let known = self.tracked::<B>(slot);
        if self.is_part() || matches!(known, Tracked::Unseen | Tracked::Computed) {
            let rows = self.rows::<B>(slot);
            let found = match (rows, self.row_width()) {
                // The most frequent case of one warp, compiled for its size.
                ([row], LANES) => B::detect(row, LANES),
                (rows, width) => B::detect(rows.as_flattened(), width),
            };
            if !self.is_part() {
                *self.tracked_mut::<B>(slot) = found.into();
            }
            return found;
        }
        known.affine()
    }

    /// The affine values of a register; does not examine values that were computed lane by lane.
    #[inline(always)]
    pub(crate) fn affine<B: LaneBits>(&mut self, slot: Slot) -> Option<Affine> {
        match self.tracked::<B>(slot) {
            Tracked::Unseen => self.find_affine::<B>(slot),
            known => known.affine(),
        }
    }

    /// Gives a register affine values, without writing its lanes.
    #[inline(always)]
    pub(crate) fn set_affine<B: LaneBits>(&mut self, slot: Slot, affine: Affine) {
        *self.tracked_mut::<B>(slot) = Tracked::Pending(affine);
    }

    /// Writes the lanes of a register whose values are pending.
    #[inline(always)]
    pub(crate) fn materialize(&mut self, file: File, slot: Slot) {
        match file {
            File::R32 => self.write_pending::<u32>(slot),
            File::R64 => self.write_pending::<u64>(slot),
            File::Predicate => {}
        }
    }

    /// Materializes all registers of a frame at the bottom of the stack.
    pub(crate) fn materialize_all(&mut self, slots32: u32, slots64: u32) {
        for slot in 0..slots32 {
            self.materialize(File::R32, slot);
        }
        for slot in 0..slots64 {
            self.materialize(File::R64, slot);
        }
    }

    #[inline(always)]
    fn write_pending<B: LaneBits>(&mut self, slot: Slot) {
        if let Tracked::Pending(affine) = self.tracked::<B>(slot) {
            self.write_affine::<B>(slot, affine);
        }
    }

    #[inline(never)]
    fn write_affine<B: LaneBits>(&mut self, slot: Slot, affine: Affine) {
        let width = self.row_width();
        B::write(affine, self.rows_mut(slot).as_flattened_mut(), width);
        *self.tracked_mut::<B>(slot) = Tracked::Affine(affine);
    }
}
