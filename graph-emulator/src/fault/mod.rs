//! What can go wrong: when a module is loaded, and while a kernel runs.

mod display;

use std::fmt;

/// Why a module could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadError {
    /// The kernel or function, where the problem is in one.
    pub function: Option<String>,
    /// The line in the PTX text, from 1; 0 where there is none.
    pub line: u32,
    /// What is wrong, for example `unknown instruction`.
    pub message: String,
    /// The instruction as written, where it is one.
    pub instruction: Option<String>,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(instruction) = &self.instruction {
            write!(f, ": `{instruction}`")?;
        }
        if let Some(function) = &self.function {
            write!(f, " in `{function}`")?;
        }
        if self.line != 0 {
            write!(f, ", line {} of the PTX", self.line)?;
        }
        Ok(())
    }
}

impl std::error::Error for LoadError {}

/// A kernel launch that went wrong: where, and why.
///
/// Of several faults in one launch, the one of the first block (in order of `z`, `y`, `x`) is reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kernel.
    pub kernel: Box<str>,
    /// `%ctaid`.
    pub block: [u32; 3],
    /// `%tid`; of several threads at fault, the first.
    pub thread: [u32; 3],
    /// The line in the PTX text; 0 where no instruction is at fault.
    pub line: u32,
    /// File and line of the source, where the PTX has `.loc` directives.
    pub source: Option<(Box<str>, u32)>,
    /// What happened.
    pub kind: FaultKind,
}

/// What a thread tried to do with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// `ld`
    Load,
    /// `st`
    Store,
    /// `atom`, `red`
    Atomic,
}

/// What went wrong in a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The launch itself is invalid: an unknown kernel, wrong arguments, an impossible block size.
    InvalidLaunch(Box<str>),
    /// An access beyond the ends of a buffer.
    OutOfBounds {
        /// What was tried.
        operation: Operation,
        /// The buffer, or `shared memory`, `local memory`, `parameters`.
        buffer: Box<str>,
        /// Offset of the access from the start of the buffer; negative before it.
        offset: i64,
        /// Bytes accessed.
        bytes: u32,
        /// Size of the buffer.
        len: u64,
    },
    /// An access to an address where nothing is or was.
    InvalidAddress {
        /// What was tried.
        operation: Operation,
        /// The address.
        address: u64,
        /// Bytes accessed.
        bytes: u32,
    },
    /// An access to memory that exists but was not passed to this kernel.
    NotPassed {
        /// What was tried.
        operation: Operation,
        /// The allocation.
        buffer: Box<str>,
        /// Offset of the access in the allocation.
        offset: u64,
        /// Bytes accessed.
        bytes: u32,
    },
    /// A store or an atomic operation on a buffer passed for reading.
    ReadOnly {
        /// What was tried.
        operation: Operation,
        /// The buffer.
        buffer: Box<str>,
        /// Offset of the access in the buffer.
        offset: u64,
        /// Bytes accessed.
        bytes: u32,
    },
    /// An access to memory that was freed.
    Freed {
        /// What was tried.
        operation: Operation,
        /// The allocation that was there.
        buffer: Box<str>,
        /// Offset of the access in the allocation.
        offset: u64,
        /// Bytes accessed.
        bytes: u32,
    },
    /// An address that is no multiple of the access's size.
    Misaligned {
        /// What was tried.
        operation: Operation,
        /// The address, in its space.
        address: u64,
        /// Bytes accessed, and the alignment needed.
        bytes: u32,
    },
    /// A load of memory that nothing has written; see
    /// [`Options::check_uninitialized`](crate::Options::check_uninitialized).
    Uninitialized {
        /// What was tried.
        operation: Operation,
        /// The buffer, or `shared memory`.
        buffer: Box<str>,
        /// Offset of the access in the buffer.
        offset: u64,
        /// Bytes accessed.
        bytes: u32,
    },
    /// Two threads of a block touch the same shared memory, one of them writes, and nothing orders them; see
    /// [`Options::check_shared_races`](crate::Options::check_shared_races).
    SharedRace {
        /// What was tried.
        operation: Operation,
        /// Offset of the access in the shared memory.
        offset: u64,
        /// Bytes accessed.
        bytes: u32,
        /// `%tid` of the other thread.
        other: [u32; 3],
        /// What the other thread did.
        other_operation: Operation,
        /// Its line in the PTX text.
        other_line: u32,
    },
    /// An access to bytes that work which is not ordered with this launch touches too; see
    /// [`Options::unordered`](crate::Options::unordered).
    Unordered {
        /// What was tried.
        operation: Operation,
        /// The buffer.
        buffer: Box<str>,
        /// Offset of the access in the buffer.
        offset: u64,
        /// Bytes accessed.
        bytes: u32,
        /// What else touches them.
        other: Box<str>,
        /// Does it write them, rather than read?
        other_writes: bool,
    },
    /// `free` of an address that `malloc` did not return, or that was freed before.
    InvalidFree(u64),
    /// Threads wait for each other and none can go on.
    Deadlock(Box<str>),
    /// Threads of one warp met a barrier at different instructions.
    DivergentBarrier(Box<str>),
    /// The block executed more warp instructions than [`Options::step_limit`](crate::Options::step_limit).
    StepLimit(u64),
    /// A device-side `assert` failed.
    Assertion(Box<str>),
    /// `trap` or `brkpt` was executed.
    Trap,
    /// Calls are nested too deeply: no room for the registers or the local memory of another frame.
    StackOverflow,
    /// An indirect call or branch to where no function or label is.
    InvalidTarget(u64),
    /// The host has no memory for the registers and the shared memory of a block.
    OutOfMemory,
}

/// Something went wrong in a lane.
#[derive(Debug)]
pub(crate) struct LaneFault(Box<(usize, FaultKind)>);

impl LaneFault {
    #[cold]
    pub(crate) fn new(lane: usize, kind: FaultKind) -> LaneFault {
        LaneFault(Box::new((lane, kind)))
    }

    /// The lane, and what went wrong.
    pub(crate) fn into_parts(self) -> (usize, FaultKind) {
        *self.0
    }
}
