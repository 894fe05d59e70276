//! The difference that a result may have from the recorded one.

use graph_runtime::bytemuck::{Pod, Zeroable};

/// The difference that a number may have from the recorded one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    /// In no bit: integers, and what IEEE 754 and PTX define, NaNs included.
    Bits,
    /// In no bit, but a NaN may be any NaN: where PTX leaves its payload open.
    Number,
    /// By this number of units in the last place.
    Ulps(u64),
    /// By so much.
    Absolute(f64),
    /// By this part of the recorded number.
    Relative(f64),
    /// By the larger of an absolute and a relative error.
    Either(f64, f64),
}

/// Numbers that kernels write.
pub(crate) trait Number: graph_runtime::Element + std::fmt::Debug + PartialEq {
    /// The value, `None` for integers, which are compared by their bits.
    fn value(self) -> Option<f64>;
    /// The number of steps between two numbers of this format: their bits are integers with the same order.
    fn ordered(self) -> i64;
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Number for $ty {
            fn value(self) -> Option<f64> {
                None
            }
            fn ordered(self) -> i64 {
                self as i64
            }
        }
    )*};
}
integers!(u8 i8 u16 i16 u32 i32 u64 i64);

/// Sign and magnitude as a two's complement number.
fn ordered(magnitude: u64, negative: bool) -> i64 {
    if negative {
        -(magnitude as i64)
    } else {
        magnitude as i64
    }
}

impl Number for f32 {
    fn value(self) -> Option<f64> {
        Some(f64::from(self))
    }
    fn ordered(self) -> i64 {
        ordered(u64::from(self.to_bits() & 0x7fff_ffff), self.is_sign_negative())
    }
}

impl Number for f64 {
    fn value(self) -> Option<f64> {
        Some(self)
    }
    fn ordered(self) -> i64 {
        ordered(self.to_bits() & (u64::MAX >> 1), self.is_sign_negative())
    }
}

/// CUDA's `__half`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct F16(pub(crate) u16);

impl Number for F16 {
    fn value(self) -> Option<f64> {
        let (exponent, fraction) = (i32::from(self.0 >> 10 & 31), f64::from(self.0 & 0x3ff));
        let magnitude = match exponent {
            0 => fraction * 2f64.powi(-24),
            31 if fraction == 0.0 => f64::INFINITY,
            31 => f64::NAN,
            _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
        };
        Some(if self.0 >> 15 == 1 { -magnitude } else { magnitude })
    }
    fn ordered(self) -> i64 {
        ordered(u64::from(self.0 & 0x7fff), self.0 >> 15 == 1)
    }
}

/// CUDA's `__nv_bfloat16`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Bf16(pub(crate) u16);

impl Number for Bf16 {
    fn value(self) -> Option<f64> {
        f32::from_bits(u32::from(self.0) << 16).value()
    }
    fn ordered(self) -> i64 {
        ordered(u64::from(self.0 & 0x7fff), self.0 >> 15 == 1)
    }
}

/// Several rows with one bound.
pub(crate) fn alike(count: usize, bound: Bound) -> Vec<(&'static str, Bound)> {
    vec![("", bound); count]
}

/// Rows by their names, which ` | ` parts; those of a group have one bound.
pub(crate) fn grouped(groups: &[(&'static str, Bound)]) -> Vec<(&'static str, Bound)> {
    let rows = groups
        .iter()
        .flat_map(|&(names, bound)| names.split(" | ").map(move |name| (name, bound)));
    rows.collect()
}

/// Several rows that agree in every bit, but for the NaNs of `abs` and `neg`, which are the row `abs` and the next: PTX
/// leaves open which NaN they make of one.
pub(crate) fn signs_open(count: usize, abs: usize) -> Vec<(&'static str, Bound)> {
    let mut rows = alike(count, Bound::Bits);
    rows[abs] = ("abs", Bound::Number);
    rows[abs + 1] = ("neg", Bound::Number);
    rows
}

impl Bound {
    /// Whether `got` is as near to `expected` as this says.
    pub(crate) fn admits<T: Number>(self, expected: T, got: T) -> bool {
        if bytes_equal(&expected, &got) {
            return true;
        }
        let (Some(wanted), Some(value), false) = (expected.value(), got.value(), self == Bound::Bits) else {
            return false;
        };
        if wanted.is_nan() || value.is_nan() {
            return wanted.is_nan() && value.is_nan();
        }
        // An infinity is no approximation of a number, nor a number of it, but for overflow within a few units.
        let finite = wanted.is_finite() && value.is_finite();
        let difference = (wanted - value).abs();
        match self {
            Bound::Bits | Bound::Number => false,
            Bound::Ulps(most) => expected.ordered().abs_diff(got.ordered()) <= most,
            Bound::Absolute(most) => finite && difference <= most,
            Bound::Relative(most) => finite && difference <= most * wanted.abs(),
            Bound::Either(absolute, relative) => finite && difference <= absolute.max(relative * wanted.abs()),
        }
    }
}

fn bytes_equal<T: Number>(a: &T, b: &T) -> bool {
    graph_runtime::bytemuck::bytes_of(a) == graph_runtime::bytemuck::bytes_of(b)
}

#[test]
fn bounds_admit_what_they_say() {
    let one = 1f32;
    assert!(Bound::Ulps(1).admits(one, one.next_up()) && !Bound::Ulps(1).admits(one, one.next_up().next_up()));
    assert!(Bound::Ulps(2).admits(0f32.next_up(), -0f32.next_up()) && !Bound::Bits.admits(0f32, -0f32));
    assert!(Bound::Ulps(1).admits(f32::MAX, f32::INFINITY) && !Bound::Absolute(9.0).admits(f32::MAX, f32::INFINITY));
    assert!(Bound::Number.admits(f32::NAN, -f32::NAN) && !Bound::Bits.admits(f32::NAN, -f32::NAN));
    assert!(!Bound::Ulps(9).admits(f32::NAN, f32::INFINITY) && !Bound::Ulps(9).admits(3u32, 4));
    assert!(
        Bound::Relative(0.1).admits(F16(0x3c00), F16(0x3c10))
            && !Bound::Relative(0.001).admits(F16(0x3c00), F16(0x3c10))
    );
    let expected = (Some(-(2f64.powi(-24))), Some(65504.0));
    assert_eq!((F16(0x8001).value(), F16(0x7bff).value()), expected);
    assert_eq!(Bf16(0xc040).value(), Some(-3.0));
}
