//! Video instructions: arithmetic on parts of words, scalar (`vadd`) and in parallel (`vadd2`, `vadd4`, `add.s16x2`).

use super::Slot;

/// `op(part of a, part of b)`, then perhaps saturated, combined with `c`, or put into a part of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Video {
    pub(crate) op: VideoOp,
    /// Operands are taken apart into so many parts, and the operation done on each: 1, 2 or 4.
    pub(crate) lanes: u8,
    pub(crate) a: Source,
    pub(crate) b: Source,
    /// The third operand; `DISCARD` without.
    pub(crate) c: Slot,
    /// Is the result signed?
    pub(crate) signed: bool,
    pub(crate) saturate: bool,
    /// Negative results become zero.
    pub(crate) relu: bool,
    pub(crate) then: Then,
    pub(crate) d: Slot,
}

/// A register, the part of it that is used, and how that is extended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) slot: Slot,
    pub(crate) part: Part,
    pub(crate) signed: bool,
}

/// So many bits from a bit on.
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
    /// One where the comparison holds.
    Set(super::Comparison),
    /// `cvt.pack`: both operands saturated to so many bits, side by side, above them the lower bits of `c`.
    Pack {
        bits: u8,
    },
}

/// What becomes of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    Nothing,
    /// `.add`, `.min`, `.max`: with `c`; of parallel operations, the sum of all.
    Add,
    Min,
    Max,
    /// Replace this part of `c`.
    Merge(Part),
    /// Replace these lanes of `c`, as bits.
    Lanes(u8),
}
