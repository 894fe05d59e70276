//! The operands of all instructions, one after the other, for analyses that need nothing else of them.

use super::{File, Role, Slot};

/// An operand that is a register.
pub(crate) type Operand = (File, Role, Slot);

/// The registers that each instruction reads and writes, besides its guard.
#[derive(Default)]
pub(crate) struct Operands {
    all: Vec<Operand>,
    ends: Vec<u32>,
}

impl Operands {
    /// Adds the operands of the next instruction.
    pub(crate) fn push(&mut self, operands: &[Operand]) {
        self.all.extend_from_slice(operands);
        self.ends.push(self.all.len() as u32);
    }

    /// The operands of the instruction at `pc`.
    #[inline(always)]
    pub(crate) fn at(&self, pc: u32) -> &[Operand] {
        let start = (pc as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[start as usize..self.ends[pc as usize] as usize]
    }
}
