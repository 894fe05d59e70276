//! Floating-point arithmetic and approximate functions.

use super::Slot;
use crate::softfloat::{self, Format, Rounding};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatType {
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
}

impl FloatType {
    /// Bytes of a value.
    pub(crate) fn bytes(self) -> u8 {
        match self {
            FloatType::F16 | FloatType::Bf16 => 2,
            FloatType::F16x2 | FloatType::Bf16x2 | FloatType::F32 => 4,
            FloatType::F64 => 8,
        }
    }

    /// Whether a value is two halves.
    pub(crate) fn is_packed(self) -> bool {
        matches!(self, FloatType::F16x2 | FloatType::Bf16x2)
    }

    /// Whether it is half precision.
    pub(crate) fn is_half(self) -> bool {
        !matches!(self, FloatType::F32 | FloatType::F64)
    }

    /// The format of a number; of one half if there are two.
    pub(crate) fn format(self) -> Format {
        match self {
            FloatType::F16 | FloatType::F16x2 => softfloat::F16,
            FloatType::Bf16 | FloatType::Bf16x2 => softfloat::BF16,
            FloatType::F32 => softfloat::F32,
            FloatType::F64 => softfloat::F64,
        }
    }
}

/// The modifiers of `min` and `max`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extreme {
    /// `.NaN`: NaN if an operand is.
    pub(crate) nan: bool,
    /// `.xorsign.abs`: of the absolute values, with the sign of the product.
    pub(crate) xorsign: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatOp {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    /// `div.approx`: multiplies by the reciprocal, which is flushed.
    DivApprox,
    Sqrt,
    Min(Extreme),
    Max(Extreme),
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
