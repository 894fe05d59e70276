//! `cvt`: common conversions in vectorised loops, all others one lane at a time.

use half::{bf16, f16};

use crate::code::{Convert, ConvertType as Ty, DISCARD, Rounding};
use crate::exec::float::{NAN, flush, saturate};
use crate::registers::{LANES, Registers};
use crate::softfloat::{self, Format};
use crate::wide::dispatch;

dispatch! {
    /// All conversions.
    fn convert(registers: &mut Registers, mask: u32, instruction: &Convert) = convert_lanes
}

const fn integer(bytes: u8, signed: bool) -> Ty {
    Ty::Integer { bytes, signed }
}

#[inline(always)]
fn convert_lanes(registers: &mut Registers, mask: u32, instruction: &Convert) {
    let Convert { from, to, d, a, .. } = *instruction;
    let plain = !instruction.sat && !instruction.ftz && !instruction.integral && !instruction.relu;
    let near = plain && instruction.round == Rounding::Nearest;
    const S32: Ty = integer(4, true);
    const U32: Ty = integer(4, false);
    const S64: Ty = integer(8, true);
    const U64: Ty = integer(8, false);
    match (from, to) {
        (S32, S64 | U64) if plain => registers.map1(mask, d, a, |a: i32| i64::from(a)),
        (U32, S64 | U64) if plain => registers.map1(mask, d, a, |a: u32| u64::from(a)),
        (S64 | U64, S32 | U32) if plain && !instruction.to_wide => registers.map1(mask, d, a, |a: u64| a as u32),
        (S32, Ty::F32) if near => registers.map1(mask, d, a, |a: i32| a as f32),
        (U32, Ty::F32) if near => registers.map1(mask, d, a, |a: u32| a as f32),
        (S32, Ty::F64) if near => registers.map1(mask, d, a, |a: i32| f64::from(a)),
        (Ty::F32, Ty::F64) if plain => registers.map1(mask, d, a, |a: f32| f64::from(a)),
        (Ty::F64, Ty::F32) if near => {
            registers.map1(mask, d, a, |a: f64| if a.is_nan() { NAN } else { a as f32 });
        }
        (Ty::F32, Ty::F32)
            if instruction.integral && !instruction.sat && instruction.round != Rounding::NearestAway =>
        {
            integral(registers, mask, instruction);
        }
        _ => slow(registers, mask, instruction),
    }
}

/// `cvt.rni.f32.f32` and its like.
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
        _ => registers.map1(mask, d, a, |a| input(a).round_ties_even()),
    }
}

/// A source value: every integer and every float fits one of these exactly.
#[derive(Clone, Copy)]
enum Value {
    Integer(i128),
    Float(f64),
}

fn slow(registers: &mut Registers, mask: u32, instruction: &Convert) {
    let read = |slot| -> [u64; LANES] {
        if instruction.from_wide {
            *registers.get64(slot)
        } else {
            registers.get32(slot).map(u64::from)
        }
    };
    let a = read(instruction.a);
    let one = |bits: u64| to_bits(instruction, from_bits(instruction, bits));
    let result: [u64; LANES] = if instruction.b == DISCARD {
        a.map(one)
    } else {
        let b = read(instruction.b);
        std::array::from_fn(|lane| one(a[lane]) << 16 | one(b[lane]))
    };
    if instruction.to_wide {
        registers.set(instruction.d, mask, result);
    } else {
        registers.set(instruction.d, mask, result.map(|bits| bits as u32));
    }
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

fn to_bits(instruction: &Convert, value: Value) -> u64 {
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

/// Ten bits of mantissa.
fn to_tf32(instruction: &Convert, value: f32) -> u64 {
    let bits = value.to_bits();
    if !value.is_finite() {
        return u64::from(bits);
    }
    let rounded = match instruction.round {
        Rounding::Nearest => bits + 0xfff + (bits >> 13 & 1),
        Rounding::Zero => bits,
        _ => bits + 0x1000,
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
        // NaN gives zero in 8, 16 and 32 bits, and the smallest 64-bit number.
        Value::Float(value) if value.is_nan() => {
            if bits == 64 {
                1 << 63
            } else {
                0
            }
        }
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

/// `.ftz`, `.sat` and `.relu` of a result.
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
        () if instruction.relu && flushed < 0.0 => 0.0,
        () if flushed.is_nan() => return bits,
        () => flushed,
    };
    softfloat::convert(value.into(), format, Rounding::Nearest)
}
