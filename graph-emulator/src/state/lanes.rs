//! Loops over the lanes of registers, for instructions that do the same in all of them, and the types that instructions
//! give to lanes.

use std::cell::Cell;

use super::mask::{FULL, LANES};
use super::registers::{FileCells, Frame, LaneBits, Registers};
use crate::code::Slot;

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
        blend(&rows.of::<B>(slot)[0], mask, value);
    }

    /// Reads a register of one warp as lanes of `T`.
    #[inline(always)]
    pub(crate) fn lanes<T: Lane>(&self, slot: Slot) -> [T; LANES] {
        let register = &self.rows::<T::Raw>(slot)[0];
        std::array::from_fn(|lane| T::from_bits(register[lane]))
    }

    /// Reads a register of one warp, which has 64 bits if it is `wide`.
    #[inline(always)]
    pub(crate) fn read(&self, wide: bool, slot: Slot) -> [u64; LANES] {
        if wide {
            *self.get64(slot)
        } else {
            self.get32(slot).map(u64::from)
        }
    }

    /// Writes a register of one warp, which has 64 bits if it is `wide`, in the lanes of `mask`.
    #[inline(always)]
    pub(crate) fn write(&mut self, wide: bool, slot: Slot, mask: u32, value: [u64; LANES]) {
        if wide {
            self.set(slot, mask, value);
        } else {
            self.set(slot, mask, value.map(|value| value as u32));
        }
    }

    /// [`read`](Self::read) in one lane.
    #[inline(always)]
    pub(crate) fn read_lane(&self, wide: bool, slot: Slot, lane: usize) -> u64 {
        if wide {
            self.get64(slot)[lane]
        } else {
            self.get32(slot)[lane].into()
        }
    }

    /// [`write`](Self::write) in one lane.
    #[inline(always)]
    pub(crate) fn write_lane(&mut self, wide: bool, slot: Slot, lane: usize, value: u64) {
        if wide {
            self.get64_mut(slot)[lane] = value;
        } else {
            self.get32_mut(slot)[lane] = value as u32;
        }
    }

    /// The rows of all slots of the current frame, for an instruction that writes `d`.
    #[inline(always)]
    fn rows_for<B: LaneBits>(&mut self, d: Slot) -> CellRows<'_> {
        self.forget::<B>(d);
        let (frame, warps) = (self.frame, self.warps as usize);
        let (first, count) = (self.first as usize, self.count() as usize);
        CellRows {
            cells: self.cells(),
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
        for (d, a) in rows.of::<U::Raw>(d).iter().zip(rows.of::<T::Raw>(a)) {
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
        let sources = rows.of::<T::Raw>(a).iter().zip(rows.of::<S::Raw>(b));
        for (d, (a, b)) in rows.of::<U::Raw>(d).iter().zip(sources) {
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
        let sources = rows
            .of::<T::Raw>(a)
            .iter()
            .zip(rows.of::<S::Raw>(b))
            .zip(rows.of::<R::Raw>(c));
        for (d, ((a, b), c)) in rows.of::<U::Raw>(d).iter().zip(sources) {
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
        let (a, b) = (&self.rows::<T::Raw>(a)[0], &self.rows::<S::Raw>(b)[0]);
        let mut bits = [0u32; LANES];
        for lane in 0..LANES {
            bits[lane] = u32::from(f(T::from_bits(a[lane]), S::from_bits(b[lane]))) << lane;
        }
        bits.iter().fold(0, |mask, bit| mask | bit)
    }
}

/// The rows of the current frame's slots, as cells.
struct CellRows<'a> {
    cells: FileCells<'a>,
    frame: Frame,
    warps: usize,
    first: usize,
    count: usize,
}

impl<'a> CellRows<'a> {
    #[inline(always)]
    fn of<B: LaneBits>(&self, slot: Slot) -> &'a [[Cell<B>; LANES]] {
        let start = (B::first_slot(self.frame) + slot) as usize * self.warps + self.first;
        &B::cells(&self.cells)[start..start + self.count]
    }
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
