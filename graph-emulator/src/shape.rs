//! How the values of a 64-bit register lie among the lanes of a warp, for registers that serve as addresses.

use crate::exec::address::{Pattern, pattern};
use crate::registers::LANES;

/// How the values of a register lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) pattern: Pattern,
    pub(crate) least: u64,
    pub(crate) greatest: u64,
    /// Are all multiples of four, or all by as much off?
    pub(crate) in_step: bool,
}

impl Shape {
    #[inline(always)]
    pub(crate) fn of(values: &[u64; LANES]) -> Shape {
        let (pattern, first) = (pattern(values, 4), values[0]);
        match pattern {
            Pattern::Uniform => Shape {
                pattern,
                least: first,
                greatest: first,
                in_step: true,
            },
            Pattern::Contiguous => Shape {
                pattern,
                least: first,
                greatest: values[LANES - 1],
                in_step: true,
            },
            Pattern::Scattered => Shape::scattered(values),
        }
    }

    #[inline(never)]
    fn scattered(values: &[u64; LANES]) -> Shape {
        let (mut least, mut greatest, mut off) = (u64::MAX, 0, 0);
        for &value in values {
            least = least.min(value);
            greatest = greatest.max(value);
            off |= (value ^ values[0]) & 3;
        }
        Shape {
            pattern: Pattern::Scattered,
            least,
            greatest,
            in_step: off == 0,
        }
    }
}
