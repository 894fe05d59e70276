//! Comparisons, selections, moves and conversions.

use super::{FloatType, Guard, IntegerType, Slot};
use crate::softfloat::Rounding;
use crate::softfloat::narrow::Narrow;

/// Types of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberType {
    Integer(IntegerType),
    Float(FloatType),
}

impl NumberType {
    /// Bytes of a value.
    pub(crate) fn bytes(self) -> u8 {
        match self {
            NumberType::Integer(ty) => ty.bytes(),
            NumberType::Float(ty) => ty.bytes(),
        }
    }
}

/// A comparison: the relations of two numbers for which it holds, as a set of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comparison(pub(crate) u8);

impl Comparison {
    pub(crate) const LESS: u8 = 1;
    pub(crate) const EQUAL: u8 = 2;
    pub(crate) const GREATER: u8 = 4;
    /// One of the numbers is NaN.
    pub(crate) const UNORDERED: u8 = 8;
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
    /// `set`: these bits or zero.
    Value(Slot, u32),
    /// `set` to two halves.
    Halves(Slot, u32),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Compare {
    pub(crate) ty: NumberType,
    pub(crate) comparison: Comparison,
    pub(crate) ftz: bool,
    pub(crate) combine: Option<(BooleanOp, Guard)>,
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
    Predicate(Guard),
    /// `c >= 0` as `s32`
    Signed(Slot),
    /// `c >= 0` as `f32`, flushed first if the flag is set
    Float(Slot, bool),
}

/// `mov`. What is `wide` has 64 bits, else 32.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Move {
    Copy {
        wide: bool,
        d: Slot,
        a: Slot,
    },
    /// `mov.b64 d, {a, b}`: from two or four parts
    Pack {
        wide: bool,
        parts: u8,
        d: Slot,
        s: [Slot; 4],
    },
    /// `mov.b64 {a, b}, d`: to two or four parts
    Unpack {
        wide: bool,
        parts: u8,
        d: [Slot; 4],
        a: Slot,
    },
}

/// `mov`, `not`, `and`, `or` and `xor` of predicates: `mov d, a` is `and d, a, a`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Logic {
    pub(crate) op: BooleanOp,
    pub(crate) d: Slot,
    pub(crate) a: Guard,
    pub(crate) b: Guard,
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
