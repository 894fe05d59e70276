//! Half-precision arithmetic: exact, in `f64`, which holds every product, then rounded once.

use super::number::{each_half, extreme, flush_half, maximum, minimum, saturate, widen};
use crate::code::{Float, FloatOp as Op};
use crate::softfloat::{self, Rounding};
use crate::state::{LANES, Registers};

/// Every NaN that instructions return.
const NAN: u16 = 0x7fff;

/// Arithmetic of one or two halves.
pub(super) fn halves(registers: &mut Registers, mask: u32, instruction: &Float) {
    let [a, b, c] = instruction.s.map(|slot| *registers.get32(slot));
    let result: [u32; LANES] = std::array::from_fn(|lane| {
        each_half(instruction.ty, |shift| {
            half_operation(
                instruction,
                [a[lane], b[lane], c[lane]].map(|bits| (bits >> shift) as u16),
            )
        })
    });
    registers.set(instruction.d, mask, result);
}

fn half_operation(instruction: &Float, [a, b, c]: [u16; 3]) -> u16 {
    let (ty, format, near) = (instruction.ty, instruction.ty.format(), Rounding::Nearest);
    let flush = |bits: u16| flush_half(ty, instruction.ftz, bits);
    let round = |bits: u64| flush(bits as u16);
    let number = |value: f32| {
        if value.is_nan() {
            NAN
        } else {
            softfloat::convert(value.into(), format, near) as u16
        }
    };
    let [x, y, z] = [a, b, c].map(|bits| widen(ty, flush(bits)));
    let [wide_x, wide_y, wide_z] = [x, y, z].map(f64::from);
    let bits = match instruction.op {
        Op::Add => round(softfloat::add(wide_x, wide_y, format, near)),
        Op::Sub => round(softfloat::add(wide_x, -wide_y, format, near)),
        Op::Mul => round(softfloat::mul(wide_x, wide_y, format, near)),
        Op::Fma => round(softfloat::fma(wide_x, wide_y, wide_z, format, near)),
        Op::Min(modifiers) => number(extreme(minimum, x, y, modifiers)),
        Op::Max(modifiers) => number(extreme(maximum, x, y, modifiers)),
        Op::Neg | Op::Abs if x.is_nan() => NAN,
        Op::Neg => flush(a ^ 0x8000),
        Op::Abs => flush(a & 0x7fff),
        Op::Div | Op::DivApprox | Op::Sqrt | Op::CopySign => unreachable!("`decode` refuses these for halves"),
    };
    let value = widen(ty, bits);
    if instruction.sat {
        return softfloat::convert(saturate(value).into(), format, near) as u16;
    }
    if instruction.relu && !value.is_nan() && value.is_sign_negative() {
        0
    } else {
        bits
    }
}
