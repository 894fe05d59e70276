//! Numbers that look random, the same for the same seed.

/// `splitmix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns 64 random bits.
    pub(crate) fn u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.u64() % end as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// The four numbers of a block of a thread's Philox 4x32-10 generator. (Salmon et al., SC 2011)
pub(crate) fn philox(seed: u64, thread: u32, block: u64) -> [u32; 4] {
    let halves = |word: u64| [word as u32, (word >> 32) as u32];
    let (mut key, [low, high]) = (halves(seed), halves(block));
    let mut counter = [low, high, thread, 0];
    for _ in 0..10 {
        let [a, b] = [(0xd251_1f53, counter[0]), (0xcd9e_8d57, counter[2])].map(|(m, word)| m * u64::from(word));
        let ([a_low, a_high], [b_low, b_high]) = (halves(a), halves(b));
        counter = [b_high ^ counter[1] ^ key[0], b_low, a_high ^ counter[3] ^ key[1], a_low];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    counter
}
