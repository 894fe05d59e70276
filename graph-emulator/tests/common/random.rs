//! A sequence of numbers that are random enough for tests.

/// A linear congruential generator: the same seed gives the same numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number less than `end`, which is at most `1 << 32`; zero if `end` is.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 32) as usize % end.max(1)
    }
}
