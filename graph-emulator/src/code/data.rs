//! Comparisons, selections, moves and conversions.

use super::{FloatType, IntegerType, Slot};
use crate::softfloat::Rounding;
use crate::softfloat::narrow::Narrow;

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
    /// The `u` forms, which are true if an operand is NaN.
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

/// The destination of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompareTarget {
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
    pub(crate) to: CompareTarget,
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
    /// `c >= 0` as `f32`, flushed first if the flag is set
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
    /// Whether to round to an integer, in the floating-point format.
    pub(crate) integral: bool,
    pub(crate) ftz: bool,
    pub(crate) sat: bool,
    pub(crate) relu: bool,
    /// Whether the source is in a 64-bit slot.
    pub(crate) from_wide: bool,
    /// Whether the destination is in a 64-bit slot.
    pub(crate) to_wide: bool,
    pub(crate) d: Slot,
    pub(crate) a: Slot,
    /// The second source of `cvt.f16x2.f32 d, a, b`, which becomes the lower half.
    pub(crate) b: Slot,
}

/// A conversion between two floats of eight bits and two of more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NarrowConvert {
    pub(crate) format: Narrow,
    /// Whether it converts from eight bits to `f16`, rather than the other way.
    pub(crate) widens: bool,
    pub(crate) relu: bool,
    pub(crate) d: Slot,
    /// Two halves, or the `f32` that becomes the upper byte.
    pub(crate) a: Slot,
    /// The `f32` that becomes the lower byte; `DISCARD` for halves.
    pub(crate) b: Slot,
}
