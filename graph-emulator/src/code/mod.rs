//! Decoded code: one flat array of instructions for a module. Every operand is a slot, every modifier a number.

mod op;
mod operands;
mod call;
mod collective;
mod matrix_op;
mod mbarrier_op;
mod texture_fetch;
mod access;
mod video_op;
mod data;
mod float_op;
mod integer;

use std::ops::Range;
use std::sync::Arc;

use crate::fault::LoadError;

pub(crate) use access::{
    Address, AsyncCopy, Atomic, AtomicOp, Base, MAX_CLUSTER, OWN_SHARED_END, Space, Transfer, block_of, in_block,
    window,
};
pub(crate) use call::{Builtin, Call, Callee, FUNCTION_BASE, Passed};
pub(crate) use collective::{
    Barrier, BarrierOp, BarrierReduction, Collective, Match, Reduce, Shuffle, ShuffleMode, Vote, VoteOp,
};
pub(crate) use data::{
    BooleanOp, Compare, CompareTarget, Comparison, Convert, ConvertType, Logic, Move, NarrowConvert, NumberType,
    Select, Selector, Test, TestOp,
};
pub(crate) use float_op::{Extreme, Float, FloatOp, FloatType, Math, MathOp};
pub(crate) use integer::{Bits, BitsOp, Carry, CarryOp, Integer, IntegerOp, IntegerType, PrmtMode};
pub(crate) use matrix_op::{
    Element, Fragment, FragmentLayout, MAX_ELEMENTS, Matrix, MatrixOp, MatrixRows, Multiply, Tile,
};
pub(crate) use mbarrier_op::{
    Arrive, AsyncStore, BulkCopy, ClusterAddress, ClusterAddressOp, ClusterBarrier, Mbarrier, MbarrierOp, Phase,
};
pub(crate) use op::{Jump, LaneOp, MemoryOp, Op, Query, Successors, Wait};
pub(crate) use operands::{Operand, Operands};
pub(crate) use texture_fetch::{Outside, Place, Side, SurfaceAccess, TexelType, TextureFetch, TextureQuery};
pub(crate) use video_op::{Part, Source, Then, Video, VideoOp};

/// A register of the current frame: an index into the file of its width.
pub(crate) type Slot = u32;

/// A destination that is dropped (`_`).
pub(crate) const DISCARD: Slot = Slot::MAX;

/// The most shared memory of a block in bytes, static and dynamic.
pub(crate) const MAX_SHARED: u32 = 1 << 24;

/// The bytes of the reserved part of shared memory, in blocks of kernels that ask for it.
pub(crate) const RESERVED_SHARED: u32 = 1024;

/// The size of the shared memory that a kernel declares and a launch adds. The reserved part is after it.
pub(crate) const fn declared_shared(fixed: u32, dynamic: u32) -> u32 {
    match dynamic {
        0 => fixed,
        dynamic => fixed.next_multiple_of(16) + dynamic,
    }
}

/// A register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum File {
    R32,
    R64,
    Predicate,
}

/// A register of a frame.
pub(crate) type Register = (File, Slot);

/// The use that an instruction makes of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Source,
    Target,
}

/// A module's code.
#[derive(Default)]
pub(crate) struct Code {
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) operands: Operands,
    /// The line of each instruction.
    pub(crate) lines: Vec<Line>,
    pub(crate) functions: Vec<Function>,
    pub(crate) files: Vec<(u32, String)>,
    /// The address ranges of `.const` variables.
    pub(crate) constants: Vec<Range<u64>>,
}

impl Code {
    /// Whether a function asks for the workspace of cooperative launches.
    pub(crate) fn uses_workspace(&self) -> bool {
        self.mentions(|special| matches!(special, Special::Workspace(_)))
    }

    /// Whether a function asks for the reserved part of shared memory.
    pub(crate) fn uses_reserved_shared(&self) -> bool {
        self.mentions(|special| special == Special::ReservedShared)
    }

    fn mentions(&self, which: impl Fn(Special) -> bool) -> bool {
        let mut specials = self.functions.iter().flat_map(|function| &function.specials);
        specials.any(|&(_, special)| which(special))
    }
}

/// The line of an instruction in the PTX, and its file and line in the source.
#[derive(Clone, Copy, Default)]
pub(crate) struct Line {
    pub(crate) line: u32,
    pub(crate) source: Option<(u32, u32)>,
    /// The file and the line of the call, if the place was inlined there.
    pub(crate) inlined_at: Option<(u32, u32)>,
}

/// The size of a function's frame: registers of each file, and bytes of local memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameSize {
    pub(crate) r32: u32,
    pub(crate) r64: u32,
    pub(crate) predicates: u32,
    pub(crate) local: u32,
}

impl FrameSize {
    /// Grows by a register, and returns its slot.
    pub(crate) fn take(&mut self, file: File) -> Slot {
        let counter = match file {
            File::R32 => &mut self.r32,
            File::R64 => &mut self.r64,
            File::Predicate => &mut self.predicates,
        };
        *counter += 1;
        *counter - 1
    }

    /// All registers, in the order of their indices.
    pub(crate) fn registers(self) -> impl Iterator<Item = Register> {
        let file = |file: File, count: u32| (0..count).map(move |slot| (file, slot));
        let wider = file(File::R64, self.r64).chain(file(File::Predicate, self.predicates));
        file(File::R32, self.r32).chain(wider)
    }

    /// The index of a register among all of the frame.
    pub(crate) fn index(self, (file, slot): Register) -> usize {
        let before = match file {
            File::R32 => 0,
            File::R64 => self.r32,
            File::Predicate => self.r32 + self.r64,
        };
        (before + slot) as usize
    }
}

/// A function with a body.
#[derive(Default)]
pub(crate) struct Function {
    pub(crate) name: Arc<str>,
    pub(crate) start: u32,
    /// The reason that it cannot run, if it cannot: an instruction of its own, or of a function that it may call.
    pub(crate) refused: Option<Arc<LoadError>>,
    /// Instructions that are executed once for all blocks, in every lane.
    pub(crate) prologue: Vec<Instruction>,
    pub(crate) frame: FrameSize,
    /// Registers that may be read before they are written: cleared when the frame is entered.
    pub(crate) unassigned: Vec<Register>,
    /// Slots to fill when a frame is entered.
    pub(crate) constants32: Vec<(Slot, u32)>,
    pub(crate) constants64: Vec<(Slot, u64)>,
    pub(crate) specials: Vec<(Slot, Special)>,
    /// The places of the formal parameters and results in the frame (`.func` only).
    pub(crate) params: Vec<Passed>,
    pub(crate) results: Vec<Passed>,
    /// Bytes of static shared memory (kernels only).
    pub(crate) shared: u32,
}

/// Special registers that are constant for a thread during a launch; all are 32-bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Tid(usize),
    Ntid(usize),
    Position(Position),
    Nctaid(usize),
    /// The number of clusters.
    NclusterId(usize),
    /// The number of blocks in a cluster.
    ClusterNctaid(usize),
    ClusterNctarank,
    /// Whether the launch says its cluster: 1 or 0.
    ExplicitCluster,
    LaneId,
    WarpId,
    NwarpId,
    LaneMaskEq,
    LaneMaskLt,
    LaneMaskLe,
    LaneMaskGt,
    LaneMaskGe,
    DynamicSharedSize,
    TotalSharedSize,
    /// The offset of the dynamic shared memory, which follows the kernel's static shared memory.
    DynamicShared,
    /// The offset of the shared memory that CUDA's cooperative groups use for themselves.
    ReservedShared,
    /// Half of the address of the workspace where the blocks of a cooperative launch meet; zero in other launches.
    Workspace(Half),
}

/// The special registers that differ between blocks, and that all threads of a block have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    Ctaid(usize),
    /// The position of the cluster in the grid.
    ClusterId(usize),
    /// The position of the block in its cluster.
    ClusterCtaid(usize),
    ClusterCtarank,
}

impl Position {
    /// Its value for the block at `ctaid`, in clusters of `cluster` blocks.
    pub(crate) fn of_block(self, ctaid: [u32; 3], cluster: [u32; 3]) -> u32 {
        let within = |axis: usize| ctaid[axis] % cluster[axis];
        match self {
            Position::Ctaid(axis) => ctaid[axis],
            Position::ClusterId(axis) => ctaid[axis] / cluster[axis],
            Position::ClusterCtaid(axis) => within(axis),
            Position::ClusterCtarank => within(0) + cluster[0] * (within(1) + cluster[1] * within(2)),
        }
    }
}

/// Half of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    Low,
    High,
}

/// An instruction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Instruction {
    pub(crate) guard: Option<Guard>,
    pub(crate) op: Op,
}

/// A predicate that may be negated: the guard `@%p` or `@!%p` of an instruction, or a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guard {
    pub(crate) predicate: Slot,
    /// All ones if the predicate is negated, else zero.
    pub(crate) flip: u32,
}

impl Guard {
    pub(crate) fn new(predicate: Slot, negated: bool) -> Guard {
        let flip = if negated { u32::MAX } else { 0 };
        Guard { predicate, flip }
    }

    /// Its negation.
    pub(crate) fn not(self) -> Guard {
        let flip = !self.flip;
        Guard { flip, ..self }
    }
}
