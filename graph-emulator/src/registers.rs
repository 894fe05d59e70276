//! The registers of a warp, as structures of arrays, and the loops over its lanes.
//!
//! A register is a slot: 32 lanes of 32 or of 64 bits, or one bit a lane for a predicate. Registers of 8 and 16 bits lie
//! in 32-bit slots, whose upper bits then mean nothing. Literals and constant special registers are slots too, filled
//! when a frame is entered, so that every operand is read the same way.

use crate::code::{FrameSize, Slot};
use crate::exec::address::{Pattern, pattern};
use crate::visit::File;
use crate::wide::Wide;

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;
/// The mask of a whole warp.
pub(crate) const FULL: u32 = u32::MAX;

/// The registers of one warp: those of every frame of its call stack, and where the current frame begins.
pub(crate) struct Registers {
    r32: Vec<[u32; LANES]>,
    r64: Vec<[u64; LANES]>,
    predicates: Vec<u32>,
    /// What is known of 64-bit registers that served as addresses, until they are written.
    shapes: Vec<Option<Shape>>,
    /// The frame that instructions refer to.
    pub(crate) frame: Frame,
    /// The carry flag of each lane.
    pub(crate) carry: u32,
    /// Proof that the wide instruction set may be used.
    pub(crate) wide: Option<Wide>,
}

/// A value for each lane. Unlike `std::array::from_fn` this is inlined for certain, and so takes on the instruction set of
/// its caller.
#[inline(always)]
pub(crate) fn each<T: Copy + Default>(f: impl Fn(usize) -> T) -> [T; LANES] {
    let mut values = [T::default(); LANES];
    for (lane, value) in values.iter_mut().enumerate() {
        *value = f(lane);
    }
    values
}

/// How the values of a register lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) pattern: Pattern,
    pub(crate) least: u64,
    pub(crate) greatest: u64,
    /// Are all multiples of four, or all by as much off?
    pub(crate) in_step: bool,
}

impl Shape {
    #[inline(always)]
    fn of(values: &[u64; LANES]) -> Shape {
        let (pattern, first) = (pattern(values, 4), values[0]);
        match pattern {
            Pattern::Uniform => Shape {
                pattern,
                least: first,
                greatest: first,
                in_step: true,
            },
            Pattern::Contiguous => Shape {
                pattern,
                least: first,
                greatest: values[LANES - 1],
                in_step: true,
            },
            Pattern::Scattered => Shape::scattered(values),
        }
    }

    #[inline(never)]
    fn scattered(values: &[u64; LANES]) -> Shape {
        let (mut least, mut greatest, mut off) = (u64::MAX, 0, 0);
        for &value in values {
            least = least.min(value);
            greatest = greatest.max(value);
            off |= (value ^ values[0]) & 3;
        }
        Shape {
            pattern: Pattern::Scattered,
            least,
            greatest,
            in_step: off == 0,
        }
    }
}

/// Where a frame begins in each register file and in local memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) r32: u32,
    pub(crate) r64: u32,
    pub(crate) predicates: u32,
    pub(crate) local: u32,
}

impl Frame {
    /// The frame that follows one of this size.
    pub(crate) fn after(self, size: FrameSize) -> Frame {
        Frame {
            r32: self.r32 + size.r32,
            r64: self.r64 + size.r64,
            predicates: self.predicates + size.predicates,
            local: self.local + size.local,
        }
    }
}

impl Registers {
    pub(crate) fn new(wide: Option<Wide>) -> Registers {
        Registers {
            r32: Vec::new(),
            r64: Vec::new(),
            predicates: Vec::new(),
            shapes: Vec::new(),
            frame: Frame::default(),
            carry: 0,
            wide,
        }
    }

    /// Make room for a frame of this size at the current one.
    pub(crate) fn reserve(&mut self, size: FrameSize) {
        let end = self.frame.after(size);
        if self.r32.len() < end.r32 as usize {
            self.r32.resize(end.r32 as usize, [0; LANES]);
        }
        if self.r64.len() < end.r64 as usize {
            self.r64.resize(end.r64 as usize, [0; LANES]);
            self.shapes.resize(end.r64 as usize, None);
        }
        if self.predicates.len() < end.predicates as usize {
            self.predicates.resize(end.predicates as usize, 0);
        }
    }

    #[inline(always)]
    pub(crate) fn predicate(&self, slot: Slot) -> u32 {
        self.predicates[(self.frame.predicates + slot) as usize]
    }

    #[inline(always)]
    pub(crate) fn set_predicate(&mut self, slot: Slot, mask: u32, value: u32) {
        let predicate = &mut self.predicates[(self.frame.predicates + slot) as usize];
        *predicate = (*predicate & !mask) | (value & mask);
    }

    #[inline(always)]
    pub(crate) fn get32(&self, slot: Slot) -> &[u32; LANES] {
        &self.r32[(self.frame.r32 + slot) as usize]
    }

    #[inline(always)]
    pub(crate) fn get64(&self, slot: Slot) -> &[u64; LANES] {
        &self.r64[(self.frame.r64 + slot) as usize]
    }

    #[inline(always)]
    pub(crate) fn get32_mut(&mut self, slot: Slot) -> &mut [u32; LANES] {
        &mut self.r32[(self.frame.r32 + slot) as usize]
    }

    #[inline(always)]
    pub(crate) fn get64_mut(&mut self, slot: Slot) -> &mut [u64; LANES] {
        let index = (self.frame.r64 + slot) as usize;
        self.shapes[index] = None;
        &mut self.r64[index]
    }

    /// How the values of a 64-bit register lie, in all lanes.
    #[inline(always)]
    pub(crate) fn shape(&mut self, slot: Slot) -> Shape {
        let index = (self.frame.r64 + slot) as usize;
        if let Some(shape) = self.shapes[index] {
            return shape;
        }
        let shape = Shape::of(&self.r64[index]);
        self.shapes[index] = Some(shape);
        shape
    }

    /// Write a register in the lanes of `mask`.
    #[inline(always)]
    pub(crate) fn set<B: Bits>(&mut self, slot: Slot, mask: u32, value: [B; LANES]) {
        let register = B::register_mut(self, slot);
        if mask == FULL {
            *register = value;
        } else {
            for lane in 0..LANES {
                register[lane] = if mask >> lane & 1 != 0 {
                    value[lane]
                } else {
                    register[lane]
                };
            }
        }
    }

    /// Clear registers in the lanes of `mask`.
    pub(crate) fn clear(&mut self, registers: &[(File, Slot)], mask: u32) {
        for &(file, slot) in registers {
            match file {
                File::R32 => self.set(slot, mask, [0u32; LANES]),
                File::R64 => self.set(slot, mask, [0u64; LANES]),
                File::Predicate => self.set_predicate(slot, mask, 0),
            }
        }
    }

    /// Read a register as lanes of `T`.
    #[inline(always)]
    pub(crate) fn lanes<T: Lane>(&self, slot: Slot) -> [T; LANES] {
        let register = T::Bits::register(self, slot);
        std::array::from_fn(|lane| T::from_bits(register[lane]))
    }

    /// `d = f(a)` in the lanes of `mask`.
    #[inline(always)]
    pub(crate) fn map1<T: Lane, U: Lane>(&mut self, mask: u32, d: Slot, a: Slot, f: impl Fn(T) -> U) {
        let a = T::Bits::register(self, a);
        let result = each(|lane| f(T::from_bits(a[lane])).to_bits());
        self.set(d, mask, result);
    }

    /// `d = f(a, b)` in the lanes of `mask`.
    #[inline(always)]
    pub(crate) fn map2<T: Lane, S: Lane, U: Lane>(
        &mut self,
        mask: u32,
        d: Slot,
        [a, b]: [Slot; 2],
        f: impl Fn(T, S) -> U,
    ) {
        let (a, b) = (T::Bits::register(self, a), S::Bits::register(self, b));
        let result = each(|lane| f(T::from_bits(a[lane]), S::from_bits(b[lane])).to_bits());
        self.set(d, mask, result);
    }

    /// `d = f(a, b, c)` in the lanes of `mask`.
    #[inline(always)]
    pub(crate) fn map3<T: Lane, S: Lane, R: Lane, U: Lane>(
        &mut self,
        mask: u32,
        d: Slot,
        [a, b, c]: [Slot; 3],
        f: impl Fn(T, S, R) -> U,
    ) {
        let (a, b, c) = (
            T::Bits::register(self, a),
            S::Bits::register(self, b),
            R::Bits::register(self, c),
        );
        let result = each(|lane| f(T::from_bits(a[lane]), S::from_bits(b[lane]), R::from_bits(c[lane])).to_bits());
        self.set(d, mask, result);
    }

    /// The lanes in which `f(a, b)` holds, as a mask.
    #[inline(always)]
    pub(crate) fn test2<T: Lane, S: Lane>(&self, [a, b]: [Slot; 2], f: impl Fn(T, S) -> bool) -> u32 {
        let (a, b) = (T::Bits::register(self, a), S::Bits::register(self, b));
        let mut bits = [0u32; LANES];
        for lane in 0..LANES {
            bits[lane] = u32::from(f(T::from_bits(a[lane]), S::from_bits(b[lane]))) << lane;
        }
        bits.iter().fold(0, |mask, bit| mask | bit)
    }
}

/// What a slot holds in each lane.
pub(crate) trait Bits: Copy + Default + 'static {
    fn register(registers: &Registers, slot: Slot) -> &[Self; LANES];
    fn register_mut(registers: &mut Registers, slot: Slot) -> &mut [Self; LANES];
    fn widen(self) -> u64;
    fn narrow(value: u64) -> Self;
}

impl Bits for u32 {
    #[inline(always)]
    fn register(registers: &Registers, slot: Slot) -> &[u32; LANES] {
        registers.get32(slot)
    }
    #[inline(always)]
    fn register_mut(registers: &mut Registers, slot: Slot) -> &mut [u32; LANES] {
        registers.get32_mut(slot)
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
    fn register(registers: &Registers, slot: Slot) -> &[u64; LANES] {
        registers.get64(slot)
    }
    #[inline(always)]
    fn register_mut(registers: &mut Registers, slot: Slot) -> &mut [u64; LANES] {
        registers.get64_mut(slot)
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
