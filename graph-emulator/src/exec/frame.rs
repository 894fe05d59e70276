//! Values in frames: those that one frame passes to another, and those that a frame begins with.

use crate::code::{DISCARD, Function, Passed};
use crate::state::{Frame, LANES, Warp, all_if, lanes};

impl Warp {
    /// Copies a parameter or result from one frame to another. The registers may be left at either frame.
    pub(crate) fn pass(&mut self, mask: u32, (source, from): (Frame, Passed), (target, to): (Frame, Passed)) {
        if let (Passed::Local(from, bytes), Passed::Local(to, size)) = (from, to) {
            self.local
                .copy(mask, source.local + from, target.local + to, bytes.min(size));
            return;
        }
        self.registers.frame = source;
        let values = self.passed(from);
        self.registers.frame = target;
        for lane in lanes(mask) {
            self.put(to, lane, values[lane]);
        }
    }

    /// The value that the current frame passes, in each lane.
    pub(crate) fn passed(&self, from: Passed) -> [u64; LANES] {
        match from {
            Passed::Local(offset, bytes) => {
                let address = u64::from(self.registers.frame.local + offset);
                std::array::from_fn(|lane| self.local.load(lane, address, scalar(bytes)))
            }
            Passed::R32(slot) => self.registers.get32(slot).map(u64::from),
            Passed::R64(slot) => *self.registers.get64(slot),
            Passed::Predicate(slot) => {
                let predicate = self.registers.predicate(slot);
                std::array::from_fn(|lane| u64::from(predicate >> lane & 1))
            }
            Passed::Constant(value) => [value; LANES],
        }
    }

    /// Puts a value to the place where the current frame expects it.
    pub(crate) fn put(&mut self, to: Passed, lane: usize, value: u64) {
        match to {
            Passed::Local(offset, bytes) => {
                let address = u64::from(self.registers.frame.local + offset);
                self.local.store(lane, address, scalar(bytes), value);
            }
            Passed::R32(slot) => self.registers.get32_mut(slot)[lane] = value as u32,
            Passed::R64(slot) => self.registers.get64_mut(slot)[lane] = value,
            Passed::Predicate(slot) => {
                self.registers.set_predicate(slot, 1 << lane, all_if(value != 0));
            }
            Passed::Constant(_) => {}
        }
    }

    /// Fills the slots of a function's literals and special registers, in the lanes of a mask.
    pub(crate) fn fill_constants(&mut self, function: &Function, mask: u32) {
        self.registers.reserve(function.frame);
        self.registers.clear(&function.unassigned, mask);
        for &(slot, value) in &function.constants32 {
            self.registers.set(slot, mask, [value; LANES]);
        }
        for &(slot, value) in &function.constants64 {
            self.registers.set(slot, mask, [value; LANES]);
        }
        for &(slot, special) in &function.specials {
            debug_assert_ne!(slot, DISCARD);
            let value = self.special(special);
            self.registers.set(slot, mask, value);
        }
    }
}

/// The size of a value that is passed: small parameters take whole words.
fn scalar(bytes: u32) -> u8 {
    if bytes == 8 { 8 } else { 4 }
}
