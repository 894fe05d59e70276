//! Integer arithmetic and bit manipulation.

use super::Slot;

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

/// `d = a * b + c` in twice the width; `c` may be `DISCARD`.
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

/// Bit manipulation. Operations differ in their operands: see `operands`.
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

/// `add.cc`, `addc`, `subc.cc`, `madc.hi.cc` and so on
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carry {
    pub(crate) op: CarryOp,
    pub(crate) ty: IntegerType,
    pub(crate) carry_in: bool,
    pub(crate) carry_out: bool,
    pub(crate) d: Slot,
    pub(crate) s: [Slot; 3],
}

impl CarryOp {
    /// The number of its operands.
    pub(crate) fn operand_count(self) -> usize {
        match self {
            CarryOp::Add | CarryOp::Sub => 2,
            CarryOp::MadLow | CarryOp::MadHigh => 3,
        }
    }
}

impl IntegerOp {
    /// The number of its operands.
    pub(crate) fn operand_count(self) -> usize {
        match self {
            IntegerOp::Abs | IntegerOp::Neg | IntegerOp::Not | IntegerOp::Cnot => 1,
            IntegerOp::Mad
            | IntegerOp::MadHigh
            | IntegerOp::MadHighSat
            | IntegerOp::Mad24
            | IntegerOp::Mad24High
            | IntegerOp::Sad => 3,
            IntegerOp::Add
            | IntegerOp::Sub
            | IntegerOp::Mul
            | IntegerOp::MulHigh
            | IntegerOp::Div
            | IntegerOp::Rem
            | IntegerOp::Min
            | IntegerOp::Max
            | IntegerOp::AddSat
            | IntegerOp::SubSat
            | IntegerOp::Mul24
            | IntegerOp::Mul24High
            | IntegerOp::And
            | IntegerOp::Or
            | IntegerOp::Xor => 2,
        }
    }
}
