//! Inputs: numbers that a seed makes, the same on every machine, and special values.

use crate::bound::{Bf16, F16};
pub(crate) use crate::generator::Random;

impl Random {
    pub(crate) fn u32(&mut self) -> u32 {
        (self.u64() >> 32) as u32
    }

    /// Returns a number below `end`, of the upper bits. Recorded results depend on it.
    pub(crate) fn u32_below(&mut self, end: u32) -> u32 {
        self.u32() % end
    }

    /// From `low` to `high`: exact in the steps of a 24-bit fraction, so that hosts agree.
    pub(crate) fn f32(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * ((self.u32() >> 8) as f32 / 16_777_216.0)
    }

    pub(crate) fn f64(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.u64() >> 11) as f64 / 9_007_199_254_740_992.0)
    }
}

/// `count` of what `make` makes.
pub(crate) fn many<T>(seed: u64, count: usize, mut make: impl FnMut(&mut Random) -> T) -> Vec<T> {
    let mut random = Random(seed);
    (0..count).map(|_| make(&mut random)).collect()
}

/// `count` floats from `low` to `high`.
pub(crate) fn floats(seed: u64, count: usize, low: f32, high: f32) -> Vec<f32> {
    many(seed, count, |random| random.f32(low, high))
}

/// `count` whole numbers as floats, at most `most` in magnitude: their sums are exact.
pub(crate) fn whole_floats(seed: u64, count: usize, most: u32) -> Vec<f32> {
    many(seed, count, |random| {
        random.u32_below(2 * most + 1) as f32 - most as f32
    })
}

const F32: [u32; 16] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000, // a quiet NaN
    0xffa1_2345, // a signalling NaN
    1,
    0x807f_ffff,
    0x0080_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x3f80_0001,
    0x4b80_0001,
    0xbf00_0000,
];

const F64: [u64; 16] = [
    0,
    1 << 63,
    0x3ff0 << 48,
    0xbff0 << 48,
    0x7ff0 << 48,
    0xfff0 << 48,
    0x7ff8 << 48,
    0xfff4_1234_5678_9abc,
    1,
    0x800f_ffff_ffff_ffff,
    0x0010 << 48,
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
    0x3ff0_0000_0000_0001,
    0x4340_0000_0000_0001,
    0xbfe0 << 48,
];

const F16S: [u16; 16] = [
    0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0xfd23, 1, 0x83ff, 0x0400, 0x7bff, 0xfbff, 0x3c01, 0x6801,
    0xb800,
];

const BF16S: [u16; 16] = [
    0, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 0xffa1, 1, 0x807f, 0x0080, 0x7f7f, 0xff7f, 0x3f81, 0x4f01,
    0xbf00,
];

const U32: [u32; 16] = [
    0,
    1,
    u32::MAX,
    0x8000_0000,
    0x7fff_ffff,
    2,
    0x80,
    0x7f,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1234_5678,
    0xaaaa_aaaa,
    31,
];

/// The arguments `which` of operations: 256 pairs of special values, with a third that differs, then `count - 256`
/// random ones.
fn arguments<T: Copy>(which: usize, count: usize, special: &[T; 16], make: impl FnMut(&mut Random) -> T) -> Vec<T> {
    let index = |i: usize| [i / 16, i % 16, (i * 5 + i / 16 * 3) % 16][which];
    let mut values: Vec<T> = (0..count.min(256)).map(|i| special[index(i)]).collect();
    values.extend(many(77 + which as u64, count.saturating_sub(256), make));
    values
}

/// Three quarters of a moderate size, one quarter any bits.
pub(crate) fn f32_arguments(which: usize, count: usize) -> Vec<f32> {
    arguments(which, count, &F32.map(f32::from_bits), |random| {
        match random.u32_below(4) {
            0 => f32::from_bits(random.u32()),
            1 => random.f32(-4.0, 4.0),
            2 => random.f32(-1e5, 1e5),
            // Near the smallest normal numbers.
            _ => f32::from_bits(random.u32() & 0x83ff_ffff),
        }
    })
}

pub(crate) fn f64_arguments(which: usize, count: usize) -> Vec<f64> {
    arguments(which, count, &F64.map(f64::from_bits), |random| {
        match random.u32_below(4) {
            0 => f64::from_bits(random.u64()),
            1 => random.f64(-4.0, 4.0),
            2 => random.f64(-1e9, 1e9),
            _ => f64::from_bits(random.u64() & 0x807f_ffff_ffff_ffff),
        }
    })
}

pub(crate) fn f16_arguments(which: usize, count: usize) -> Vec<F16> {
    arguments(which, count, &F16S.map(F16), |random| F16(random.u32() as u16))
}

pub(crate) fn bf16_arguments(which: usize, count: usize) -> Vec<Bf16> {
    arguments(which, count, &BF16S.map(Bf16), |random| match random.u32_below(2) {
        0 => Bf16(random.u32() as u16),
        _ => Bf16(0x3c00 + (random.u32() & 0x87ff) as u16),
    })
}

pub(crate) fn u32_arguments(which: usize, count: usize) -> Vec<u32> {
    arguments(which, count, &U32, |random| random.u32() >> (random.u32() & 31))
}

/// These as signed numbers.
pub(crate) fn i32_arguments(which: usize, count: usize) -> Vec<i32> {
    u32_arguments(which, count)
        .into_iter()
        .map(|value| value as i32)
        .collect()
}

/// The half that is nearest to a small number, whose fraction needs no rounding.
pub(crate) fn f16(value: f32) -> F16 {
    let bits = value.to_bits();
    assert!(
        value == 0.0 || (6.2e-5..65520.0).contains(&value.abs()) && bits & 0x1fff == 0,
        "{value} is no half"
    );
    let magnitude = if value == 0.0 {
        0
    } else {
        ((bits & 0x7fff_ffff) - (112 << 23)) >> 13
    };
    F16((bits >> 16 & 0x8000 | magnitude) as u16)
}

/// These for bfloat16.
pub(crate) fn bf16(value: f32) -> Bf16 {
    assert!(value.to_bits() & 0xffff == 0, "{value} is no bfloat16");
    Bf16((value.to_bits() >> 16) as u16)
}
