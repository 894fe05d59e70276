//! Numbers that look random: `splitmix64` (Steele, Lea and Flood, OOPSLA 2014).

/// A generator of such numbers.
pub(super) struct Random(u64);

impl Random {
    /// A generator that begins with the number of this index in the sequence of `seed`.
    pub(super) fn new(seed: u64, index: u64) -> Self {
        Self(seed.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// The next number.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `end`.
    #[cfg(feature = "emulator")]
    pub(super) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}
