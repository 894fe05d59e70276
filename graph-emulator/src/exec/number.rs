//! Operations on numbers that several families share: the canonical NaN, flushing, saturating, and the smaller and the
//! larger number.

use half::{bf16, f16};

use crate::code::{Comparison, Extreme, FloatType};
use crate::softfloat;

/// The NaN that `f32` instructions return.
pub(crate) const NAN: f32 = f32::from_bits(0x7fff_ffff);

/// Makes subnormal numbers zeros of their sign, if `FTZ`.
#[inline(always)]
pub(crate) fn flush<const FTZ: bool>(value: f32) -> f32 {
    if !FTZ {
        return value;
    }
    let bits = value.to_bits();
    let small = bits & 0x7f80_0000 == 0;
    f32::from_bits(if small { bits & 0x8000_0000 } else { bits })
}

/// Whether a comparison holds.
#[inline(always)]
pub(crate) fn holds<T: PartialOrd>(Comparison(is): Comparison, a: T, b: T) -> bool {
    let relation = if a < b {
        Comparison::LESS
    } else if a == b {
        Comparison::EQUAL
    } else if a > b {
        Comparison::GREATER
    } else {
        Comparison::UNORDERED
    };
    is & relation != 0
}

/// The number that the bits of a half stand for.
#[inline(always)]
pub(crate) fn widen(ty: FloatType, bits: u16) -> f32 {
    if ty.format() == softfloat::BF16 {
        bf16::from_bits(bits).to_f32()
    } else {
        f16::from_bits(bits).to_f32()
    }
}

/// Makes a subnormal half a zero of its sign, if `ftz`.
#[inline(always)]
pub(crate) fn flush_half(ty: FloatType, ftz: bool, bits: u16) -> u16 {
    let exponent = ty.format().infinity(false) as u16;
    if ftz && bits & exponent == 0 {
        bits & 0x8000
    } else {
        bits
    }
}

/// Applies an operation of one half to a half, or to two in a word.
#[inline(always)]
pub(crate) fn each_half(ty: FloatType, operation: impl Fn(u32) -> u16) -> u32 {
    let at = |shift: u32| u32::from(operation(shift)) << shift;
    if ty.is_packed() { at(0) | at(16) } else { at(0) }
}

/// `.sat`: clamps to [0, 1]; NaN becomes zero.
#[inline(always)]
pub(crate) fn saturate(value: f32) -> f32 {
    if value > 0.0 {
        if value < 1.0 { value } else { 1.0 }
    } else {
        0.0
    }
}

/// The smaller number; the other operand if one is NaN; -0 is less than +0.
#[inline(always)]
pub(crate) fn minimum(a: f32, b: f32) -> f32 {
    let less = if a == b {
        a.to_bits() as i32 <= b.to_bits() as i32 && a.is_sign_negative()
    } else {
        a < b
    };
    let value = if less || b.is_nan() { a } else { b };
    if value.is_nan() { NAN } else { value }
}

/// The larger number; the other operand if one is NaN; +0 is greater than -0.
#[inline(always)]
pub(crate) fn maximum(a: f32, b: f32) -> f32 {
    let more = if a == b { a.is_sign_positive() } else { a > b };
    let value = if more || b.is_nan() { a } else { b };
    if value.is_nan() { NAN } else { value }
}

/// `min` and `max` with `.NaN` and `.xorsign.abs`.
pub(super) fn extreme(choose: impl Fn(f32, f32) -> f32, a: f32, b: f32, modifiers: Extreme) -> f32 {
    let Extreme { nan, xorsign } = modifiers;
    if nan && (a.is_nan() || b.is_nan()) {
        return NAN;
    }
    if !xorsign {
        return choose(a, b);
    }
    let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
    let chosen = choose(a.abs(), b.abs());
    if chosen.is_nan() {
        chosen
    } else {
        f32::from_bits(chosen.to_bits() | sign)
    }
}
