//! Floating-point arithmetic and approximate functions.

use super::Slot;
use crate::softfloat::Rounding;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatType {
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
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

impl FloatOp {
    /// The number of its operands.
    pub(crate) fn operand_count(self) -> usize {
        match self {
            FloatOp::Fma => 3,
            FloatOp::Sqrt | FloatOp::Neg | FloatOp::Abs => 1,
            FloatOp::Add
            | FloatOp::Sub
            | FloatOp::Mul
            | FloatOp::Div
            | FloatOp::DivApprox
            | FloatOp::Min { .. }
            | FloatOp::Max { .. }
            | FloatOp::CopySign => 2,
        }
    }
}
