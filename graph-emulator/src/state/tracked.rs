//! Affine registers. While a block runs in lockstep, the lanes of a register whose values are affine are not written
//! until an instruction reads them: then they are materialized.

use super::affine::{Affine, Tracked};
use super::mask::LANES;
use super::registers::Registers;
use crate::code::{File, Slot};

impl Registers {
    /// Finds out whether a 32-bit register that serves as an address is affine.
    #[inline(always)]
    pub(crate) fn find_affine32(&mut self, slot: Slot) -> Option<Affine> {
        let known = self.tracked32(slot);
        if self.is_part() || matches!(known, Tracked::Unseen | Tracked::Computed) {
            let rows = self.rows32(slot);
            let found = match (rows, self.row_width()) {
                // The most frequent case of one warp, compiled for its size.
                ([row], LANES) => Affine::detect32(row, LANES),
                (rows, width) => Affine::detect32(rows.as_flattened(), width),
            };
            if !self.is_part() {
                *self.tracked32_mut(slot) = found.into();
            }
            return found;
        }
        known.affine()
    }

    /// Finds out whether a 64-bit register that serves as an address is affine.
    #[inline(always)]
    pub(crate) fn find_affine64(&mut self, slot: Slot) -> Option<Affine> {
        let known = self.tracked64(slot);
        if self.is_part() || matches!(known, Tracked::Unseen | Tracked::Computed) {
            let rows = self.rows64(slot);
            let found = match (rows, self.row_width()) {
                // The most frequent case of one warp, compiled for its size.
                ([row], LANES) => Affine::detect64(row, LANES),
                (rows, width) => Affine::detect64(rows.as_flattened(), width),
            };
            if !self.is_part() {
                *self.tracked64_mut(slot) = found.into();
            }
            return found;
        }
        known.affine()
    }

    /// The affine values of a 32-bit register; does not examine values that were computed lane by lane.
    #[inline(always)]
    pub(crate) fn affine32(&mut self, slot: Slot) -> Option<Affine> {
        match self.tracked32(slot) {
            Tracked::Unseen => self.find_affine32(slot),
            known => known.affine(),
        }
    }

    /// [`affine32`](Registers::affine32) for a 64-bit register.
    #[inline(always)]
    pub(crate) fn affine64(&mut self, slot: Slot) -> Option<Affine> {
        match self.tracked64(slot) {
            Tracked::Unseen => self.find_affine64(slot),
            known => known.affine(),
        }
    }

    /// Gives a 32-bit register affine values, without writing its lanes.
    #[inline(always)]
    pub(crate) fn set_affine32(&mut self, slot: Slot, affine: Affine) {
        *self.tracked32_mut(slot) = Tracked::Pending(affine);
    }

    /// Gives a 64-bit register affine values, without writing its lanes.
    #[inline(always)]
    pub(crate) fn set_affine64(&mut self, slot: Slot, affine: Affine) {
        *self.tracked64_mut(slot) = Tracked::Pending(affine);
    }

    /// Writes the lanes of a register whose values are pending.
    #[inline(always)]
    pub(crate) fn materialize(&mut self, file: File, slot: Slot) {
        match file {
            File::R32 => {
                if let Tracked::Pending(affine) = self.tracked32(slot) {
                    self.write_affine32(slot, affine);
                }
            }
            File::R64 => {
                if let Tracked::Pending(affine) = self.tracked64(slot) {
                    self.write_affine64(slot, affine);
                }
            }
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

    #[inline(never)]
    fn write_affine32(&mut self, slot: Slot, affine: Affine) {
        let width = self.row_width();
        affine.write32(self.rows32_mut(slot).as_flattened_mut(), width);
        *self.tracked32_mut(slot) = Tracked::Affine(affine);
    }

    #[inline(never)]
    fn write_affine64(&mut self, slot: Slot, affine: Affine) {
        let width = self.row_width();
        affine.write64(self.rows64_mut(slot).as_flattened_mut(), width);
        *self.tracked64_mut(slot) = Tracked::Affine(affine);
    }
}
