//! Floating-point arithmetic. Rounding to nearest is the host's own; the other directions go through `softfloat`.

use super::half;
use super::number::{NAN, extreme, flush, maximum, minimum, saturate};
use crate::code::{Extreme, Float, FloatOp as Op, FloatType as Ty};
use crate::softfloat::{self, Format, Rounding};
use crate::state::Registers;
use crate::state::vector::dispatch;

dispatch! {
    /// Arithmetic of all floating-point types.
    fn float(registers: &mut Registers, mask: u32, instruction: &Float) = float_lanes
}

#[inline(always)]
fn float_lanes(registers: &mut Registers, mask: u32, instruction: &Float) {
    match instruction.ty {
        _ if instruction.round != Rounding::Nearest => directed(registers, mask, instruction),
        Ty::F32 if instruction.sat || instruction.relu => modified(registers, mask, instruction),
        Ty::F32 if instruction.ftz => single::<true>(registers, mask, instruction),
        Ty::F32 => single::<false>(registers, mask, instruction),
        Ty::F64 => double(registers, mask, instruction),
        Ty::F16 | Ty::Bf16 | Ty::F16x2 | Ty::Bf16x2 => half::halves(registers, mask, instruction),
    }
}

/// `min` and `max` without modifiers.
const PLAIN: Extreme = Extreme {
    nan: false,
    xorsign: false,
};

/// Flushes a result, and makes every NaN the canonical one.
#[inline(always)]
fn result<const FTZ: bool>(value: f32) -> f32 {
    let value = flush::<FTZ>(value);
    // Without a branch, so that the loop vectorises.
    let nan = u32::from(value.is_nan()).wrapping_neg();
    f32::from_bits((value.to_bits() | nan) & !(nan << 31))
}

#[inline(always)]
fn single<const FTZ: bool>(registers: &mut Registers, mask: u32, &Float { op, d, s, .. }: &Float) {
    let input = flush::<FTZ>;
    let output = result::<FTZ>;
    let ab = [s[0], s[1]];
    match op {
        Op::Add => registers.map2(mask, d, ab, |a, b| output(input(a) + input(b))),
        Op::Sub => registers.map2(mask, d, ab, |a, b| output(input(a) - input(b))),
        Op::Mul => registers.map2(mask, d, ab, |a, b| output(input(a) * input(b))),
        Op::Fma => registers.map3(mask, d, s, |a, b, c| output(input(a).mul_add(input(b), input(c)))),
        Op::Div => registers.map2(mask, d, ab, |a, b| output(input(a) / input(b))),
        Op::DivApprox => registers.map2(mask, d, ab, |a, b| output(quotient(input(a), input(b)))),
        Op::Sqrt => registers.map1(mask, d, s[0], |a| root(output(input(a).sqrt()))),
        Op::Min(PLAIN) => registers.map2(mask, d, ab, |a, b| minimum(input(a), input(b))),
        Op::Max(PLAIN) => registers.map2(mask, d, ab, |a, b| maximum(input(a), input(b))),
        Op::Min(modifiers) => registers.map2(mask, d, ab, |a, b| extreme(minimum, input(a), input(b), modifiers)),
        Op::Max(modifiers) => registers.map2(mask, d, ab, |a, b| extreme(maximum, input(a), input(b), modifiers)),
        Op::Neg => registers.map1(mask, d, s[0], |a: f32| canonical(-input(a))),
        Op::Abs => registers.map1(mask, d, s[0], |a: f32| canonical(input(a).abs())),
        // `copysign a, b` is b with the sign of a.
        Op::CopySign => registers.map2(mask, d, ab, |a: f32, b: f32| b.copysign(a)),
    }
}

/// Makes every NaN the canonical one.
#[inline(always)]
fn canonical(value: f32) -> f32 {
    if value.is_nan() { NAN } else { value }
}

/// Makes every NaN the canonical one, by its bits: the compiler may take any NaN for the root of a negative number.
#[inline(always)]
fn root(value: f32) -> f32 {
    let bits = value.to_bits();
    f32::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 {
        0x7fff_ffff
    } else {
        bits
    })
}

/// The quotient of `div.approx`: zero or NaN if the reciprocal of the divisor is subnormal.
#[inline(always)]
fn quotient(a: f32, b: f32) -> f32 {
    const LARGE: f32 = f32::from_bits(0x7e80_0000);
    if b.abs() > LARGE { a * 0f32.copysign(b) } else { a / b }
}

/// `.sat`: computes, then clamps.
fn modified(registers: &mut Registers, mask: u32, instruction: &Float) {
    if instruction.ftz {
        single::<true>(registers, mask, instruction);
    } else {
        single::<false>(registers, mask, instruction);
    }
    registers.map1(mask, instruction.d, instruction.d, saturate);
}

#[inline(always)]
fn double(registers: &mut Registers, mask: u32, &Float { op, d, s, .. }: &Float) {
    let ab = [s[0], s[1]];
    match op {
        Op::Add => registers.map2(mask, d, ab, |a: f64, b: f64| a + b),
        Op::Sub => registers.map2(mask, d, ab, |a: f64, b: f64| a - b),
        Op::Mul => registers.map2(mask, d, ab, |a: f64, b: f64| a * b),
        Op::Fma => registers.map3(mask, d, s, |a: f64, b: f64, c: f64| a.mul_add(b, c)),
        Op::Div | Op::DivApprox => registers.map2(mask, d, ab, |a: f64, b: f64| a / b),
        Op::Sqrt => registers.map1(mask, d, s[0], |a: f64| a.sqrt()),
        Op::Min(_) => registers.map2(mask, d, ab, |a: f64, b: f64| {
            let less = if a == b { a.is_sign_negative() } else { a < b };
            if less || b.is_nan() { a } else { b }
        }),
        Op::Max(_) => registers.map2(mask, d, ab, |a: f64, b: f64| {
            let more = if a == b { a.is_sign_positive() } else { a > b };
            if more || b.is_nan() { a } else { b }
        }),
        Op::Neg => registers.map1(mask, d, s[0], |a: f64| -a),
        Op::Abs => registers.map1(mask, d, s[0], |a: f64| a.abs()),
        Op::CopySign => registers.map2(mask, d, ab, |a: f64, b: f64| b.copysign(a)),
    }
}

/// Operations of `f32` and `f64` that are not rounded to nearest.
fn directed(registers: &mut Registers, mask: u32, instruction: &Float) {
    if instruction.ty == Ty::F64 {
        let [a, b, c] = instruction.s.map(|slot| registers.lanes::<f64>(slot));
        let result = std::array::from_fn(|lane| exact(instruction, softfloat::F64, a[lane], b[lane], c[lane]));
        registers.set::<u64>(instruction.d, mask, result);
        return;
    }
    let input = |value: f32| f64::from(if instruction.ftz { flush::<true>(value) } else { value });
    let [a, b, c] = instruction.s.map(|slot| registers.lanes::<f32>(slot).map(input));
    let result = std::array::from_fn(|lane| {
        let value = f32::from_bits(exact(instruction, softfloat::F32, a[lane], b[lane], c[lane]) as u32);
        let value = if instruction.ftz { flush::<true>(value) } else { value };
        if instruction.sat { saturate(value) } else { value }.to_bits()
    });
    registers.set::<u32>(instruction.d, mask, result);
}

fn exact(instruction: &Float, format: Format, a: f64, b: f64, c: f64) -> u64 {
    let round = instruction.round;
    match instruction.op {
        Op::Add => softfloat::add(a, b, format, round),
        Op::Sub => softfloat::add(a, -b, format, round),
        Op::Mul => softfloat::mul(a, b, format, round),
        Op::Fma => softfloat::fma(a, b, c, format, round),
        Op::Div => softfloat::div(a, b, format, round),
        Op::Sqrt => softfloat::sqrt(a, format, round),
        Op::DivApprox | Op::Min(_) | Op::Max(_) | Op::Neg | Op::Abs | Op::CopySign => {
            unreachable!("`decode` gives these no rounding mode")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_nans_of_extremes() {
        assert_eq!(minimum(0.0, -0.0).to_bits(), 0x8000_0000);
        assert_eq!(minimum(-0.0, 0.0).to_bits(), 0x8000_0000);
        assert_eq!(maximum(0.0, -0.0).to_bits(), 0);
        assert_eq!(maximum(-0.0, 0.0).to_bits(), 0);
        assert_eq!(minimum(f32::NAN, 1.0), 1.0);
        assert_eq!(maximum(1.0, f32::NAN), 1.0);
        assert_eq!(minimum(-f32::NAN, f32::NAN).to_bits(), 0x7fff_ffff);
        let modifiers = |nan, xorsign| Extreme { nan, xorsign };
        assert_eq!(extreme(minimum, -1.0, 2.0, modifiers(false, true)), -1.0);
        assert!(extreme(maximum, f32::NAN, 2.0, modifiers(true, false)).is_nan());
    }

    #[test]
    fn flushing_and_saturation() {
        assert_eq!(flush::<true>(-1e-40).to_bits(), 0x8000_0000);
        assert_eq!(flush::<false>(1e-40), 1e-40);
        assert_eq!(saturate(f32::NAN), 0.0);
        assert_eq!((saturate(-1.0).to_bits(), saturate(7.0), saturate(0.5)), (0, 1.0, 0.5));
    }
}
