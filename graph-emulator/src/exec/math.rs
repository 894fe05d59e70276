//! Approximate functions. Results are within the errors that the PTX manual documents, but need not have a GPU's bits.

use super::number::{NAN, each_half, flush, flush_half, widen};
use crate::code::{FloatType as Ty, Math, MathOp as Op};
use crate::softfloat::{self, Rounding};
use crate::state::Registers;
use crate::state::vector::dispatch;

dispatch! {
    /// `ex2`, `lg2`, `sin`, `cos`, `rcp`, `rsqrt` and `tanh`.
    fn math(registers: &mut Registers, mask: u32, instruction: &Math) = math_lanes
}

#[inline(always)]
fn math_lanes(registers: &mut Registers, mask: u32, instruction: &Math) {
    match instruction.ty {
        Ty::F64 => double(registers, mask, instruction),
        Ty::F32 if instruction.ftz => single::<true>(registers, mask, instruction),
        Ty::F32 => single::<false>(registers, mask, instruction),
        Ty::F16 | Ty::Bf16 | Ty::F16x2 | Ty::Bf16x2 => halves(registers, mask, instruction),
    }
}

#[inline(always)]
fn single<const FTZ: bool>(registers: &mut Registers, mask: u32, &Math { op, d, a, .. }: &Math) {
    let finish = |value: f32| if value.is_nan() { NAN } else { flush::<FTZ>(value) };
    match op {
        Op::Ex2 => registers.map1(mask, d, a, |a: f32| finish(exp2(flush::<FTZ>(a)))),
        Op::Lg2 => registers.map1(mask, d, a, |a: f32| finish(flush::<FTZ>(a).log2())),
        Op::Sin => registers.map1(mask, d, a, |a: f32| finish(flush::<FTZ>(a).sin())),
        Op::Cos => registers.map1(mask, d, a, |a: f32| finish(flush::<FTZ>(a).cos())),
        Op::Rcp => registers.map1(mask, d, a, |a: f32| finish(1.0 / flush::<FTZ>(a))),
        Op::Rsqrt => registers.map1(mask, d, a, |a: f32| finish(reciprocal_root(flush::<FTZ>(a)))),
        Op::Tanh => registers.map1(mask, d, a, |a: f32| finish(flush::<FTZ>(a).tanh())),
    }
}

/// 2^x within one unit in the last place: the fraction by a polynomial, the integer by the exponent field.
#[inline(always)]
fn exp2(x: f32) -> f32 {
    let clamped = x.clamp(-160.0, 160.0);
    let whole = clamped.round_ties_even();
    let t = f64::from(clamped - whole);
    // The Taylor series of 2^t for |t| <= 1/2, whose first omitted term is below 2^-28.
    let coefficients = [
        1.525_273_380_405_984e-5,
        1.540_353_039_338_161e-4,
        1.333_355_814_642_844_3e-3,
        9.618_129_107_628_477e-3,
        5.550_410_866_482_157_6e-2,
        2.402_265_069_591_007e-1,
        std::f64::consts::LN_2,
        1.0,
    ];
    let fraction = coefficients.iter().fold(0f64, |sum, coefficient| sum * t + coefficient);
    let power = f64::from_bits(((whole as i32 + 1023) as u64) << 52);
    let value = (fraction * power) as f32;
    if x.is_nan() { x } else { value }
}

#[inline(always)]
fn reciprocal_root(x: f32) -> f32 {
    (1.0 / f64::from(x).sqrt()) as f32
}

fn double(registers: &mut Registers, mask: u32, &Math { op, d, a, ftz, .. }: &Math) {
    // `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64` flush, and give only the upper half of the result.
    let gross = |value: f64| {
        if value.is_nan() {
            value
        } else {
            f64::from_bits(flush64(value).to_bits() & !0 << 32)
        }
    };
    match op {
        Op::Rcp => registers.map1(mask, d, a, |a: f64| gross(1.0 / flush64(a))),
        Op::Rsqrt if ftz => registers.map1(mask, d, a, |a: f64| gross(1.0 / flush64(a).sqrt())),
        Op::Rsqrt => registers.map1(mask, d, a, |a: f64| 1.0 / a.sqrt()),
        Op::Ex2 => registers.map1(mask, d, a, |a: f64| a.exp2()),
        Op::Lg2 => registers.map1(mask, d, a, |a: f64| a.log2()),
        Op::Sin => registers.map1(mask, d, a, |a: f64| a.sin()),
        Op::Cos => registers.map1(mask, d, a, |a: f64| a.cos()),
        Op::Tanh => registers.map1(mask, d, a, |a: f64| a.tanh()),
    }
}

fn flush64(value: f64) -> f64 {
    if value.is_subnormal() {
        0f64.copysign(value)
    } else {
        value
    }
}

fn halves(registers: &mut Registers, mask: u32, instruction: &Math) {
    let ty = instruction.ty;
    let brain = ty.format() == softfloat::BF16;
    let one = |bits: u16| {
        let value = widen(ty, flush_half(ty, instruction.ftz && brain, bits));
        let result = match instruction.op {
            Op::Ex2 => value.exp2(),
            Op::Tanh => value.tanh(),
            Op::Lg2 | Op::Sin | Op::Cos | Op::Rcp | Op::Rsqrt => unreachable!("`decode` refuses these for halves"),
        };
        softfloat::convert(result.into(), ty.format(), Rounding::Nearest) as u16
    };
    let all = |bits: u32| each_half(ty, |shift| one((bits >> shift) as u16));
    registers.map1(mask, instruction.d, instruction.a, all);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_close_everywhere() {
        for step in -170_000..170_000 {
            let x = step as f32 / 1000.0 + 0.000_37;
            let (got, exact) = (f64::from(exp2(x)), f64::from(x).exp2());
            let unit = (exact * f64::from(f32::EPSILON)).max(1.5e-45);
            assert!(exact > 3.4e38 || (got - exact).abs() <= unit, "{x} {got} {exact}");
        }
        assert_eq!(exp2(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp2(f32::NEG_INFINITY), 0.0);
        assert_eq!((exp2(0.0), exp2(-3.0), exp2(127.0)), (1.0, 0.125, 1.701_411_8e38));
        assert!(exp2(f32::NAN).is_nan());
    }
}
