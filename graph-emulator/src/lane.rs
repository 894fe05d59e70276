//! The types that instructions give to the lanes of a register.

use std::cell::Cell;

use crate::code::Slot;
use crate::map::Rows;
use crate::registers::{LANES, Registers};

/// What a slot holds in each lane.
pub(crate) trait Bits: Copy + Default + 'static {
    /// The rows of a slot: the lanes of each warp that instructions apply to.
    fn rows(registers: &Registers, slot: Slot) -> &[[Self; LANES]];
    fn of<'a>(rows: &Rows<'a>, slot: Slot) -> &'a [[Cell<Self>; LANES]];
    /// A slot will be written: nothing is known of it any more.
    fn forget(registers: &mut Registers, slot: Slot);
    fn widen(self) -> u64;
    fn narrow(value: u64) -> Self;
}

impl Bits for u32 {
    #[inline(always)]
    fn rows(registers: &Registers, slot: Slot) -> &[[u32; LANES]] {
        registers.rows32(slot)
    }
    #[inline(always)]
    fn of<'a>(rows: &Rows<'a>, slot: Slot) -> &'a [[Cell<u32>; LANES]] {
        rows.of32(slot)
    }
    #[inline(always)]
    fn forget(registers: &mut Registers, slot: Slot) {
        registers.forget32(slot);
    }
    #[inline(always)]
    fn widen(self) -> u64 {
        u64::from(self)
    }
    #[inline(always)]
    fn narrow(value: u64) -> u32 {
        value as u32
    }
}

impl Bits for u64 {
    #[inline(always)]
    fn rows(registers: &Registers, slot: Slot) -> &[[u64; LANES]] {
        registers.rows64(slot)
    }
    #[inline(always)]
    fn of<'a>(rows: &Rows<'a>, slot: Slot) -> &'a [[Cell<u64>; LANES]] {
        rows.of64(slot)
    }
    #[inline(always)]
    fn forget(registers: &mut Registers, slot: Slot) {
        registers.forget64(slot);
    }
    #[inline(always)]
    fn widen(self) -> u64 {
        self
    }
    #[inline(always)]
    fn narrow(value: u64) -> u64 {
        value
    }
}

/// A type that an instruction gives to the lanes of a slot.
pub(crate) trait Lane: Copy {
    type Bits: Bits;
    fn from_bits(bits: Self::Bits) -> Self;
    fn to_bits(self) -> Self::Bits;
}

macro_rules! integer_lanes {
    ($($ty:ty => $bits:ty),*) => {$(
        impl Lane for $ty {
            type Bits = $bits;
            #[inline(always)]
            fn from_bits(bits: $bits) -> $ty {
                bits as $ty
            }
            #[inline(always)]
            fn to_bits(self) -> $bits {
                self as $bits
            }
        }
    )*};
}

integer_lanes!(u8 => u32, i8 => u32, u16 => u32, i16 => u32, u32 => u32, i32 => u32, u64 => u64, i64 => u64);

macro_rules! float_lanes {
    ($($ty:ty => $bits:ty, $raw:ty);*) => {$(
        impl Lane for $ty {
            type Bits = $bits;
            #[inline(always)]
            fn from_bits(bits: $bits) -> $ty {
                <$ty>::from_bits(bits as $raw)
            }
            #[inline(always)]
            fn to_bits(self) -> $bits {
                <$ty>::to_bits(self) as $bits
            }
        }
    )*};
}

float_lanes!(f32 => u32, u32; f64 => u64, u64; half::f16 => u32, u16; half::bf16 => u32, u16);
