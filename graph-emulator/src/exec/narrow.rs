//! `cvt` from and to floating-point numbers of eight bits.

use half::f16;

use crate::code::{DISCARD, NarrowConvert};
use crate::softfloat::narrow::{from_number, to_number};
use crate::softfloat::{self, Rounding};
use crate::state::{Registers, each};

/// `cvt` from or to two numbers of eight bits.
pub(crate) fn convert(registers: &mut Registers, mask: u32, instruction: &NarrowConvert) {
    let NarrowConvert { format, relu, d, .. } = *instruction;
    let a = *registers.get32(instruction.a);
    let b = match instruction.b {
        DISCARD => a,
        slot => *registers.get32(slot),
    };
    let half = |bits: u32| f16::from_bits(bits as u16).to_f64();
    let positive = |value: f64| if relu && value <= 0.0 { 0.0 } else { value };
    let result = each(|lane| {
        let (high, low) = match (instruction.widens, instruction.b) {
            (true, _) => (
                to_number(format, (a[lane] >> 8) as u8),
                to_number(format, a[lane] as u8),
            ),
            (false, DISCARD) => (half(a[lane] >> 16), half(a[lane])),
            (false, _) => (f32::from_bits(a[lane]).into(), f32::from_bits(b[lane]).into()),
        };
        let (high, low) = (positive(high), positive(low));
        if instruction.widens {
            let bits = |value| softfloat::convert(value, softfloat::F16, Rounding::Nearest) as u32;
            bits(high) << 16 | bits(low)
        } else {
            u32::from(from_number(format, high)) << 8 | u32::from(from_number(format, low))
        }
    });
    registers.set::<u32>(d, mask, result);
}
