//! Video instructions: arithmetic on parts of words, scalar (`vadd`) and in parallel (`vadd2`, `vadd4`, `add.s16x2`).

use super::Slot;

/// `op(part of a, part of b)`, which may then be saturated, combined with `c`, or written into a part of `c`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Video {
    pub(crate) op: VideoOp,
    /// The number of parts that operands are split into, and that the operation is applied to: 1, 2 or 4.
    pub(crate) lanes: u8,
    pub(crate) a: Source,
    pub(crate) b: Source,
    /// The third operand, or `DISCARD` if there is none.
    pub(crate) c: Slot,
    /// Whether the result is signed.
    pub(crate) signed: bool,
    pub(crate) saturate: bool,
    /// Whether negative results become zero.
    pub(crate) relu: bool,
    pub(crate) then: Then,
    pub(crate) d: Slot,
}

/// A register, the part of it that is used, and the way in which the part is extended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) slot: Slot,
    pub(crate) part: Part,
    pub(crate) signed: bool,
}

/// The `bits` bits of a word from bit `start` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) start: u8,
    pub(crate) bits: u8,
}

impl Part {
    /// The whole word.
    pub(crate) const ALL: Part = Part { start: 0, bits: 32 };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VideoOp {
    Add,
    Sub,
    Average,
    AbsoluteDifference,
    Min,
    Max,
    ShiftLeft {
        clamp: bool,
    },
    ShiftRight {
        clamp: bool,
    },
    /// `(a * b + c + plus) >> shift`
    Mad {
        plus_one: bool,
        shift: u8,
    },
    /// One if the comparison holds, else zero.
    Set(super::Comparison),
    /// `cvt.pack`: both operands, saturated to `bits` bits, and above them the lower bits of `c`.
    Pack {
        bits: u8,
    },
}

/// The use that is made of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    Nothing,
    /// `.add`: adds `c`, and all results of parallel operations.
    Add,
    Min,
    Max,
    /// Replace this part of `c`.
    Merge(Part),
    /// Replace these lanes of `c`, as bits.
    Lanes(u8),
}
