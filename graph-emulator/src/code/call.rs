//! Calls, and what is passed in them.

use super::Slot;

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) target: Target,
    /// Where the caller's frame has each argument and result.
    pub(crate) arguments: Vec<Passed>,
    pub(crate) results: Vec<Passed>,
}

/// Where a frame has what is passed to a function or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    /// In local memory (`.param`): offset and size.
    Local(u32, u32),
    /// In a register (`.reg`).
    R32(Slot),
    R64(Slot),
    /// A literal, or a result that is dropped.
    Constant(u64),
}

#[derive(Clone, Debug)]
pub(crate) enum Target {
    Function(u32),
    /// A function's address in a 64-bit slot.
    Indirect(Slot),
    Builtin(Builtin),
}

/// External functions the emulator has itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    Vprintf,
    AssertFail,
    Malloc,
    Free,
    SetConditional,
}
