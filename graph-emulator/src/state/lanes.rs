//! Loops over the lanes of registers, for instructions that do the same in all of them, and the types that instructions
//! give to lanes.

use std::cell::Cell;

use super::mask::{FULL, LANES};
use super::registers::{Frame, Registers};
use crate::code::Slot;

/// The bits that a slot holds in each lane.
pub(crate) trait LaneBits: Copy + Default + 'static {
    /// The rows of a slot: the lanes of each warp that instructions apply to.
    fn rows(registers: &Registers, slot: Slot) -> &[[Self; LANES]];
    fn of<'a>(rows: &CellRows<'a>, slot: Slot) -> &'a [[Cell<Self>; LANES]];
    /// Forgets the knowledge about a slot, which will be written.
    fn forget(registers: &mut Registers, slot: Slot);
    fn widen(self) -> u64;
    fn narrow(value: u64) -> Self;
}

impl LaneBits for u32 {
    #[inline(always)]
    fn rows(registers: &Registers, slot: Slot) -> &[[u32; LANES]] {
        registers.rows32(slot)
    }
    #[inline(always)]
    fn of<'a>(rows: &CellRows<'a>, slot: Slot) -> &'a [[Cell<u32>; LANES]] {
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

impl LaneBits for u64 {
    #[inline(always)]
    fn rows(registers: &Registers, slot: Slot) -> &[[u64; LANES]] {
        registers.rows64(slot)
    }
    #[inline(always)]
    fn of<'a>(rows: &CellRows<'a>, slot: Slot) -> &'a [[Cell<u64>; LANES]] {
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
    type Raw: LaneBits;
    fn from_bits(bits: Self::Raw) -> Self;
    fn to_bits(self) -> Self::Raw;
}

macro_rules! integer_lanes {
    ($($ty:ty => $bits:ty),*) => {$(
        impl Lane for $ty {
            type Raw = $bits;
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
            type Raw = $bits;
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

/// A value for each lane. Unlike `std::array::from_fn`, this is certain to be inlined, and so is compiled for the
/// instruction set of its caller.
#[inline(always)]
pub(crate) fn each<T: Copy + Default>(f: impl Fn(usize) -> T) -> [T; LANES] {
    let mut values = [T::default(); LANES];
    for (lane, value) in values.iter_mut().enumerate() {
        *value = f(lane);
    }
    values
}

impl Registers {
    /// Writes a register of one warp in the lanes of `mask`.
    #[inline(always)]
    pub(crate) fn set<B: LaneBits>(&mut self, slot: Slot, mask: u32, value: [B; LANES]) {
        debug_assert_eq!(self.count(), 1, "values are those of one warp");
        let rows = self.rows_for::<B>(slot);
        blend(&B::of(&rows, slot)[0], mask, value);
    }

    /// Reads a register of one warp as lanes of `T`.
    #[inline(always)]
    pub(crate) fn lanes<T: Lane>(&self, slot: Slot) -> [T; LANES] {
        let register = &T::Raw::rows(self, slot)[0];
        std::array::from_fn(|lane| T::from_bits(register[lane]))
    }

    /// The rows of all slots of the current frame, for an instruction that writes `d`.
    #[inline(always)]
    fn rows_for<B: LaneBits>(&mut self, d: Slot) -> CellRows<'_> {
        B::forget(self, d);
        let (frame, warps) = (self.frame, self.warps() as usize);
        let (first, count) = (self.first() as usize, self.count() as usize);
        let (r32, r64) = self.files_mut();
        CellRows {
            r32: cells(r32),
            r64: cells(r64),
            frame,
            warps,
            first,
            count,
        }
    }

    /// `d = f(a)` in the lanes of `mask` of all the warps.
    #[inline(always)]
    pub(crate) fn map1<T: Lane, U: Lane>(&mut self, mask: u32, d: Slot, a: Slot, f: impl Fn(T) -> U) {
        let rows = self.rows_for::<U::Raw>(d);
        for (d, a) in U::Raw::of(&rows, d).iter().zip(T::Raw::of(&rows, a)) {
            let result = each(|lane| f(T::from_bits(a[lane].get())).to_bits());
            blend(d, mask, result);
        }
    }

    /// `d = f(a, b)` in the lanes of `mask` of all the warps.
    #[inline(always)]
    pub(crate) fn map2<T: Lane, S: Lane, U: Lane>(
        &mut self,
        mask: u32,
        d: Slot,
        [a, b]: [Slot; 2],
        f: impl Fn(T, S) -> U,
    ) {
        let rows = self.rows_for::<U::Raw>(d);
        let sources = T::Raw::of(&rows, a).iter().zip(S::Raw::of(&rows, b));
        for (d, (a, b)) in U::Raw::of(&rows, d).iter().zip(sources) {
            let result = each(|lane| f(T::from_bits(a[lane].get()), S::from_bits(b[lane].get())).to_bits());
            blend(d, mask, result);
        }
    }

    /// `d = f(a, b, c)` in the lanes of `mask` of all the warps.
    #[inline(always)]
    pub(crate) fn map3<T: Lane, S: Lane, R: Lane, U: Lane>(
        &mut self,
        mask: u32,
        d: Slot,
        [a, b, c]: [Slot; 3],
        f: impl Fn(T, S, R) -> U,
    ) {
        let rows = self.rows_for::<U::Raw>(d);
        let sources = T::Raw::of(&rows, a)
            .iter()
            .zip(S::Raw::of(&rows, b))
            .zip(R::Raw::of(&rows, c));
        for (d, ((a, b), c)) in U::Raw::of(&rows, d).iter().zip(sources) {
            let result = each(|lane| {
                let (a, b, c) = (a[lane].get(), b[lane].get(), c[lane].get());
                f(T::from_bits(a), S::from_bits(b), R::from_bits(c)).to_bits()
            });
            blend(d, mask, result);
        }
    }

    /// The lanes of one warp in which `f(a, b)` holds, as a mask.
    #[inline(always)]
    pub(crate) fn test2<T: Lane, S: Lane>(&self, [a, b]: [Slot; 2], f: impl Fn(T, S) -> bool) -> u32 {
        let (a, b) = (&T::Raw::rows(self, a)[0], &S::Raw::rows(self, b)[0]);
        let mut bits = [0u32; LANES];
        for lane in 0..LANES {
            bits[lane] = u32::from(f(T::from_bits(a[lane]), S::from_bits(b[lane]))) << lane;
        }
        bits.iter().fold(0, |mask, bit| mask | bit)
    }
}

/// The rows of the current frame's slots, as cells, because the sources and the target of an instruction may be the
/// same.
pub(crate) struct CellRows<'a> {
    r32: &'a [[Cell<u32>; LANES]],
    r64: &'a [[Cell<u64>; LANES]],
    frame: Frame,
    warps: usize,
    first: usize,
    count: usize,
}

impl<'a> CellRows<'a> {
    #[inline(always)]
    pub(crate) fn of32(&self, slot: Slot) -> &'a [[Cell<u32>; LANES]] {
        let start = (self.frame.r32 + slot) as usize * self.warps + self.first;
        &self.r32[start..start + self.count]
    }

    #[inline(always)]
    pub(crate) fn of64(&self, slot: Slot) -> &'a [[Cell<u64>; LANES]] {
        let start = (self.frame.r64 + slot) as usize * self.warps + self.first;
        &self.r64[start..start + self.count]
    }
}

#[inline(always)]
fn cells<T>(rows: &mut [[T; LANES]]) -> &[[Cell<T>; LANES]] {
    let lanes = Cell::from_mut(rows.as_flattened_mut()).as_slice_of_cells();
    lanes.as_chunks().0
}

/// Writes a row in the lanes of `mask`.
#[inline(always)]
fn blend<B: LaneBits>(to: &[Cell<B>; LANES], mask: u32, value: [B; LANES]) {
    if mask == FULL {
        for lane in 0..LANES {
            to[lane].set(value[lane]);
        }
    } else {
        for lane in 0..LANES {
            to[lane].set(if mask >> lane & 1 != 0 {
                value[lane]
            } else {
                to[lane].get()
            });
        }
    }
}
