//! Half-precision arithmetic: exact, then rounded once.

use half::{bf16, f16};

use super::number::{extreme, maximum, minimum, saturate};
use crate::code::{Float, FloatOp as Op, FloatType as Ty};
use crate::softfloat::{self, Format, Rounding};
use crate::state::{LANES, Lane, Registers};

/// A half-precision format. Numbers are computed in `f64`, which holds every product, and rounded once.
trait Half: Lane {
    const FORMAT: Format;
    const NAN: u16;
    fn bits(self) -> u16;
    fn from(bits: u16) -> Self;
    fn widen(self) -> f32;
}

macro_rules! half {
    ($ty:ident, $format:expr) => {
        impl Half for $ty {
            const FORMAT: Format = $format;
            const NAN: u16 = 0x7fff;
            #[inline(always)]
            fn bits(self) -> u16 {
                self.to_bits()
            }
            #[inline(always)]
            fn from(bits: u16) -> $ty {
                $ty::from_bits(bits)
            }
            #[inline(always)]
            fn widen(self) -> f32 {
                self.to_f32()
            }
        }
    };
}

half!(f16, softfloat::F16);
half!(bf16, softfloat::BF16);

/// Arithmetic of one or two halves.
pub(super) fn halves(registers: &mut Registers, mask: u32, instruction: &Float) {
    match instruction.ty {
        Ty::F16 => half_lanes::<f16>(registers, mask, instruction, false),
        Ty::F16x2 => half_lanes::<f16>(registers, mask, instruction, true),
        Ty::Bf16 => half_lanes::<bf16>(registers, mask, instruction, false),
        Ty::Bf16x2 => half_lanes::<bf16>(registers, mask, instruction, true),
        Ty::F32 | Ty::F64 => unreachable!("no halves"),
    }
}

fn half_lanes<T: Half>(registers: &mut Registers, mask: u32, instruction: &Float, packed: bool) {
    let [a, b, c] = operands(registers, instruction);
    let result: [u32; LANES] = std::array::from_fn(|lane| {
        let at = |shift: u32| {
            let [a, b, c] = [a[lane], b[lane], c[lane]].map(|bits| T::from((bits >> shift) as u16));
            u32::from(half_operation(instruction, a, b, c)) << shift
        };
        if packed { at(0) | at(16) } else { at(0) }
    });
    registers.set(instruction.d, mask, result);
}

/// The operands. Those that an instruction does not have repeat the first.
fn operands(registers: &Registers, instruction: &Float) -> [[u32; LANES]; 3] {
    let count = instruction.op.operand_count();
    std::array::from_fn(|index| *registers.get32(instruction.s[if index < count { index } else { 0 }]))
}

fn half_operation<T: Half>(instruction: &Float, a: T, b: T, c: T) -> u16 {
    let flush = |value: T| -> f32 {
        let wide = value.widen();
        let subnormal =
            value.bits() & 0x7fff < (T::FORMAT.infinity(false) & T::FORMAT.infinity(false).wrapping_neg()) as u16;
        if instruction.ftz && subnormal {
            0f32.copysign(wide)
        } else {
            wide
        }
    };
    let round = |bits: u64| {
        let bits = bits as u16;
        let unit = (T::FORMAT.infinity(false) & T::FORMAT.infinity(false).wrapping_neg()) as u16;
        if instruction.ftz && bits & 0x7fff < unit {
            bits & 0x8000
        } else {
            bits
        }
    };
    let (x, y, z) = (f64::from(flush(a)), f64::from(flush(b)), f64::from(flush(c)));
    let near = Rounding::Nearest;
    let bits = match instruction.op {
        Op::Add => round(softfloat::add(x, y, T::FORMAT, near)),
        Op::Sub => round(softfloat::add(x, -y, T::FORMAT, near)),
        Op::Mul => round(softfloat::mul(x, y, T::FORMAT, near)),
        Op::Fma => round(softfloat::fma(x, y, z, T::FORMAT, near)),
        Op::Div | Op::DivApprox => round(softfloat::div(x, y, T::FORMAT, near)),
        Op::Sqrt => round(softfloat::sqrt(x, T::FORMAT, near)),
        Op::Min { nan, xorsign } => half_extreme::<T>(extreme(minimum, x as f32, y as f32, nan, xorsign)),
        Op::Max { nan, xorsign } => half_extreme::<T>(extreme(maximum, x as f32, y as f32, nan, xorsign)),
        Op::Neg | Op::Abs if x.is_nan() => T::NAN,
        Op::Neg => round(u64::from(a.bits() ^ 0x8000)),
        Op::Abs => round(u64::from(a.bits() & 0x7fff)),
        Op::CopySign => (b.bits() & 0x7fff) | (a.bits() & 0x8000),
    };
    let value = T::from(bits).widen();
    if instruction.sat {
        return softfloat::convert(saturate(value).into(), T::FORMAT, near) as u16;
    }
    if instruction.relu && !value.is_nan() && value.is_sign_negative() {
        0
    } else {
        bits
    }
}

fn half_extreme<T: Half>(value: f32) -> u16 {
    if value.is_nan() {
        T::NAN
    } else {
        softfloat::convert(value.into(), T::FORMAT, Rounding::Nearest) as u16
    }
}
