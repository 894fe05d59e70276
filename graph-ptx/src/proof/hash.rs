//! Hashing of the small keys of the analysis. It runs in the compiler without optimisation, where the hash of the
//! standard library takes most of the time of a map.

use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are hashed by multiplication.
pub(super) type Map<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<Multiplied>>;

/// A set whose elements are hashed by multiplication.
pub(super) type Set<K> = std::collections::HashSet<K, BuildHasherDefault<Multiplied>>;

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
