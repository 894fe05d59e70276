//! Hashing of the small keys of the analysis. It runs in the compiler without optimisation, where the hash of the
//! standard library takes most of the time of a map.

use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are hashed by multiplication.
pub(super) type Map<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<Multiplied>>;

/// A set whose elements are hashed by multiplication.
pub(super) type Set<K> = std::collections::HashSet<K, BuildHasherDefault<Multiplied>>;

/// A set of numbers that are hashes already.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// A power of two of places; 0 is none.
    places: Vec<u64>,
    count: usize,
}

impl Seen {
    /// Adds a number. Returns whether it is new.
    pub(super) fn insert(&mut self, number: u64) -> bool {
        if 2 * self.count >= self.places.len() {
            let places = vec![0; (4 * self.count).max(16)];
            let before = std::mem::replace(&mut self.places, places);
            for number in before {
                if number != 0 {
                    self.place(number);
                }
            }
        }
        let is_new = self.place(number.max(1));
        self.count += usize::from(is_new);
        is_new
    }

    fn place(&mut self, number: u64) -> bool {
        let mut at = number as usize % self.places.len();
        while self.places[at] != 0 {
            if self.places[at] == number {
                return false;
            }
            at = (at + 1) % self.places.len();
        }
        self.places[at] = number;
        true
    }
}

/// A hash of numbers: each is multiplied in.
#[derive(Default)]
pub(super) struct Multiplied(u64);

impl Multiplied {
    fn add(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Hasher for Multiplied {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.add(byte.into()));
    }

    fn write_u16(&mut self, number: u16) {
        self.add(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.add(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }

    fn write_u128(&mut self, number: u128) {
        self.add(number as u64);
        self.add((number >> 64) as u64);
    }

    fn write_i128(&mut self, number: i128) {
        self.write_u128(number as u128);
    }
}
