//! Ranges that loops count over.

use std::ops::{Range, RangeInclusive};

mod sealed {
    pub trait Iterations {}
}

/// A range of `usize`, over which [`GraphBuilder::repeat`](crate::GraphBuilder::repeat),
/// [`GraphBuilder::each`](crate::GraphBuilder::each), and the `for` and `each` of `cuda_graph!` repeat nodes.
#[diagnostic::on_unimplemented(
    message = "nodes cannot be repeated over `{Self}`",
    label = "not a range of `usize`",
    note = "a `for` counts over a range such as `0..n` or `1..=n`"
)]
pub trait Iterations: sealed::Iterations {
    /// All numbers, from the first to the last.
    fn values(self) -> RangeInclusive<usize>;
}

impl sealed::Iterations for Range<usize> {}

impl Iterations for Range<usize> {
    fn values(self) -> RangeInclusive<usize> {
        match self.end.checked_sub(1) {
            Some(last) => self.start..=last,
            None => NONE,
        }
    }
}

impl sealed::Iterations for RangeInclusive<usize> {}

impl Iterations for RangeInclusive<usize> {
    fn values(self) -> RangeInclusive<usize> {
        self
    }
}

/// A range without numbers.
#[expect(clippy::reversed_empty_ranges, reason = "it is meant to be empty")]
pub(crate) const NONE: RangeInclusive<usize> = 1..=0;

/// The number of iterations, saturating at `usize::MAX`.
pub(crate) fn count(values: &RangeInclusive<usize>) -> usize {
    match values.is_empty() {
        true => 0,
        false => (values.end() - values.start()).saturating_add(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_counted() {
        let counted = [
            count(&(0..3).values()),
            count(&(3..3).values()),
            count(&(0..0).values()),
            count(&(2..=4).values()),
            count(&NONE.values()),
            count(&(0..=usize::MAX).values()),
            count(&(usize::MAX..=usize::MAX).values()),
        ];
        assert_eq!(counted, [3, 0, 0, 3, 0, usize::MAX, 1]);
        assert_eq!((5..7).values().collect::<Vec<_>>(), [5, 6]);
    }
}
