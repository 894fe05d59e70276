//! The registers of a block, as structures of arrays, and the loops over their lanes.
//!
//! A register is a slot: for each warp of the block a row of 32 lanes of 32 or of 64 bits, or of one bit for a predicate.
//! The rows of a slot follow each other, so that one instruction can be applied to all warps at once. Registers of 8 and
//! 16 bits lie in 32-bit slots, whose upper bits then mean nothing. Literals and constant special registers are slots too,
//! filled when a frame is entered, so that every operand is read the same way.

use std::cell::Cell;

use crate::code::{FrameSize, Slot};
pub(crate) use crate::lane::{Bits, Lane};
use crate::lattice::Lattice;
use crate::shape::Shape;
use crate::wide::Wide;

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;
/// The mask of a whole warp.
pub(crate) const FULL: u32 = u32::MAX;

/// The register files of a block: the registers of every frame of its warps' call stacks. They are lent to the warp whose
/// turn it is.
#[derive(Default)]
pub(crate) struct Files {
    r32: Vec<[u32; LANES]>,
    r64: Vec<[u64; LANES]>,
    predicates: Vec<u32>,
    /// How the values of 64-bit slots that served as addresses lie in a warp, and in which, until they are written.
    shapes: Vec<Option<(u32, Shape)>>,
    /// How the values of slots that served as addresses lie in the block, if in any order, until they are written.
    lattices32: Vec<Option<Option<Lattice>>>,
    lattices64: Vec<Option<Option<Lattice>>>,
}

/// Registers as instructions see them: those of one warp or, where all warps execute an instruction together, of all.
pub(crate) struct Registers {
    files: Files,
    /// Warps of the block.
    warps: u32,
    /// The warps that instructions apply to: the first, and how many.
    first: u32,
    count: u32,
    /// The frame that instructions refer to.
    pub(crate) frame: Frame,
    /// The carry flag of each lane of one warp.
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
    /// The registers of `count` warps from `first` on, of a block of `warps`; without files, which are lent.
    pub(crate) fn new(wide: Option<Wide>, warps: u32, first: u32, count: u32) -> Registers {
        Registers {
            files: Files::default(),
            warps,
            first,
            count,
            frame: Frame::default(),
            carry: 0,
            wide,
        }
    }

    /// Lend the files to another view of them, or take them back.
    #[inline(always)]
    pub(crate) fn exchange(&mut self, other: &mut Registers) {
        std::mem::swap(&mut self.files, &mut other.files);
    }

    /// Make room for a frame of this size at the current one.
    pub(crate) fn reserve(&mut self, size: FrameSize) {
        let end = self.frame.after(size);
        let rows = |slots: u32| slots as usize * self.warps as usize;
        let files = &mut self.files;
        if files.r32.len() < rows(end.r32) {
            files.r32.resize(rows(end.r32), [0; LANES]);
            files.lattices32.resize(end.r32 as usize, None);
        }
        if files.r64.len() < rows(end.r64) {
            files.r64.resize(rows(end.r64), [0; LANES]);
            files.shapes.resize(end.r64 as usize, None);
            files.lattices64.resize(end.r64 as usize, None);
        }
        if files.predicates.len() < rows(end.predicates) {
            files.predicates.resize(rows(end.predicates), 0);
        }
    }

    /// Do something for each of the warps, one by one.
    #[inline(always)]
    pub(crate) fn each_warp(&mut self, mut f: impl FnMut(&mut Registers)) {
        let (first, count) = (self.first, self.count);
        self.count = 1;
        for warp in first..first + count {
            self.first = warp;
            f(self);
        }
        (self.first, self.count) = (first, count);
    }

    /// Where the first row of a slot is.
    #[inline(always)]
    fn row(&self, slot: Slot) -> usize {
        slot as usize * self.warps as usize + self.first as usize
    }

    #[inline(always)]
    pub(crate) fn predicate(&self, slot: Slot) -> u32 {
        self.files.predicates[self.row(self.frame.predicates + slot)]
    }

    /// The predicates of all the warps.
    #[inline(always)]
    pub(crate) fn predicates(&self, slot: Slot) -> &[u32] {
        let start = self.row(self.frame.predicates + slot);
        &self.files.predicates[start..start + self.count as usize]
    }

    #[inline(always)]
    pub(crate) fn set_predicate(&mut self, slot: Slot, mask: u32, value: u32) {
        let row = self.row(self.frame.predicates + slot);
        let predicate = &mut self.files.predicates[row];
        *predicate = (*predicate & !mask) | (value & mask);
    }

    #[inline(always)]
    pub(crate) fn get32(&self, slot: Slot) -> &[u32; LANES] {
        &self.files.r32[self.row(self.frame.r32 + slot)]
    }

    #[inline(always)]
    pub(crate) fn get64(&self, slot: Slot) -> &[u64; LANES] {
        &self.files.r64[self.row(self.frame.r64 + slot)]
    }

    #[inline(always)]
    pub(crate) fn get32_mut(&mut self, slot: Slot) -> &mut [u32; LANES] {
        let row = self.row(self.frame.r32 + slot);
        self.forget32(slot);
        &mut self.files.r32[row]
    }

    #[inline(always)]
    pub(crate) fn get64_mut(&mut self, slot: Slot) -> &mut [u64; LANES] {
        let row = self.row(self.frame.r64 + slot);
        self.forget64(slot);
        &mut self.files.r64[row]
    }

    #[inline(always)]
    pub(crate) fn rows32(&self, slot: Slot) -> &[[u32; LANES]] {
        let start = self.row(self.frame.r32 + slot);
        &self.files.r32[start..start + self.count as usize]
    }

    #[inline(always)]
    pub(crate) fn rows64(&self, slot: Slot) -> &[[u64; LANES]] {
        let start = self.row(self.frame.r64 + slot);
        &self.files.r64[start..start + self.count as usize]
    }

    #[inline(always)]
    pub(crate) fn rows32_mut(&mut self, slot: Slot) -> &mut [[u32; LANES]] {
        let start = self.row(self.frame.r32 + slot);
        self.forget32(slot);
        &mut self.files.r32[start..start + self.count as usize]
    }

    /// A 32-bit slot will be written.
    #[inline(always)]
    pub(crate) fn forget32(&mut self, slot: Slot) {
        self.files.lattices32[(self.frame.r32 + slot) as usize] = None;
    }

    /// A 64-bit slot will be written.
    #[inline(always)]
    pub(crate) fn forget64(&mut self, slot: Slot) {
        let index = (self.frame.r64 + slot) as usize;
        self.files.shapes[index] = None;
        self.files.lattices64[index] = None;
    }

    /// How the values of a 64-bit register lie, in all lanes of a warp.
    #[inline(always)]
    pub(crate) fn shape(&mut self, slot: Slot) -> Shape {
        let index = (self.frame.r64 + slot) as usize;
        match self.files.shapes[index] {
            Some((warp, shape)) if warp == self.first => shape,
            _ => {
                let shape = Shape::of(self.get64(slot));
                self.files.shapes[index] = Some((self.first, shape));
                shape
            }
        }
    }

    /// How the values of a 32-bit register lie in the block, `side` threads of which are a row.
    #[inline(always)]
    pub(crate) fn lattice32(&mut self, slot: Slot, side: usize) -> Option<Lattice> {
        let index = (self.frame.r32 + slot) as usize;
        if let Some(lattice) = self.files.lattices32[index] {
            return lattice;
        }
        let lattice = Lattice::detect32(self.rows32(slot).as_flattened(), side);
        self.files.lattices32[index] = Some(lattice);
        lattice
    }

    /// The same of a 64-bit register.
    #[inline(always)]
    pub(crate) fn lattice64(&mut self, slot: Slot, side: usize) -> Option<Lattice> {
        let index = (self.frame.r64 + slot) as usize;
        if let Some(lattice) = self.files.lattices64[index] {
            return lattice;
        }
        let lattice = Lattice::detect64(self.rows64(slot).as_flattened(), side);
        self.files.lattices64[index] = Some(lattice);
        lattice
    }

    /// Threads of the warps.
    #[inline(always)]
    pub(crate) fn threads(&self) -> usize {
        self.count as usize * LANES
    }

    /// Write one value in all lanes of all the warps.
    pub(crate) fn fill32(&mut self, slot: Slot, value: u32) {
        self.rows32_mut(slot).fill([value; LANES]);
    }

    /// Write a register of one warp in the lanes of `mask`.
    #[inline(always)]
    pub(crate) fn set<B: Bits>(&mut self, slot: Slot, mask: u32, value: [B; LANES]) {
        debug_assert_eq!(self.count, 1, "values are those of one warp");
        let rows = self.rows_for::<B>(slot);
        blend(&B::of(&rows, slot)[0], mask, value);
    }

    /// Read a register of one warp as lanes of `T`.
    #[inline(always)]
    pub(crate) fn lanes<T: Lane>(&self, slot: Slot) -> [T; LANES] {
        let register = &T::Bits::rows(self, slot)[0];
        std::array::from_fn(|lane| T::from_bits(register[lane]))
    }

    /// The rows of all slots of the current frame, to be read and written at once; `d` of `B` will be written.
    #[inline(always)]
    fn rows_for<B: Bits>(&mut self, d: Slot) -> Rows<'_> {
        B::forget(self, d);
        let (warps, first, count) = (self.warps as usize, self.first as usize, self.count as usize);
        Rows {
            r32: cells(&mut self.files.r32),
            r64: cells(&mut self.files.r64),
            frame: self.frame,
            warps,
            first,
            count,
        }
    }

    /// `d = f(a)` in the lanes of `mask` of all the warps.
    #[inline(always)]
    pub(crate) fn map1<T: Lane, U: Lane>(&mut self, mask: u32, d: Slot, a: Slot, f: impl Fn(T) -> U) {
        let rows = self.rows_for::<U::Bits>(d);
        for (d, a) in U::Bits::of(&rows, d).iter().zip(T::Bits::of(&rows, a)) {
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
        let rows = self.rows_for::<U::Bits>(d);
        let sources = T::Bits::of(&rows, a).iter().zip(S::Bits::of(&rows, b));
        for (d, (a, b)) in U::Bits::of(&rows, d).iter().zip(sources) {
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
        let rows = self.rows_for::<U::Bits>(d);
        let sources = T::Bits::of(&rows, a).iter().zip(S::Bits::of(&rows, b)).zip(R::Bits::of(&rows, c));
        for (d, ((a, b), c)) in U::Bits::of(&rows, d).iter().zip(sources) {
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
        let (a, b) = (&T::Bits::rows(self, a)[0], &S::Bits::rows(self, b)[0]);
        let mut bits = [0u32; LANES];
        for lane in 0..LANES {
            bits[lane] = u32::from(f(T::from_bits(a[lane]), S::from_bits(b[lane]))) << lane;
        }
        bits.iter().fold(0, |mask, bit| mask | bit)
    }
}

/// The rows of the current frame's slots, as cells: sources and targets of an instruction may be the same.
pub(crate) struct Rows<'a> {
    r32: &'a [[Cell<u32>; LANES]],
    r64: &'a [[Cell<u64>; LANES]],
    frame: Frame,
    warps: usize,
    first: usize,
    count: usize,
}

impl<'a> Rows<'a> {
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

/// Write a row in the lanes of `mask`.
#[inline(always)]
fn blend<B: Bits>(to: &[Cell<B>; LANES], mask: u32, value: [B; LANES]) {
    if mask == FULL {
        for lane in 0..LANES {
            to[lane].set(value[lane]);
        }
    } else {
        for lane in 0..LANES {
            to[lane].set(if mask >> lane & 1 != 0 { value[lane] } else { to[lane].get() });
        }
    }
}
