//! `cvt`: common conversions in vectorised loops, others one lane at a time.

use half::{bf16, f16};

use super::number::{NAN, flush, saturate};
use crate::code::{Convert, ConvertType as Ty, DISCARD};
use crate::softfloat::{self, Format, Rounding};
use crate::state::vector::dispatch;
use crate::state::{LANES, Registers};

dispatch! {
    /// All conversions.
    fn convert(registers: &mut Registers, mask: u32, instruction: &Convert) = convert_lanes
}

const fn is_wide(ty: Ty) -> bool {
    matches!(ty, Ty::F64 | Ty::Integer { bytes: 8, .. })
}

const fn integer(bytes: u8, signed: bool) -> Ty {
    Ty::Integer { bytes, signed }
}

#[inline(always)]
fn convert_lanes(registers: &mut Registers, mask: u32, instruction: &Convert) {
    let Convert { from, to, d, a, .. } = *instruction;
    // The slow path handles registers that are wider than their types.
    if (instruction.from_wide, instruction.to_wide) != (is_wide(from), is_wide(to)) {
        return slow(registers, mask, instruction);
    }
    let plain = !instruction.sat && !instruction.ftz && !instruction.integral && !instruction.relu;
    let near = plain && instruction.round == Rounding::Nearest;
    let truncates = instruction.round == Rounding::Zero;
    const S32: Ty = integer(4, true);
    const U32: Ty = integer(4, false);
    const S64: Ty = integer(8, true);
    const U64: Ty = integer(8, false);
    match (from, to) {
        (S32, S64 | U64) if plain => registers.map1(mask, d, a, |a: i32| i64::from(a)),
        (U32, S64 | U64) if plain => registers.map1(mask, d, a, |a: u32| u64::from(a)),
        (S64 | U64, S32 | U32) if plain => registers.map1(mask, d, a, |a: u64| a as u32),
        (S32, Ty::F32) if near => registers.map1(mask, d, a, |a: i32| a as f32),
        (U32, Ty::F32) if near => registers.map1(mask, d, a, |a: u32| a as f32),
        (S32, Ty::F64) if near => registers.map1(mask, d, a, |a: i32| f64::from(a)),
        // Rust's conversions saturate as PTX's do, and NaN becomes zero.
        (Ty::F32, S32) if plain && truncates => registers.map1(mask, d, a, |a: f32| a as i32),
        (Ty::F32, U32) if plain && truncates => registers.map1(mask, d, a, |a: f32| a as u32),
        (Ty::F64, S32) if plain && truncates => {
            registers.map1(mask, d, a, |a: f64| if a.is_nan() { i32::MIN } else { a as i32 });
        }
        (Ty::F32, S32) if plain && instruction.round == Rounding::Nearest => {
            registers.map1(mask, d, a, |a: f32| a.round_ties_even() as i32);
        }
        (U32, Ty::F64) if near => registers.map1(mask, d, a, |a: u32| f64::from(a)),
        (S64, Ty::F32) if near => registers.map1(mask, d, a, |a: i64| a as f32),
        (S64, Ty::F64) if near => registers.map1(mask, d, a, |a: i64| a as f64),
        (Ty::F32, Ty::F64) if plain => registers.map1(mask, d, a, |a: f32| f64::from(a)),
        (Ty::F64, Ty::F32) if near => {
            registers.map1(mask, d, a, |a: f64| if a.is_nan() { nan(a) } else { a as f32 });
        }
        (Ty::F32, Ty::F32)
            if instruction.integral && !instruction.sat && instruction.round != Rounding::NearestAway =>
        {
            integral(registers, mask, instruction);
        }
        _ => slow(registers, mask, instruction),
    }
}

/// `cvt.rni.f32.f32` and similar.
#[inline(always)]
fn integral(registers: &mut Registers, mask: u32, &Convert { d, a, round, ftz, .. }: &Convert) {
    let input = |a: f32| {
        let a = if ftz { flush::<true>(a) } else { a };
        if a.is_nan() { NAN } else { a }
    };
    match round {
        Rounding::Zero => registers.map1(mask, d, a, |a| input(a).trunc()),
        Rounding::Down => registers.map1(mask, d, a, |a| input(a).floor()),
        Rounding::Up => registers.map1(mask, d, a, |a| input(a).ceil()),
        Rounding::Nearest | Rounding::NearestAway => {
            registers.map1(mask, d, a, |a| input(a).round_ties_even());
        }
    }
}

/// A source value: every integer and every float fits one of these exactly.
#[derive(Clone, Copy)]
enum Value {
    Integer(i128),
    Float(f64),
}

fn slow(registers: &mut Registers, mask: u32, instruction: &Convert) {
    let a = registers.read(instruction.from_wide, instruction.a);
    let one = |bits: u64| to_bits(instruction, from_bits(instruction, bits));
    let result: [u64; LANES] = if instruction.b == DISCARD {
        a.map(one)
    } else {
        let b = registers.read(instruction.from_wide, instruction.b);
        std::array::from_fn(|lane| one(a[lane]) << 16 | one(b[lane]))
    };
    registers.write(instruction.to_wide, instruction.d, mask, result);
}

fn from_bits(instruction: &Convert, bits: u64) -> Value {
    let float = |value: f32| Value::Float(f64::from(if instruction.ftz { flush::<true>(value) } else { value }));
    match instruction.from {
        Ty::Integer { bytes, signed } => {
            let shift = 64 - 8 * u32::from(bytes);
            let bits = bits << shift;
            Value::Integer(if signed {
                i128::from(bits as i64 >> shift)
            } else {
                i128::from(bits >> shift)
            })
        }
        Ty::F16 => Value::Float(f16::from_bits(bits as u16).to_f64()),
        Ty::Bf16 => Value::Float(bf16::from_bits(bits as u16).to_f64()),
        Ty::F32 | Ty::Tf32 => float(f32::from_bits(bits as u32)),
        Ty::F64 => Value::Float(f64::from_bits(bits)),
    }
}

/// A NaN in 64 bits: it keeps its sign and upper bits, and is quiet.
#[inline(always)]
fn nan(value: f64) -> f32 {
    let bits = value.to_bits();
    f32::from_bits((bits >> 32) as u32 & 0x8000_0000 | 0x7fc0_0000 | (bits >> 29) as u32 & 0x003f_ffff)
}

fn to_bits(instruction: &Convert, value: Value) -> u64 {
    if let (Value::Float(value), Ty::F64 | Ty::Bf16, Ty::F32) = (value, instruction.from, instruction.to)
        && value.is_nan()
        && !instruction.sat
    {
        return nan(value).to_bits().into();
    }
    match instruction.to {
        Ty::Integer { bytes, signed } => to_integer(instruction, value, bytes, signed),
        Ty::F16 => to_float(instruction, value, softfloat::F16),
        Ty::Bf16 => to_float(instruction, value, softfloat::BF16),
        Ty::F32 => to_float(instruction, value, softfloat::F32),
        Ty::F64 => to_float(instruction, value, softfloat::F64),
        Ty::Tf32 => match value {
            Value::Float(value) if value.is_nan() => u64::from(NAN.to_bits()),
            Value::Float(value) => to_tf32(instruction, value as f32),
            Value::Integer(_) => 0,
        },
    }
}

/// A number of `tf32`, with ten bits of mantissa.
fn to_tf32(instruction: &Convert, value: f32) -> u64 {
    let bits = value.to_bits();
    if !value.is_finite() {
        return u64::from(bits);
    }
    let rounded = match instruction.round {
        Rounding::Nearest => bits + 0xfff + (bits >> 13 & 1),
        Rounding::Zero => bits,
        Rounding::NearestAway | Rounding::Up | Rounding::Down => bits + 0x1000,
    } & !0x1fff;
    u64::from(if instruction.relu && value.is_sign_negative() {
        0
    } else {
        rounded
    })
}

/// Integers wrap between integer types unless `.sat`; floats always saturate. The result is extended to 64 bits.
fn to_integer(instruction: &Convert, value: Value, bytes: u8, signed: bool) -> u64 {
    let bits = 8 * u32::from(bytes);
    let (low, high) = if signed {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    match value {
        Value::Integer(value) if instruction.sat => value.clamp(low, high) as u64,
        Value::Integer(value) => {
            let shift = 64 - bits;
            let top = (value as u64) << shift;
            if signed {
                (top as i64 >> shift) as u64
            } else {
                top >> shift
            }
        }
        // NaN becomes zero or, from or to 64 bits, only the highest bit.
        Value::Float(value) if value.is_nan() => match (bits == 64 || instruction.from == Ty::F64, signed) {
            (false, _) => 0,
            (true, true) => low as u64,
            (true, false) => 1 << (bits - 1),
        },
        Value::Float(value) => (softfloat::round_integral(value, instruction.round) as i128).clamp(low, high) as u64,
    }
}

fn to_float(instruction: &Convert, value: Value, format: Format) -> u64 {
    let bits = match value {
        Value::Integer(value) => softfloat::from_integer(value, format, instruction.round),
        Value::Float(value) if instruction.integral => softfloat::convert(
            softfloat::round_integral(value, instruction.round),
            format,
            Rounding::Nearest,
        ),
        Value::Float(value) => softfloat::convert(value, format, instruction.round),
    };
    finish(instruction, bits, format)
}

/// Applies `.ftz`, `.sat` and `.relu` to a result.
fn finish(instruction: &Convert, bits: u64, format: Format) -> u64 {
    if !instruction.sat && !instruction.relu && !instruction.ftz {
        return bits;
    }
    if format == softfloat::F64 {
        let value = f64::from_bits(bits);
        let clamped = if value > 0.0 { value.min(1.0) } else { 0.0 };
        return if instruction.sat { clamped.to_bits() } else { bits };
    }
    let value = match format {
        softfloat::F16 => f16::from_bits(bits as u16).to_f32(),
        softfloat::BF16 => bf16::from_bits(bits as u16).to_f32(),
        _ => f32::from_bits(bits as u32),
    };
    let flushed = if instruction.ftz && format == softfloat::F32 {
        flush::<true>(value)
    } else {
        value
    };
    let value = match () {
        () if instruction.sat => saturate(flushed),
        // Negative zero too.
        () if instruction.relu && flushed <= 0.0 => 0.0,
        () if flushed.is_nan() => return bits,
        () => flushed,
    };
    softfloat::convert(value.into(), format, Rounding::Nearest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::FrameSize;
    use crate::state::FULL;

    fn run(from: Ty, to: Ty, round: Rounding, sat: bool, value: u64) -> u64 {
        let mut registers = Registers::of_block([LANES as u32, 1, 1]);
        registers.reserve(FrameSize {
            r32: 2,
            r64: 2,
            ..FrameSize::default()
        });
        *registers.get32_mut(0) = [value as u32; LANES];
        *registers.get64_mut(0) = [value; LANES];
        let (from_wide, to_wide) = (is_wide(from), is_wide(to));
        let (integral, ftz, relu) = (false, false, false);
        let convert_to = Convert {
            from,
            to,
            round,
            integral,
            ftz,
            sat,
            relu,
            from_wide,
            to_wide,
            d: 1,
            a: 0,
            b: DISCARD,
        };
        convert(&mut registers, FULL, &convert_to);
        if to_wide {
            registers.get64(1)[17]
        } else {
            registers.get32(1)[17].into()
        }
    }

    #[test]
    fn floats_saturate_integers_wrap() {
        let float = |value: f32| u64::from(value.to_bits());
        let (s8, u8, s32, s64) = (integer(1, true), integer(1, false), integer(4, true), integer(8, true));
        assert_eq!(run(Ty::F32, s32, Rounding::Zero, false, float(3e9)), 0x7fff_ffff);
        assert_eq!(run(Ty::F32, s32, Rounding::Zero, false, float(f32::NAN)), 0);
        assert_eq!(
            run(Ty::F64, s32, Rounding::Zero, false, f64::NAN.to_bits()) as u32,
            1 << 31
        );
        assert_eq!(run(Ty::F64, s8, Rounding::Up, false, f64::NAN.to_bits()) as u8, 0x80);
        assert_eq!(
            run(Ty::F64, Ty::F32, Rounding::Nearest, false, 0xfff4_1234_5678_9abc),
            0xffe0_91a2
        );
        assert_eq!(run(Ty::F32, s64, Rounding::Zero, false, float(f32::NAN)), 1 << 63);
        assert_eq!(run(Ty::F32, s32, Rounding::Nearest, false, float(-2.5)) as i32, -2);
        assert_eq!(run(Ty::F32, s32, Rounding::Up, false, float(-2.5)) as i32, -2);
        assert_eq!(run(Ty::F32, s32, Rounding::Down, false, float(-2.5)) as i32, -3);
        assert_eq!(run(Ty::F32, u8, Rounding::Zero, false, float(-1.0)), 0);
        assert_eq!(run(Ty::F32, u8, Rounding::Zero, false, float(300.0)), 255);
        assert_eq!(run(s32, s8, Rounding::Zero, false, 0x1ff) as i32, -1);
        assert_eq!(run(s32, s8, Rounding::Zero, true, 0x1ff), 127);
        assert_eq!(run(s32, u8, Rounding::Zero, true, u64::from(-5i32 as u32)), 0);
        let expected = float(1_152_921_642_045_800_448.0);
        assert_eq!(run(s64, Ty::F32, Rounding::Up, false, (1 << 60) + 1), expected);
    }

    #[test]
    fn narrow_floats() {
        let float = |value: f32| u64::from(value.to_bits());
        assert_eq!(
            run(Ty::F32, Ty::F16, Rounding::Nearest, false, float(1.0 + 1.0 / 2048.0)),
            0x3c00
        );
        assert_eq!(
            run(Ty::F32, Ty::F16, Rounding::Up, false, float(1.0 + 1.0 / 2048.0)),
            0x3c01
        );
        assert_eq!(
            run(Ty::F32, Ty::Bf16, Rounding::Nearest, false, float(f32::NAN)),
            0x7fff
        );
        assert_eq!(
            run(Ty::F64, Ty::F32, Rounding::Zero, false, 1e300f64.to_bits()),
            float(f32::MAX)
        );
        assert_eq!(
            run(Ty::F32, Ty::Tf32, Rounding::NearestAway, false, 0x3f80_1000),
            0x3f80_2000
        );
        assert_eq!(run(Ty::F32, Ty::F32, Rounding::Nearest, true, float(-3.0)), 0);
    }
}
