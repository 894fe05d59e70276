//! The values of texels, and the mean that a linear filter makes of them, as an H200 rounds it.

use graph_ptx::Channel;

/// The bits that the hardware keeps of a texel after those of the largest one.
const EXTRA_BITS: u32 = 4;
/// The bits of a weight after the point.
const WEIGHT_BITS: u32 = 8;

/// A channel as a number: of integers, from 0 to 1 or from -1 to 1.
pub(super) fn number(channel: Channel, bits: u32) -> f32 {
    let signed = |most: f32| ((bits as i32) as f32 / most).max(-1.0);
    match channel {
        Channel::F32 => f32::from_bits(bits),
        Channel::U8 => bits as f32 / 255.0,
        Channel::I8 => signed(127.0),
        Channel::U16 => bits as f32 / 65535.0,
        Channel::I16 => signed(32767.0),
        // Never: `Texture::mistake` refuses them.
        Channel::U32 | Channel::I32 => 0.0,
    }
}

/// The mean of the channels of two, four or eight texels, each with its weight in 256ths. That of integers has 16 bits.
pub(super) fn mean(channel: Channel, texels: &[(u32, u32)]) -> f32 {
    let products = texels
        .iter()
        .map(|&(bits, weight)| i64::from(bits as i32) * i64::from(weight));
    let sum: i64 = products.sum();
    let rounded = |sum: i64| (sum + 128) >> WEIGHT_BITS;
    let signed = |mean: i64| (mean as f64 / 32767.0).max(-1.0);
    let number = match channel {
        Channel::F32 => return mean_of_floats(texels),
        Channel::U8 => rounded(sum * 257) as f64 / 65535.0,
        Channel::U16 => rounded(sum) as f64 / 65535.0,
        // Nearly 32767 / 127: the hardware leaves out lower bits.
        Channel::I8 => signed(rounded(sum * 258 + (sum >> 12) * 32)),
        Channel::I16 => signed(rounded(sum)),
        // Never: `Texture::mistake` refuses them.
        Channel::U32 | Channel::I32 => 0.0,
    };
    number as f32
}

/// A number `units * 2^(exponent - 36)`; the exponent is that of the largest of the texels in it.
#[derive(Clone, Copy)]
struct Sum {
    units: i64,
    exponent: i32,
}

/// The mean of `f32`s: of four after four. Those that are too small to be normal count as zero.
fn mean_of_floats(texels: &[(u32, u32)]) -> f32 {
    if let Some(mean) = mean_of_unusual(texels) {
        return mean;
    }
    let sums = texels.chunks(4).filter_map(sum_of_floats);
    match sums.reduce(Sum::plus) {
        Some(sum) => sum.to_f32(),
        None if texels.iter().all(|&(bits, weight)| weight == 0 || bits >> 31 == 1) => -0.0,
        None => 0.0,
    }
}

/// The mean, if a texel with a weight is infinite or no number.
fn mean_of_unusual(texels: &[(u32, u32)]) -> Option<f32> {
    const INFINITE: u32 = 0x7f80_0000;
    // The hardware's only answer that is no number.
    const NONE: f32 = f32::from_bits(0x7fff_ffff);
    let unusual = texels
        .iter()
        .filter(|&&(bits, weight)| weight != 0 && bits & INFINITE == INFINITE);
    unusual
        .map(|&(bits, _)| f32::from_bits(bits))
        .reduce(|first, next| if first == next { first } else { NONE })
        .map(|mean| if mean.is_nan() { NONE } else { mean })
}

/// The sum of up to four texels with their weights. Texels without weight, and zero, have no part in it.
fn sum_of_floats(texels: &[(u32, u32)]) -> Option<Sum> {
    let exponent = |bits: u32| (bits >> 23 & 0xff) as i32;
    let counts = |(bits, weight): &&(u32, u32)| *weight != 0 && exponent(*bits) != 0;
    let most = texels.iter().filter(counts).map(|&(bits, _)| exponent(bits)).max()?;
    let product = |&(bits, weight): &(u32, u32)| {
        let mantissa = i64::from(bits & 0x007f_ffff | 0x0080_0000) << EXTRA_BITS;
        let aligned = mantissa.checked_shr((most - exponent(bits)) as u32).unwrap_or(0) * i64::from(weight);
        if bits >> 31 == 0 { aligned } else { -aligned }
    };
    Some(Sum {
        units: texels.iter().filter(counts).map(product).sum(),
        exponent: most - 126,
    })
}

impl Sum {
    /// The sum of both, in the units of the larger one.
    fn plus(self, other: Sum) -> Sum {
        let (large, small) = if self.exponent < other.exponent {
            (other, self)
        } else {
            (self, other)
        };
        let shift = (large.exponent - small.exponent) as u32;
        Sum {
            units: large.units + shifted(small.units, shift),
            ..large
        }
    }

    fn to_f32(self) -> f32 {
        let excess = (64 - self.units.unsigned_abs().leading_zeros()).saturating_sub(24);
        let power = self.exponent + excess as i32 - (24 + EXTRA_BITS + WEIGHT_BITS) as i32;
        let mean = (shifted(self.units, excess) as f64 * f64::from(power).exp2()) as f32;
        if mean.is_subnormal() {
            0.0_f32.copysign(mean)
        } else {
            mean
        }
    }
}

/// A number divided by a power of two. Halves are rounded away from zero.
fn shifted(units: i64, shift: u32) -> i64 {
    let half = if shift == 0 {
        0
    } else {
        1_u64.checked_shl(shift - 1).unwrap_or(0)
    };
    let size = (units.unsigned_abs() + half).checked_shr(shift).unwrap_or(0) as i64;
    if units < 0 { -size } else { size }
}
