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

impl IntegerType {
    /// Bytes of a value.
    pub(crate) fn bytes(self) -> u8 {
        match self {
            IntegerType::U16 | IntegerType::S16 => 2,
            IntegerType::U32 | IntegerType::S32 => 4,
            IntegerType::U64 | IntegerType::S64 => 8,
        }
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self, IntegerType::S16 | IntegerType::S32 | IntegerType::S64)
    }
}

/// Operations of integers. Operands and result have one type, unless an operation says otherwise.
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
    /// `mul.wide`, `mad.wide`: the result and the third operand have twice the width.
    MulWide,
    MadWide,
    /// `shl`, `shr`: the second operand is a `u32`.
    ShiftLeft,
    ShiftRight,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Integer {
    pub(crate) op: IntegerOp,
    pub(crate) ty: IntegerType,
    pub(crate) d: Slot,
    pub(crate) s: [Slot; 3],
}

/// Bit manipulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BitsOp {
    Popc,
    Clz,
    Brev,
    Bfind { signed: bool, shift: bool },
    Bfe { signed: bool },
    Bfi,
    Lop3(u8),
    Funnel { left: bool, clamp: bool },
    Prmt(PrmtMode),
    Fns,
    Dp4a { a_signed: bool, b_signed: bool },
    Dp2a { a_signed: bool, b_signed: bool, high: bool },
    Bmsk { clamp: bool },
    Szext { signed: bool, clamp: bool },
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
    /// Whether the operand that is examined or changed has 64 bits.
    pub(crate) wide: bool,
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
