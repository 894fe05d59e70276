//! Errors of loading a module, and of a running kernel.

mod display;

use std::fmt;

/// The reason that a module could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadError {
    /// The kernel or function, if the problem is in one.
    pub function: Option<String>,
    /// The line in the PTX text, from 1, or 0 if there is none.
    pub line: u32,
    /// The problem, for example `unknown instruction`.
    pub message: String,
    /// The instruction as written, if the problem is in one.
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

/// The failure of a kernel launch: the place, and the reason.
///
/// If several blocks are at fault, the first in order of `z`, `y`, `x` is reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kernel.
    pub kernel: Box<str>,
    /// `%ctaid`.
    pub block: [u32; 3],
    /// `%tid` of the first thread at fault.
    pub thread: [u32; 3],
    /// The line in the PTX text, or 0 if no instruction is at fault.
    pub line: u32,
    /// The file and the line of the source, if the PTX has `.loc` directives.
    pub source: Option<(Box<str>, u32)>,
    /// The file and the line of the call, if that place was inlined there.
    pub inlined_at: Option<Box<(Box<str>, u32)>>,
    /// The reason.
    pub kind: FaultKind,
}

/// An access to memory that a thread tried.
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

impl Operation {
    /// The words for messages about work that makes such accesses.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Load => "reads",
            Self::Store => "writes",
            Self::Atomic => "atomically updates",
        }
    }
}

/// An access inside a buffer that a thread tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultyAccess {
    /// The kind of access.
    pub operation: Operation,
    /// The name of the buffer or the allocation, or `shared memory`.
    pub buffer: Box<str>,
    /// The offset of the access from the start of the buffer.
    pub offset: u64,
    /// The number of bytes accessed.
    pub bytes: u32,
}

/// The reason of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The launch itself is invalid: an unknown kernel, wrong arguments, an impossible block size.
    InvalidLaunch(Box<str>),
    /// An access beyond the ends of a buffer.
    OutOfBounds {
        /// The access that was tried.
        operation: Operation,
        /// The buffer, or `shared memory`, `local memory`, `parameters`.
        buffer: Box<str>,
        /// The offset of the access from the start of the buffer; negative before it.
        offset: i64,
        /// The number of bytes accessed.
        bytes: u32,
        /// The size of the buffer in bytes.
        len: u64,
    },
    /// An access to an address where no memory is or was.
    InvalidAddress {
        /// The access that was tried.
        operation: Operation,
        /// The address.
        address: u64,
        /// The number of bytes accessed.
        bytes: u32,
    },
    /// An access of an instruction for shared memory alone, by an address of other memory.
    NotShared {
        /// The access that was tried.
        operation: Operation,
        /// The address.
        address: u64,
        /// The number of bytes accessed.
        bytes: u32,
    },
    /// An access to memory that exists but was not passed to this kernel.
    NotPassed(FaultyAccess),
    /// A load or a store on a buffer passed for atomic operations.
    AtomicOnly(FaultyAccess),
    /// An access to a buffer that is mapped, and that is not strong or is atomic: it may meet those of the host.
    Mapped(FaultyAccess),
    /// A store or an atomic operation on a buffer passed for reading.
    ReadOnly(FaultyAccess),
    /// An access to memory that was freed.
    Freed(FaultyAccess),
    /// An address that is no multiple of the access's size.
    Misaligned {
        /// The access that was tried.
        operation: Operation,
        /// The address, in its space.
        address: u64,
        /// The number of bytes accessed, which is the alignment that it needs.
        bytes: u32,
    },
    /// A load of memory that nothing has written; see
    /// [`Options::check_uninitialized`](crate::Options::check_uninitialized).
    Uninitialized(FaultyAccess),
    /// Two threads of a block touch the same memory, one of them writes, and nothing orders them; see
    /// [`Options::check_shared_races`](crate::Options::check_shared_races) and
    /// [`Options::check_device_races`](crate::Options::check_device_races).
    Race {
        /// The access that was tried.
        access: FaultyAccess,
        /// `%tid` of the other thread.
        other: [u32; 3],
        /// The rank of the other thread's block in the cluster, if that is another block.
        other_block: Option<u32>,
        /// The access of the other thread.
        other_operation: Operation,
        /// Its line in the PTX text.
        other_line: u32,
    },
    /// An access to bytes that other work touches too, although nothing orders that work and this launch; see
    /// [`Options::unordered`](crate::Options::unordered).
    Unordered {
        /// The access that was tried.
        access: FaultyAccess,
        /// The name of the other work.
        other: Box<str>,
        /// The operation of the other work on the bytes.
        other_operation: Operation,
    },
    /// `free` of an address that `malloc` did not return, or that was freed before.
    InvalidFree(u64),
    /// The kernel, or a function that it calls through a register, has an instruction that the emulator does not have;
    /// see [`Kernel::refused`](crate::Kernel::refused).
    Unsupported(Box<LoadError>),
    /// Threads wait for each other, and none can go on.
    Deadlock(Box<str>),
    /// Threads of one warp met a barrier at different instructions, or a thread takes part in an operation of its warp
    /// whose mask leaves it out.
    DivergentBarrier(Box<str>),
    /// A wrong use of an `mbarrier`, or of the barrier of a cluster.
    InvalidBarrier(Box<str>),
    /// A wrong use of a texture or a surface: a handle of none, or an access in a form that it does not have.
    InvalidTexture(Box<str>),
    /// An access outside of a surface (`.trap`).
    OutsideSurface {
        /// The access that was tried.
        operation: Operation,
        /// The buffer that it is a surface of.
        buffer: Box<str>,
        /// The number of bytes accessed.
        bytes: u32,
        /// The byte of a row, the row, and the layer or slice.
        at: [i32; 3],
        /// The bytes of a row, the rows, and the layers or slices.
        sides: [u32; 3],
    },
    /// The block executed more warp instructions than [`Options::step_limit`](crate::Options::step_limit).
    StepLimit(u64),
    /// The launch ran beyond [`Options::deadline`](crate::Options::deadline).
    Late,
    /// A store of infinity or NaN, which ends no launch: see [`Report::not_finite`](crate::Report::not_finite).
    NotFinite,
    /// A device-side `assert` failed.
    Assertion(Box<str>),
    /// `trap` or `brkpt` was executed.
    Trap,
    /// Calls are nested too deeply: no room for the registers or the local memory of another frame.
    StackOverflow,
    /// An indirect call or branch to an address that is no function or label.
    InvalidTarget(u64),
    /// The host has no memory for the registers and the shared memory of a block.
    OutOfMemory,
}

/// A fault of one lane of a warp.
#[derive(Debug)]
pub(crate) struct LaneFault(Box<(usize, FaultKind)>);

impl LaneFault {
    #[cold]
    pub(crate) fn new(lane: usize, kind: FaultKind) -> LaneFault {
        LaneFault(Box::new((lane, kind)))
    }

    /// The lane, and the reason.
    pub(crate) fn into_parts(self) -> (usize, FaultKind) {
        *self.0
    }
}

/// The outcome of a step of an instruction.
pub(crate) trait InLane<T> {
    /// Names the lane that is at fault.
    fn in_lane(self, lane: usize) -> Result<T, LaneFault>;
}

impl<T> InLane<T> for Result<T, FaultKind> {
    #[inline(always)]
    fn in_lane(self, lane: usize) -> Result<T, LaneFault> {
        self.map_err(|kind| LaneFault::new(lane, kind))
    }
}
