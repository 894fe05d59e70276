//! Matrices in registers: reading and writing their elements as numbers.

use half::{bf16, f16};

use super::number::NAN;
use crate::code::{DISCARD, Element, Fragment, MAX_ELEMENTS};
use crate::softfloat::{self, Rounding, narrow};
use crate::state::Registers;

/// The elements of a matrix, row by row, as numbers that hold each of them exactly.
pub(crate) type Numbers = [f64; MAX_ELEMENTS];

impl Fragment {
    /// The matrix as numbers.
    pub(crate) fn read(&self, registers: &Registers, numbers: &mut Numbers) {
        let bits = self.element.bits();
        for (register, &slot) in self.slots.iter().enumerate() {
            let values = registers.read(self.element.is_wide(), slot);
            for (lane, value) in values.into_iter().enumerate() {
                for element in 0..self.element.per_slot() {
                    let part = value >> (element * bits);
                    numbers[self.index(lane, register, element)] = decode(self.element, part);
                }
            }
        }
    }

    /// Writes numbers to the registers, rounded to the type of the elements.
    pub(crate) fn write(&self, registers: &mut Registers, mask: u32, numbers: &Numbers) {
        let bits = self.element.bits();
        for (register, &slot) in self.slots.iter().enumerate().filter(|&(_, &slot)| slot != DISCARD) {
            let value = |lane: usize| {
                (0..self.element.per_slot()).fold(0, |all, element| {
                    let number = numbers[self.index(lane, register, element)];
                    all | encode(self.element, number) << (element * bits)
                })
            };
            registers.write(self.element.is_wide(), slot, mask, std::array::from_fn(value));
        }
    }
}

/// The number that the lowest bits stand for.
pub(crate) fn decode(element: Element, bits: u64) -> f64 {
    match element {
        Element::F16 => f16::from_bits(bits as u16).to_f64(),
        Element::Bf16 => bf16::from_bits(bits as u16).to_f64(),
        // The hardware reads only the upper nineteen bits.
        Element::Tf32 => f32::from_bits(bits as u32 & !0x1fff).into(),
        Element::F32 => f32::from_bits(bits as u32).into(),
        Element::F64 => f64::from_bits(bits),
        Element::E4m3 => narrow::to_number(narrow::E4M3, bits as u8),
        Element::E5m2 => narrow::to_number(narrow::E5M2, bits as u8),
        Element::S8 => f64::from(bits as i8),
        Element::U8 => f64::from(bits as u8),
        Element::S4 => f64::from((bits as i8) << 4 >> 4),
        Element::U4 => f64::from(bits as u8 & 15),
        Element::S32 => f64::from(bits as i32),
    }
}

/// The bits of a number, rounded to nearest; integers are already in their range.
fn encode(element: Element, number: f64) -> u64 {
    match element {
        Element::F16 => softfloat::convert(number, softfloat::F16, Rounding::Nearest),
        Element::Bf16 => softfloat::convert(number, softfloat::BF16, Rounding::Nearest),
        Element::F32 | Element::Tf32 if number.is_nan() => NAN.to_bits().into(),
        Element::F32 | Element::Tf32 => (number as f32).to_bits().into(),
        Element::F64 => number.to_bits(),
        Element::E4m3 => narrow::from_number(narrow::E4M3, number).into(),
        Element::E5m2 => narrow::from_number(narrow::E5M2, number).into(),
        Element::S32 => number as i64 as u32 as u64,
        Element::S8 | Element::U8 => number as i64 as u8 as u64,
        Element::S4 | Element::U4 => number as i64 as u64 & 15,
    }
}
