//! A bit for each byte of some memory, set by many threads at once.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A bit for each byte.
pub(crate) struct Bitmap {
    words: Box<[AtomicU64]>,
    len: usize,
}

/// The words that have bits of a range, each with the mask of those bits.
fn parts(range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    (range.start / 64..range.end.div_ceil(64)).map(move |word| {
        let first = range.start.saturating_sub(word * 64).min(64);
        let end = (range.end - word * 64).min(64);
        let below = |bit: usize| if bit == 64 { u64::MAX } else { (1 << bit) - 1 };
        (word, below(end) & !below(first))
    })
}

impl Bitmap {
    /// A bitmap for `len` bytes, none of which is set; `None` if the host has no memory for it.
    pub(crate) fn new(len: usize) -> Option<Bitmap> {
        let count = len.div_ceil(64);
        let mut words = Vec::new();
        words.try_reserve_exact(count).ok()?;
        words.resize_with(count, AtomicU64::default);
        let words = words.into_boxed_slice();
        Some(Bitmap { words, len })
    }

    /// The part of the range that is in the memory.
    fn within(&self, start: usize, count: usize) -> Range<usize> {
        start.min(self.len)..start.saturating_add(count).min(self.len)
    }

    pub(crate) fn set(&self, start: usize, count: usize) {
        for (word, mask) in parts(self.within(start, count)) {
            if self.words[word].load(Relaxed) & mask != mask {
                self.words[word].fetch_or(mask, Relaxed);
            }
        }
    }

    pub(crate) fn clear(&self) {
        self.words.iter().for_each(|word| word.store(0, Relaxed));
    }

    /// The first byte of a range that is not set.
    pub(crate) fn first_unset(&self, start: usize, count: usize) -> Option<usize> {
        parts(self.within(start, count)).find_map(|(word, mask)| {
            let missing = mask & !self.words[word].load(Relaxed);
            (missing != 0).then(|| word * 64 + missing.trailing_zeros() as usize)
        })
    }

    fn is_set(&self, index: usize) -> bool {
        self.words[index / 64].load(Relaxed) >> (index % 64) & 1 != 0
    }

    /// The bits of a range.
    pub(crate) fn bits(&self, start: usize, count: usize) -> Vec<bool> {
        (start..start + count).map(|index| self.is_set(index)).collect()
    }

    /// Sets the bits of a range.
    pub(crate) fn assign(&self, start: usize, bits: &[bool]) {
        for (index, &set) in (start..).zip(bits) {
            let mask = 1 << (index % 64);
            if set {
                self.words[index / 64].fetch_or(mask, Relaxed);
            } else {
                self.words[index / 64].fetch_and(!mask, Relaxed);
            }
        }
    }

    /// The ranges of bytes that are set.
    pub(crate) fn ranges(&self) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (index, word) in self.words.iter().enumerate() {
            let mut left = word.load(Relaxed);
            while left != 0 {
                let start = left.trailing_zeros() as usize;
                let count = (!(left >> start)).trailing_zeros() as usize;
                left &= if start + count >= 64 {
                    0
                } else {
                    u64::MAX << (start + count)
                };
                let range = index * 64 + start..index * 64 + start + count;
                match ranges.last_mut() {
                    Some(last) if last.end == range.start => last.end = range.end,
                    _ => ranges.push(range),
                }
            }
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_what_was_set() {
        let bits = Bitmap::new(300).unwrap();
        assert!(Bitmap::new(usize::MAX).is_none());
        let set = [(0, 1), (60, 10), (128, 64), (200, 1000)];
        set.iter().for_each(|&(start, count)| bits.set(start, count));
        assert_eq!(bits.ranges(), [0..1, 60..70, 128..192, 200..300]);
        assert_eq!(bits.first_unset(61, 9), None);
        assert_eq!(bits.first_unset(61, 10), Some(70));
        assert_eq!(bits.first_unset(0, 2), Some(1));
        // Copies bits 0 to 99, of which 0 and 60 to 69 are set, to 100 to 199.
        bits.assign(100, &bits.bits(0, 100));
        assert_eq!(bits.ranges(), [0..1, 60..70, 100..101, 160..170, 200..300]);
        bits.clear();
        assert_eq!(bits.ranges(), []);
    }
}
