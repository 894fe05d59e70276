//! Finite numbers in more bits than any format has, and rounding them to one.

use super::{Format, Rounding};

/// A finite number: `mantissa * 2^exponent`, and a little more in magnitude if `sticky`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact {
    pub(super) negative: bool,
    pub(super) mantissa: u128,
    pub(super) exponent: i32,
    pub(super) sticky: bool,
}

impl Exact {
    pub(super) fn from_f64(value: f64) -> Exact {
        let bits = value.to_bits();
        let field = (bits >> 52 & 0x7ff) as i32;
        let fraction = u128::from(bits & ((1 << 52) - 1));
        let (mantissa, exponent) = if field == 0 {
            (fraction, -1074)
        } else {
            (fraction | 1 << 52, field - 1075)
        };
        Exact {
            negative: value.is_sign_negative(),
            mantissa,
            exponent,
            sticky: false,
        }
    }

    pub(super) fn mul(self, other: Exact) -> Exact {
        Exact {
            negative: self.negative != other.negative,
            mantissa: self.mantissa * other.mantissa,
            exponent: self.exponent + other.exponent,
            sticky: false,
        }
    }

    /// Moves the highest bit at position 124, leaving room for a carry.
    fn normalized(self) -> Exact {
        let shift = self.mantissa.leading_zeros() as i32 - 3;
        Exact {
            mantissa: self.mantissa << shift,
            exponent: self.exponent - shift,
            ..self
        }
    }

    /// The sum of two numbers of at most 106 bits, neither sticky.
    pub(super) fn add(self, other: Exact, round: Rounding) -> Exact {
        if self.mantissa == 0 && other.mantissa == 0 {
            let negative = if self.negative == other.negative {
                self.negative
            } else {
                round == Rounding::Down
            };
            return Exact { negative, ..self };
        }
        if self.mantissa == 0 || other.mantissa == 0 {
            return if self.mantissa == 0 { other } else { self };
        }
        let (a, b) = (self.normalized(), other.normalized());
        let (a, b) = if (a.exponent, a.mantissa) >= (b.exponent, b.mantissa) {
            (a, b)
        } else {
            (b, a)
        };
        let distance = (a.exponent - b.exponent) as u32;
        let shifted = b.mantissa.checked_shr(distance).unwrap_or(0);
        let sticky = distance >= 128 || shifted << distance != b.mantissa;
        if a.negative == b.negative {
            return Exact {
                mantissa: a.mantissa + shifted,
                sticky,
                ..a
            };
        }
        // The bits that were shifted out are subtracted too: one less, and a little more.
        let mantissa = a.mantissa - shifted - u128::from(sticky);
        let negative = if mantissa == 0 && !sticky {
            round == Rounding::Down
        } else {
            a.negative
        };
        Exact {
            negative,
            mantissa,
            exponent: a.exponent,
            sticky,
        }
    }

    /// The bits of the nearest number in a format, in the given direction.
    pub(super) fn round(self, format: Format, round: Rounding) -> u64 {
        let sign = format.sign(self.negative);
        if self.mantissa == 0 {
            return sign;
        }
        let top = 127 - self.mantissa.leading_zeros() as i32;
        let exponent = (top + self.exponent).max(format.min_exponent());
        // The weight of the last bit kept.
        let unit = exponent - format.precision as i32 + 1;
        let drop = unit - self.exponent;
        let (kept, rest) = self.split(drop);
        let up = match round {
            Rounding::Nearest => rest > Rest::Half || rest == Rest::Half && kept & 1 != 0,
            Rounding::NearestAway => rest >= Rest::Half,
            Rounding::Zero => false,
            Rounding::Down => self.negative && rest != Rest::Zero,
            Rounding::Up => !self.negative && rest != Rest::Zero,
        };
        // The hidden bit adds one to the exponent field; so does a carry out of the significand.
        let field = (exponent - format.min_exponent()) as u64;
        let magnitude = (field << (format.precision - 1)) + kept + u64::from(up);
        if exponent > format.max_exponent() || magnitude >= format.infinity(false) {
            let away = match round {
                Rounding::Nearest | Rounding::NearestAway => true,
                Rounding::Zero => false,
                Rounding::Down => self.negative,
                Rounding::Up => !self.negative,
            };
            return if away {
                format.infinity(self.negative)
            } else {
                format.largest(self.negative)
            };
        }
        sign | magnitude
    }

    /// The mantissa without its lowest `drop` bits, and how those compare with a half.
    fn split(self, drop: i32) -> (u64, Rest) {
        if drop <= 0 {
            let rest = if self.sticky { Rest::Less } else { Rest::Zero };
            return ((self.mantissa << -drop) as u64, rest);
        }
        if drop > 127 {
            return (0, Rest::Less);
        }
        let kept = (self.mantissa >> drop) as u64;
        let rest = self.mantissa & ((1 << drop) - 1);
        let half = 1 << (drop - 1);
        let rest = match rest.cmp(&half) {
            std::cmp::Ordering::Less if rest == 0 && !self.sticky => Rest::Zero,
            std::cmp::Ordering::Less => Rest::Less,
            std::cmp::Ordering::Equal if !self.sticky => Rest::Half,
            _ => Rest::More,
        };
        (kept, rest)
    }
}

/// The part that rounding drops, in units of the last place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rest {
    Zero,
    Less,
    Half,
    More,
}
