//! What is known of how the values of a slot lie in the block. While the warps of a block run together, a register whose
//! values form a [`Lattice`] need not have them written at all, until an instruction asks for them.

use crate::code::Slot;
use crate::lattice::Lattice;
use crate::registers::{LANES, Registers};
use crate::shape::Shape;
use crate::visit::File;

/// What is known of the values of a slot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Known {
    /// They were there before the block began; nobody has looked at them.
    #[default]
    Unseen,
    /// They were computed lane by lane; nobody has looked at them.
    Computed,
    /// They form no lattice.
    Scattered,
    /// They form a lattice.
    Lattice(Lattice),
    /// They form a lattice, and are yet to be written.
    Pending(Lattice),
}

impl Known {
    #[inline(always)]
    fn lattice(self) -> Option<Lattice> {
        match self {
            Known::Lattice(lattice) | Known::Pending(lattice) => Some(lattice),
            _ => None,
        }
    }
}

impl From<Option<Lattice>> for Known {
    fn from(found: Option<Lattice>) -> Known {
        found.map_or(Known::Scattered, Known::Lattice)
    }
}

impl Registers {
    /// The lattice of a 32-bit register that serves as an address. `side` threads are a row.
    #[inline(always)]
    pub(crate) fn find_lattice32(&mut self, slot: Slot, side: usize) -> Option<Lattice> {
        if let Known::Unseen | Known::Computed = self.known32(slot) {
            let found = Lattice::detect32(self.rows32(slot).as_flattened(), side);
            *self.known32_mut(slot) = found.into();
        }
        self.known32(slot).lattice()
    }

    /// The same of a 64-bit register.
    #[inline(always)]
    pub(crate) fn find_lattice64(&mut self, slot: Slot, side: usize) -> Option<Lattice> {
        if let Known::Unseen | Known::Computed = self.known64(slot) {
            let found = Lattice::detect64(self.rows64(slot).as_flattened(), side);
            *self.known64_mut(slot) = found.into();
        }
        self.known64(slot).lattice()
    }

    /// The lattice of a 32-bit register, without looking at values that were computed lane by lane.
    #[inline(always)]
    pub(crate) fn lattice32(&mut self, slot: Slot, side: usize) -> Option<Lattice> {
        match self.known32(slot) {
            Known::Unseen => self.find_lattice32(slot, side),
            known => known.lattice(),
        }
    }

    /// The same of a 64-bit register.
    #[inline(always)]
    pub(crate) fn lattice64(&mut self, slot: Slot, side: usize) -> Option<Lattice> {
        match self.known64(slot) {
            Known::Unseen => self.find_lattice64(slot, side),
            known => known.lattice(),
        }
    }

    /// A 32-bit register has the values of a lattice from now on.
    #[inline(always)]
    pub(crate) fn set_lattice32(&mut self, slot: Slot, lattice: Lattice) {
        *self.known32_mut(slot) = Known::Pending(lattice);
    }

    /// The same of a 64-bit register.
    #[inline(always)]
    pub(crate) fn set_lattice64(&mut self, slot: Slot, lattice: Lattice) {
        self.forget64(slot);
        *self.known64_mut(slot) = Known::Pending(lattice);
    }

    /// Write the values of a slot that are yet to be written.
    #[inline(always)]
    pub(crate) fn settle(&mut self, file: File, slot: Slot, side: usize) {
        match file {
            File::R32 => {
                if let Known::Pending(lattice) = self.known32(slot) {
                    self.write_lattice32(slot, lattice, side);
                }
            }
            File::R64 => {
                if let Known::Pending(lattice) = self.known64(slot) {
                    self.write_lattice64(slot, lattice, side);
                }
            }
            File::Predicate => {}
        }
    }

    /// Write the values of all slots of a frame at the bottom of the stack that are yet to be written.
    pub(crate) fn settle_all(&mut self, slots32: u32, slots64: u32, side: usize) {
        for slot in 0..slots32 {
            self.settle(File::R32, slot, side);
        }
        for slot in 0..slots64 {
            self.settle(File::R64, slot, side);
        }
    }

    #[inline(never)]
    fn write_lattice32(&mut self, slot: Slot, lattice: Lattice, side: usize) {
        lattice.write32(self.rows32_mut(slot).as_flattened_mut(), side);
        *self.known32_mut(slot) = Known::Lattice(lattice);
    }

    #[inline(never)]
    fn write_lattice64(&mut self, slot: Slot, lattice: Lattice, side: usize) {
        lattice.write64(self.rows64_mut(slot).as_flattened_mut(), side);
        *self.known64_mut(slot) = Known::Lattice(lattice);
    }

    /// How the values of a 64-bit register lie, in all lanes of a warp.
    #[inline(always)]
    pub(crate) fn shape(&mut self, slot: Slot) -> Shape {
        let warp = self.first();
        match *self.shape_mut(slot) {
            Some((known, shape)) if known == warp => shape,
            _ => {
                let shape = Shape::of(self.get64(slot));
                *self.shape_mut(slot) = Some((warp, shape));
                shape
            }
        }
    }

    /// Threads of the warps.
    #[inline(always)]
    pub(crate) fn threads(&self) -> usize {
        self.count() as usize * LANES
    }
}
