//! Floating-point formats of eight bits.

/// A format: bits of the mantissa, and the largest number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Narrow {
    mantissa: u32,
    /// The code of the largest finite number.
    largest: u8,
    bias: i32,
}

/// One sign, four exponent, three mantissa bits; no infinities.
pub(crate) const E4M3: Narrow = Narrow {
    mantissa: 3,
    largest: 0x7e,
    bias: 7,
};
/// One sign, five exponent, two mantissa bits.
pub(crate) const E5M2: Narrow = Narrow {
    mantissa: 2,
    largest: 0x7b,
    bias: 15,
};

/// The number that a code stands for.
pub(crate) fn to_number(format: Narrow, code: u8) -> f64 {
    let magnitude = code & 0x7f;
    let value = if magnitude <= format.largest {
        finite(format, magnitude)
    } else if format == E5M2 && magnitude == 0x7c {
        f64::INFINITY
    } else {
        f64::NAN
    };
    if code & 0x80 != 0 { -value } else { value }
}

fn finite(format: Narrow, magnitude: u8) -> f64 {
    let field = i32::from(magnitude >> format.mantissa);
    let fraction = f64::from(magnitude & ((1 << format.mantissa) - 1));
    let one = f64::from(1u32 << format.mantissa);
    if field == 0 {
        fraction / one * 2f64.powi(1 - format.bias)
    } else {
        (1.0 + fraction / one) * 2f64.powi(field - format.bias)
    }
}

/// The nearest code, ties to even. Numbers that are too large become the largest (`.satfinite`); NaN stays NaN.
pub(crate) fn from_number(format: Narrow, value: f64) -> u8 {
    if value.is_nan() {
        return 0x7f;
    }
    let (sign, magnitude) = (u8::from(value.is_sign_negative()) << 7, value.abs());
    // The greatest code that is not above the number: codes are in the order of their numbers.
    let (mut low, mut high) = (0, format.largest);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if finite(format, middle) <= magnitude {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    if low == format.largest {
        return sign | low;
    }
    let (below, above) = (magnitude - finite(format, low), finite(format, low + 1) - magnitude);
    let up = above < below || above == below && low & 1 != 0;
    sign | (low + u8::from(up))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_survives() {
        for format in [E4M3, E5M2] {
            for code in 0..=u8::MAX {
                let number = to_number(format, code);
                if number.is_finite() {
                    assert_eq!(from_number(format, number), code);
                }
            }
        }
    }

    #[test]
    fn known_numbers() {
        assert_eq!(to_number(E4M3, 0x7e), 448.0);
        assert_eq!(to_number(E4M3, 0x01), 2f64.powi(-9));
        assert_eq!(to_number(E5M2, 0x7b), 57344.0);
        assert!(to_number(E4M3, 0x7f).is_nan() && to_number(E5M2, 0xfc) == f64::NEG_INFINITY);
        assert_eq!(from_number(E4M3, 1e9), 0x7e);
        assert_eq!(from_number(E5M2, f64::NEG_INFINITY), 0xfb);
        // 1.0625 lies between 1.0 and 1.125: the even one.
        assert_eq!(from_number(E4M3, 1.0625), 0x38);
        assert_eq!(from_number(E4M3, 1.1875), 0x3a);
        assert_eq!(from_number(E4M3, f64::NAN), 0x7f);
    }
}
