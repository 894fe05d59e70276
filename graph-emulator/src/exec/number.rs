//! Operations on numbers that several families share: the canonical NaN, flushing, saturating, and the smaller and the
//! larger number.

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
pub(super) fn extreme(choose: impl Fn(f32, f32) -> f32, a: f32, b: f32, nan: bool, xorsign: bool) -> f32 {
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
