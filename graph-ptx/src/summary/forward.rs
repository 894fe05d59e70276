//! Loads that come right after a store: if both are of one place in local memory, the load finds what was stored, and
//! nothing else that the place holds at other times. (Compilers without optimisation let the parts of a union follow
//! each other in one place: a number, and then an address.)

use super::blocks::Exit;
use super::opcode::{Action, extent};
use crate::ast::{Body, Instruction, Operand};

/// The size of what is followed in local memory.
const BYTES: u64 = 8;

/// The loads of a body that come after a store, in the same basic block and without a write of memory between.
#[derive(Debug, Default)]
pub(super) struct Forwards {
    /// Each load with the store, in order of the code.
    pairs: Vec<(u32, u32)>,
}

impl Forwards {
    pub(super) fn find(body: &Body, actions: &[Action], exits: &[Exit]) -> Self {
        let mut begins = vec![false; body.instructions.len() + 1];
        for exit in exits {
            match exit {
                Exit::Next | Exit::Return => {}
                Exit::Unknown => return Self::default(),
                Exit::Jump(places) => places.iter().for_each(|&place| begins[place] = true),
            }
        }
        let (mut pairs, mut store) = (Vec::new(), None);
        for (index, instruction) in body.instructions.iter().enumerate() {
            if begins[index] {
                store = None;
            }
            match actions[index] {
                Action::Compute(_) | Action::Nothing => {}
                Action::Load => {
                    let number = u32::try_from(index).ok();
                    pairs.extend(number.zip(store).filter(|_| loaded(instruction).is_some()));
                }
                Action::Store => {
                    let number = u32::try_from(index).ok();
                    store = number.filter(|_| instruction.guard.is_none() && stored(instruction).is_some());
                }
                Action::Atomic | Action::Move | Action::Call | Action::Unknown => store = None,
            }
            if exits[index] != Exit::Next {
                store = None;
            }
        }
        Self { pairs }
    }

    /// The store that a load comes after.
    pub(super) fn store_before(&self, load: u32) -> Option<u32> {
        let found = self.pairs.binary_search_by_key(&load, |pair| pair.0).ok()?;
        Some(self.pairs[found].1)
    }

    /// The loads that come after a store.
    pub(super) fn loads_after(&self, store: u32) -> impl Iterator<Item = u32> {
        let first = self.pairs.partition_point(|pair| pair.1 < store);
        let pairs = self.pairs[first..].iter();
        pairs.take_while(move |pair| pair.1 == store).map(|pair| pair.0)
    }
}

/// The address and the value of a store of one whole value.
pub(super) fn stored(instruction: &Instruction) -> Option<(&Operand, &Operand)> {
    match (&*instruction.opcode, &instruction.operands[..]) {
        ("st", [address @ Operand::Address(..), value @ Operand::Register(_)]) => Some((address, value)),
        _ => None,
    }
    .filter(|_| extent(instruction) == Some(BYTES))
}

/// The address of a load of one whole value.
pub(super) fn loaded(instruction: &Instruction) -> Option<&Operand> {
    match (&*instruction.opcode, &instruction.operands[..]) {
        ("ld", [Operand::Register(_), address @ Operand::Address(..)]) => Some(address),
        _ => None,
    }
    .filter(|_| extent(instruction) == Some(BYTES))
}
