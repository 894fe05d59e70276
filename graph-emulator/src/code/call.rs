//! Calls, and the values that they pass.

use super::{Code, Slot};

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) target: Callee,
    /// The place of each argument and result in the caller's frame.
    pub(crate) arguments: Vec<Passed>,
    pub(crate) results: Vec<Passed>,
}

/// The place in a frame of a value that is passed to a function or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    /// In local memory (`.param`): offset and size.
    Local(u32, u32),
    /// In a register (`.reg`).
    R32(Slot),
    R64(Slot),
    Predicate(Slot),
    /// A literal, or a result that is dropped.
    Constant(u64),
}

#[derive(Clone, Debug)]
pub(crate) enum Callee {
    Function(u32),
    /// A function's address in a 64-bit slot.
    Indirect(Slot),
    Builtin(Builtin),
}

/// External functions that the emulator provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    Vprintf,
    AssertFail,
    Malloc,
    Free,
    SetConditional,
}

/// The address of the first function, for indirect calls: outside of all memory.
pub(crate) const FUNCTION_BASE: u64 = 0x10_0000;

impl Code {
    /// The index of the function at an address, which `mov` of its name returned.
    pub(crate) fn function_at(&self, address: u64) -> Option<u32> {
        let index = u32::try_from(address.checked_sub(FUNCTION_BASE)? / 16).ok()?;
        (address.is_multiple_of(16) && (index as usize) < self.functions.len()).then_some(index)
    }
}
