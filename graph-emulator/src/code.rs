//! Decoded code: one flat array of instructions for a module, every operand a slot, every modifier a number.

mod matrix;
mod video;

use std::ops::Range;
use std::sync::Arc;

use crate::visit::{File, Role};

pub(crate) use matrix::{Element, Fragment, FragmentLayout, Matrix, MatrixOp, Multiply, Rows, Tile};
pub(crate) use video::{Part, Source, Then, Video, VideoOp};

/// A register, relative to the frame: an index into the file of its width.
pub(crate) type Slot = u32;

/// A destination that is dropped (`_`).
pub(crate) const DISCARD: Slot = Slot::MAX;

/// A module's code.
#[derive(Default)]
pub(crate) struct Code {
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) operands: Operands,
    /// Where each instruction came from.
    pub(crate) lines: Vec<Line>,
    pub(crate) functions: Vec<Function>,
    pub(crate) files: Vec<(u32, String)>,
    /// The addresses of `.const` variables.
    pub(crate) constants: Vec<Range<u64>>,
}

/// The registers that instructions read and write, of one instruction after the other.
#[derive(Default)]
pub(crate) struct Operands {
    all: Vec<(File, Role, Slot)>,
    ends: Vec<u32>,
}

impl Operands {
    /// Add the operands of the next instruction.
    pub(crate) fn push(&mut self, instruction: &mut Instruction) {
        instruction
            .op
            .visit(|file, role, slot| self.all.push((file, role, *slot)));
        self.ends.push(self.all.len() as u32);
    }

    /// The operands of the instruction at a place.
    #[inline(always)]
    pub(crate) fn at(&self, pc: u32) -> &[(File, Role, Slot)] {
        let start = (pc as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[start as usize..self.ends[pc as usize] as usize]
    }
}

/// Where an instruction stands in the PTX, and in the source.
#[derive(Clone, Copy, Default)]
pub(crate) struct Line {
    pub(crate) line: u32,
    pub(crate) source: Option<(u32, u32)>,
}

/// Sizes of a function's frame: registers of each file, and bytes of local memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameSize {
    pub(crate) r32: u32,
    pub(crate) r64: u32,
    pub(crate) predicates: u32,
    pub(crate) local: u32,
}

/// A function with a body.
#[derive(Default)]
pub(crate) struct Function {
    pub(crate) name: Arc<str>,
    pub(crate) start: u32,
    /// What is executed once for all blocks, in every lane.
    pub(crate) prologue: Vec<Instruction>,
    pub(crate) frame: FrameSize,
    /// Registers that may be read before they are written: cleared when the frame is entered.
    pub(crate) unassigned: Vec<(File, Slot)>,
    /// Slots to fill when a frame is entered.
    pub(crate) constants32: Vec<(Slot, u32)>,
    pub(crate) constants64: Vec<(Slot, u64)>,
    pub(crate) specials: Vec<(Slot, Special)>,
    /// Where the frame has the formal parameters and results (`.func` only).
    pub(crate) params: Vec<Passed>,
    pub(crate) results: Vec<Passed>,
    /// Bytes of static shared memory, for kernels.
    pub(crate) shared: u32,
}

/// Special registers that are constant for a thread during a launch; all are 32-bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Tid(usize),
    Ntid(usize),
    Ctaid(usize),
    Nctaid(usize),
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
    /// Offset of the dynamic shared memory, which follows the kernel's static one.
    DynamicShared,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    pub(crate) guard: Option<Guard>,
    pub(crate) op: Op,
}

/// `@%p` or `@!%p`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    pub(crate) predicate: Slot,
    /// All ones where negated.
    pub(crate) flip: u32,
}

/// What an instruction does, by family.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// Does nothing here: `griddepcontrol`, `prefetch`, `pragma`.
    Nop,
    Integer(Integer),
    /// `mul.wide`, `mad.wide`
    Multiply(WideMultiply),
    Shift(Shift),
    Bits(Bits),
    Carry(Carry),
    Video(Box<Video>),
    Float(Float),
    Math(Math),
    Compare(Box<Compare>),
    Test(Test),
    Select(Select),
    Move(Move),
    Predicate(PredicateOp),
    Convert(Convert),
    Narrow(NarrowConvert),
    Load(Box<Access>),
    Store(Box<Access>),
    Atomic(Box<Atomic>),
    /// One after the other, none of which changes the flow of control: a vector of atomic operations.
    Sequence(Box<[Op]>),
    AsyncCopy(Box<AsyncCopy>),
    /// A relative to absolute address in local memory: `d = frame + offset`.
    LocalAddress {
        d: Slot,
        offset: u32,
        wide: bool,
        generic: bool,
    },
    /// `isspacep`
    IsSpace {
        d: Slot,
        a: Slot,
        space: Space,
        /// The `.const` part of the global space, or the rest of it.
        constant: bool,
    },
    /// `membar`, `fence`
    Fence,
    Clock {
        d: Slot,
        wide: bool,
    },
    Branch(u32),
    /// `brx.idx`
    BranchIndexed {
        index: Slot,
        targets: Arc<[u32]>,
    },
    Call(Box<Call>),
    Return,
    Exit,
    Trap,
    NanoSleep,
    Barrier(Box<Barrier>),
    /// `bar.warp.sync`
    WarpBarrier {
        mask: Slot,
    },
    Shuffle(Box<Shuffle>),
    Vote(Vote),
    Match(Match),
    Reduce(Reduce),
    Matrix(Box<Matrix>),
    ActiveMask {
        d: Slot,
    },
    /// `elect.sync d|p`
    Elect {
        d: Slot,
        p: Slot,
        mask: Slot,
    },
}

/// Integer types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntegerType {
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
}

/// Operations whose operands and result have one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntegerOp {
    Add,
    Sub,
    Mul,
    MulHigh,
    Mad,
    MadHigh,
    Div,
    Rem,
    Min,
    Max,
    Abs,
    Neg,
    Sad,
    AddSat,
    SubSat,
    MadHighSat,
    Mul24,
    Mul24High,
    Mad24,
    Mad24High,
    And,
    Or,
    Xor,
    Not,
    Cnot,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Integer {
    pub(crate) op: IntegerOp,
    pub(crate) ty: IntegerType,
    pub(crate) d: Slot,
    pub(crate) s: [Slot; 3],
}

/// `d = a * b + c` in twice the width; without `c`, `DISCARD`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WideMultiply {
    pub(crate) ty: IntegerType,
    pub(crate) d: Slot,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
    pub(crate) c: Slot,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Shift {
    pub(crate) ty: IntegerType,
    pub(crate) left: bool,
    pub(crate) d: Slot,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
}

/// Bit manipulation; shapes of the operands differ, see `exec::bits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BitsOp {
    Popc32,
    Popc64,
    Clz32,
    Clz64,
    Brev32,
    Brev64,
    Bfind { wide: bool, signed: bool, shift: bool },
    BfeU32,
    BfeS32,
    BfeU64,
    BfeS64,
    Bfi32,
    Bfi64,
    Lop3(u8),
    FunnelLeft { clamp: bool },
    FunnelRight { clamp: bool },
    Prmt(PrmtMode),
    Fns,
    Dp4a { a_signed: bool, b_signed: bool },
    Dp2a { a_signed: bool, b_signed: bool, high: bool },
    Bmsk { clamp: bool },
    SzextU { clamp: bool },
    SzextS { clamp: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrmtMode {
    Index,
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Bits {
    pub(crate) op: BitsOp,
    pub(crate) d: Slot,
    pub(crate) s: [Slot; 4],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CarryOp {
    Add,
    Sub,
    MadLow,
    MadHigh,
}

/// `add.cc`, `addc`, `subc.cc`, `madc.hi.cc` ...
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carry {
    pub(crate) op: CarryOp,
    pub(crate) ty: IntegerType,
    pub(crate) carry_in: bool,
    pub(crate) carry_out: bool,
    pub(crate) d: Slot,
    pub(crate) s: [Slot; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatType {
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
}

/// Rounding of floating-point results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    Nearest,
    Zero,
    Down,
    Up,
    /// `.rna`: ties away from zero.
    NearestAway,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatOp {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    /// `div.approx`: by the reciprocal, which is flushed.
    DivApprox,
    Sqrt,
    Min {
        nan: bool,
        xorsign: bool,
    },
    Max {
        nan: bool,
        xorsign: bool,
    },
    Neg,
    Abs,
    CopySign,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Float {
    pub(crate) op: FloatOp,
    pub(crate) ty: FloatType,
    pub(crate) round: Rounding,
    pub(crate) ftz: bool,
    pub(crate) sat: bool,
    pub(crate) relu: bool,
    pub(crate) d: Slot,
    pub(crate) s: [Slot; 3],
}

/// Approximate functions of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MathOp {
    Ex2,
    Lg2,
    Sin,
    Cos,
    Rcp,
    Rsqrt,
    Tanh,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Math {
    pub(crate) op: MathOp,
    pub(crate) ty: FloatType,
    pub(crate) ftz: bool,
    pub(crate) d: Slot,
    pub(crate) a: Slot,
}

/// Types of comparisons and selections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompareType {
    Integer(IntegerType),
    Float(FloatType),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// The `u` forms: true where an operand is NaN.
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BooleanOp {
    And,
    Or,
    Xor,
}

/// Where the outcome of a comparison goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// `setp`: predicates `p` and `q` (either may be `DISCARD`).
    Predicates(Slot, Slot),
    /// `set`: all ones or zero.
    Mask(Slot),
    /// `set` to a floating-point type: these bits or zero.
    Value(Slot, u32),
    /// `set` to two halves.
    Halves(Slot, u32),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Compare {
    pub(crate) ty: CompareType,
    pub(crate) comparison: Comparison,
    pub(crate) ftz: bool,
    pub(crate) combine: Option<(BooleanOp, Slot, u32)>,
    pub(crate) s: [Slot; 2],
    pub(crate) to: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestOp {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// `testp`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    pub(crate) op: TestOp,
    pub(crate) wide: bool,
    pub(crate) d: Slot,
    pub(crate) a: Slot,
}

/// `selp`, `slct`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Select {
    pub(crate) wide: bool,
    pub(crate) by: Selector,
    pub(crate) d: Slot,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Selector {
    Predicate(Slot, u32),
    /// `c >= 0` as `s32`
    Signed(Slot),
    /// `c >= 0` as `f32`, flushed first where asked
    Float(Slot, bool),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Move {
    M32 {
        d: Slot,
        a: Slot,
    },
    M64 {
        d: Slot,
        a: Slot,
    },
    /// `mov.b32 d, {a, b}`
    Pack32 {
        d: Slot,
        s: [Slot; 2],
    },
    /// `mov.b32 d, {a, b, c, d}`: bytes
    PackBytes {
        d: Slot,
        s: [Slot; 4],
    },
    /// `mov.b64 d, {a, b}`
    Pack64 {
        d: Slot,
        s: [Slot; 2],
    },
    /// `mov.b64 d, {a, b, c, d}`
    PackQuarters {
        d: Slot,
        s: [Slot; 4],
    },
    Unpack32 {
        d: [Slot; 2],
        a: Slot,
    },
    UnpackBytes {
        d: [Slot; 4],
        a: Slot,
    },
    Unpack64 {
        d: [Slot; 2],
        a: Slot,
    },
    UnpackQuarters {
        d: [Slot; 4],
        a: Slot,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum PredicateOp {
    Mov { d: Slot, a: Slot },
    Set { d: Slot, value: u32 },
    Not { d: Slot, a: Slot },
    Combine { op: BooleanOp, d: Slot, a: Slot, b: Slot },
}

/// Types of conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConvertType {
    Integer { bytes: u8, signed: bool },
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Convert {
    pub(crate) from: ConvertType,
    pub(crate) to: ConvertType,
    pub(crate) round: Rounding,
    /// Round to an integer, in the floating-point format.
    pub(crate) integral: bool,
    pub(crate) ftz: bool,
    pub(crate) sat: bool,
    pub(crate) relu: bool,
    /// Is the source in a 64-bit slot?
    pub(crate) from_wide: bool,
    /// Is the destination in a 64-bit slot?
    pub(crate) to_wide: bool,
    pub(crate) d: Slot,
    pub(crate) a: Slot,
    /// The second source of `cvt.f16x2.f32 d, a, b`, which becomes the lower half.
    pub(crate) b: Slot,
}

/// A conversion between two floats of eight bits and two of more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NarrowConvert {
    pub(crate) format: crate::exec::narrow::Narrow,
    /// From eight bits to `f16`, rather than the other way.
    pub(crate) widens: bool,
    pub(crate) relu: bool,
    pub(crate) d: Slot,
    /// Two halves, or the `f32` that becomes the upper byte.
    pub(crate) a: Slot,
    /// The `f32` that becomes the lower byte; `DISCARD` for halves.
    pub(crate) b: Slot,
}

/// State spaces, as they are executed; `.const` is `Global`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Generic,
    Global,
    Shared,
    Local,
    /// The kernel's parameters.
    Param,
}

/// What an address is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    R32(Slot),
    R64(Slot),
    /// The current frame in local memory.
    Frame,
    /// Zero.
    Absolute,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) base: Base,
    pub(crate) offset: i64,
}

/// A load or a store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) space: Space,
    pub(crate) address: Address,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub(crate) bytes: u8,
    /// Sign-extend what is loaded.
    pub(crate) signed: bool,
    /// Elements: 1, 2, 4 or 8.
    pub(crate) count: u8,
    /// Are the registers 64-bit slots?
    pub(crate) wide: bool,
    /// `volatile`, `relaxed`, `acquire` or `release`: may be what a loop waits for.
    pub(crate) strong: bool,
    pub(crate) values: [Slot; 8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicOp {
    Add,
    And,
    Or,
    Xor,
    Exchange,
    CompareExchange,
    Inc,
    Dec,
    Min,
    Max,
}

/// Types of atomic operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicType {
    B16,
    B32,
    B64,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Atomic {
    pub(crate) op: AtomicOp,
    pub(crate) ty: AtomicType,
    pub(crate) space: Space,
    pub(crate) address: Address,
    /// The old value's place; `DISCARD` for `red`.
    pub(crate) d: Slot,
    pub(crate) b: Slot,
    pub(crate) c: Slot,
}

/// `cp.async`, done at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsyncCopy {
    pub(crate) to: Address,
    pub(crate) from: Address,
    pub(crate) bytes: u8,
    /// How many bytes to read, the rest being zero; `DISCARD` for all.
    pub(crate) source_bytes: Slot,
    /// Where this predicate holds nothing is read and zeros are written: a slot, and all ones where it is negated.
    pub(crate) ignore: Option<Guard>,
}

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierOp {
    Sync,
    Arrive,
    Popc { d: Slot, p: Slot, flip: u32 },
    And { d: Slot, p: Slot, flip: u32 },
    Or { d: Slot, p: Slot, flip: u32 },
}

/// `bar`, `barrier`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    pub(crate) op: BarrierOp,
    pub(crate) aligned: bool,
    pub(crate) id: Slot,
    /// Threads that take part; `DISCARD` for all.
    pub(crate) count: Slot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Shuffle {
    pub(crate) mode: ShuffleMode,
    pub(crate) d: Slot,
    pub(crate) p: Slot,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
    pub(crate) c: Slot,
    pub(crate) mask: Slot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VoteOp {
    All,
    Any,
    Uniform,
    Ballot,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Vote {
    pub(crate) op: VoteOp,
    pub(crate) d: Slot,
    pub(crate) p: Slot,
    pub(crate) flip: u32,
    pub(crate) mask: Slot,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    pub(crate) all: bool,
    pub(crate) wide: bool,
    pub(crate) d: Slot,
    pub(crate) p: Slot,
    pub(crate) a: Slot,
    pub(crate) mask: Slot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReduceOp {
    Add,
    MinU,
    MaxU,
    MinS,
    MaxS,
    And,
    Or,
    Xor,
}

/// `redux.sync`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduce {
    pub(crate) op: ReduceOp,
    pub(crate) d: Slot,
    pub(crate) a: Slot,
    pub(crate) mask: Slot,
}
