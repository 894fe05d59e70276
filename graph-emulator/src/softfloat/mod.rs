//! Exact floating-point arithmetic in software, rounded once, in any direction, to any format.
//!
//! This is the slow path: only rounding modes that the host's arithmetic does not have need it.

pub(crate) mod narrow;

mod exact;

use exact::Exact;

/// Rounding of floating-point results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    Nearest,
    Zero,
    Down,
    Up,
    /// `.rna`: ties away from zero.
    NearestAway,
}

/// A binary floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Bits of the significand, the hidden one included.
    precision: u32,
    /// Bits of the exponent.
    exponent: u32,
}

pub(crate) const F16: Format = Format {
    precision: 11,
    exponent: 5,
};
pub(crate) const BF16: Format = Format {
    precision: 8,
    exponent: 8,
};
pub(crate) const F32: Format = Format {
    precision: 24,
    exponent: 8,
};
pub(crate) const F64: Format = Format {
    precision: 53,
    exponent: 11,
};

impl Format {
    fn max_exponent(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    fn min_exponent(self) -> i32 {
        1 - self.max_exponent()
    }

    fn sign(self, negative: bool) -> u64 {
        u64::from(negative) << (self.precision + self.exponent - 1)
    }

    pub(crate) fn infinity(self, negative: bool) -> u64 {
        self.sign(negative) | ((1 << self.exponent) - 1) << (self.precision - 1)
    }

    fn largest(self, negative: bool) -> u64 {
        self.infinity(negative) - 1
    }
}

/// The sum of two numbers, one of which may be a product. Infinities and NaN are added as the host adds them.
pub(crate) fn add(a: f64, b: f64, format: Format, round: Rounding) -> u64 {
    if !a.is_finite() || !b.is_finite() {
        return from_special(a + b, format);
    }
    Exact::from_f64(a).add(Exact::from_f64(b), round).round(format, round)
}

/// The product of two numbers.
pub(crate) fn mul(a: f64, b: f64, format: Format, round: Rounding) -> u64 {
    if !a.is_finite() || !b.is_finite() {
        return from_special(a * b, format);
    }
    Exact::from_f64(a).mul(Exact::from_f64(b)).round(format, round)
}

/// `a * b + c`, rounded once.
pub(crate) fn fma(a: f64, b: f64, c: f64, format: Format, round: Rounding) -> u64 {
    if !a.is_finite() || !b.is_finite() || !c.is_finite() {
        // The product of finite factors must not overflow to an infinity that meets an infinite addend.
        let product = if a.is_finite() && b.is_finite() { 0.0 } else { a * b };
        return from_special(product + c, format);
    }
    Exact::from_f64(a)
        .mul(Exact::from_f64(b))
        .add(Exact::from_f64(c), round)
        .round(format, round)
}

/// `a / b`.
pub(crate) fn div(a: f64, b: f64, format: Format, round: Rounding) -> u64 {
    if !a.is_finite() || !b.is_finite() || b == 0.0 || a == 0.0 {
        return from_special(a / b, format);
    }
    let (a, b) = (Exact::from_f64(a), Exact::from_f64(b));
    // 128 bits by no more than 53: a quotient of more than 70 bits.
    let shift = a.mantissa.leading_zeros();
    let dividend = a.mantissa << shift;
    let quotient = dividend / b.mantissa;
    let sticky = dividend % b.mantissa != 0;
    let exponent = a.exponent - b.exponent - shift as i32;
    Exact {
        negative: a.negative != b.negative,
        mantissa: quotient,
        exponent,
        sticky,
    }
    .round(format, round)
}

/// The square root.
pub(crate) fn sqrt(a: f64, format: Format, round: Rounding) -> u64 {
    if !a.is_finite() || a <= 0.0 {
        return from_special(a.sqrt(), format);
    }
    let a = Exact::from_f64(a);
    // As far as possible while the exponent becomes even: a root of more than 60 bits.
    let room = a.mantissa.leading_zeros() as i32 - 1;
    let shift = room - ((a.exponent - room) & 1);
    let square = a.mantissa << shift;
    let root = square.isqrt();
    let exponent = (a.exponent - shift) / 2;
    Exact {
        negative: false,
        mantissa: root,
        exponent,
        sticky: root * root != square,
    }
    .round(format, round)
}

/// Converts a number to another format.
pub(crate) fn convert(a: f64, format: Format, round: Rounding) -> u64 {
    if a.is_finite() {
        Exact::from_f64(a).round(format, round)
    } else {
        from_special(a, format)
    }
}

/// Converts an integer.
pub(crate) fn from_integer(value: i128, format: Format, round: Rounding) -> u64 {
    Exact {
        negative: value < 0,
        mantissa: value.unsigned_abs(),
        exponent: 0,
        sticky: false,
    }
    .round(format, round)
}

/// Rounds to an integer, in `f64`.
pub(crate) fn round_integral(a: f64, round: Rounding) -> f64 {
    match round {
        Rounding::Nearest => a.round_ties_even(),
        Rounding::NearestAway => a.round(),
        Rounding::Zero => a.trunc(),
        Rounding::Down => a.floor(),
        Rounding::Up => a.ceil(),
    }
}

/// Zeros, infinities and NaN in a format. Every NaN becomes the canonical NaN of the format.
fn from_special(value: f64, format: Format) -> u64 {
    if value.is_nan() {
        return match format {
            F64 => value.to_bits(),
            // All bits but the sign, as the hardware returns it.
            _ => format.sign(true) - 1,
        };
    }
    if value.is_infinite() {
        format.infinity(value < 0.0)
    } else {
        format.sign(value.is_sign_negative())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers near every edge, and random ones.
    fn samples() -> Vec<f32> {
        let mut state = 1u32;
        let random = (0..200).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from_bits(state)
        });
        let edges = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            f32::MIN_POSITIVE,
            f32::from_bits(1),
            f32::MAX,
            f32::INFINITY,
            f32::NAN,
        ];
        random.chain(edges).chain(edges.map(|edge| -edge)).collect()
    }

    fn same(bits: u64, expected: f32) {
        assert!(
            expected.is_nan() && bits == 0x7fff_ffff || bits == u64::from(expected.to_bits()),
            "{bits:#x} {expected}"
        );
    }

    #[test]
    fn nearest_is_what_the_host_does() {
        let near = Rounding::Nearest;
        for a in samples() {
            same(sqrt(a.into(), F32, near), a.sqrt());
            for b in samples() {
                let (wide_a, wide_b) = (f64::from(a), f64::from(b));
                same(add(wide_a, wide_b, F32, near), a + b);
                same(mul(wide_a, wide_b, F32, near), a * b);
                same(div(wide_a, wide_b, F32, near), a / b);
                same(fma(wide_a, wide_b, wide_a, F32, near), a.mul_add(b, a));
                let exact = wide_a * 1e200 * wide_b;
                same(convert(exact, F32, near), exact as f32);
                let product = wide_a * 1.1;
                let expected = product.mul_add(wide_b, -wide_b / 3.0);
                let bits = fma(product, wide_b, -wide_b / 3.0, F64, near);
                assert!(expected.is_nan() || bits == expected.to_bits());
            }
        }
    }

    #[test]
    fn directions_bracket_the_exact_value() {
        for a in samples() {
            for b in samples().into_iter().filter(|b| b.is_finite() && a.is_finite()) {
                let (a, b) = (f64::from(a), f64::from(b));
                let [down, up, zero] = [Rounding::Down, Rounding::Up, Rounding::Zero]
                    .map(|round| f64::from(f32::from_bits(mul(a, b, F32, round) as u32)));
                assert!(down <= a * b && a * b <= up && zero.abs() <= (a * b).abs());
            }
        }
        assert_eq!(add(1.0, 1e-40, F32, Rounding::Up), u64::from(1.0f32.to_bits()) + 1);
        assert_eq!(add(1.0, -1e-40, F32, Rounding::Zero), u64::from(1.0f32.to_bits()) - 1);
        assert_eq!(add(1.0, -1.0, F32, Rounding::Down), 0x8000_0000);
        assert_eq!(add(1.0, -1.0, F32, Rounding::Nearest), 0);
        assert_eq!(mul(3e38, 3e38, F32, Rounding::Zero), u64::from(f32::MAX.to_bits()));
        assert_eq!(div(1.0, 3.0, F64, Rounding::Up), (1.0f64 / 3.0).to_bits() + 1);
        let (tiny, subnormal) = (5e-324, f64::from_bits((1 << 52) - 1));
        assert_eq!(div(tiny, subnormal, F64, Rounding::Zero), 0x3cb0_0000_0000_0001);
        assert_eq!(div(tiny, subnormal, F64, Rounding::Up), 0x3cb0_0000_0000_0002);
        let root = f64::from_bits(3).sqrt();
        let [down, up] =
            [Rounding::Down, Rounding::Up].map(|round| f64::from_bits(sqrt(f64::from_bits(3), F64, round)));
        assert!(down <= root && root <= up && up.to_bits() == down.to_bits() + 1);
    }

    #[test]
    fn halves_and_integers() {
        assert_eq!(convert(65520.0, F16, Rounding::Nearest), 0x7c00);
        assert_eq!(convert(65519.9, F16, Rounding::Nearest), 0x7bff);
        assert_eq!(convert(1.0 + 1.0 / 256.0, BF16, Rounding::Nearest), 0x3f80);
        let expected = u64::from((u64::MAX as f32).to_bits());
        assert_eq!(from_integer(i128::from(u64::MAX), F32, Rounding::Nearest), expected);
        let expected = u64::from(16_777_218f32.to_bits());
        assert_eq!(from_integer(16_777_217, F32, Rounding::Up), expected);
        let expected = u64::from((-16_777_216f32).to_bits());
        assert_eq!(from_integer(-16_777_217, F32, Rounding::Zero), expected);
    }
}
