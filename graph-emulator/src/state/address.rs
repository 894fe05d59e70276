//! Addresses of memory instructions: computing them for all lanes, and sorting them into state spaces.

use super::lanes::each;
use super::mask::{LANES, first, lanes, lanes_where};
use super::registers::Registers;
use crate::code::{Address, AsyncCopy, Base, DISCARD, OWN_SHARED_END, Space, Tile, block_of, window};

/// The address in each lane.
#[inline(always)]
pub(crate) fn addresses(registers: &Registers, address: &Address) -> [u64; LANES] {
    let offset = address.offset as u64;
    match address.base {
        Base::R64(slot) => {
            let base = registers.get64(slot);
            each(|lane| base[lane].wrapping_add(offset))
        }
        Base::R32(slot) => registers
            .get32(slot)
            .map(|base| u64::from(base.wrapping_add(offset as u32))),
        Base::Frame => [u64::from(registers.frame.local).wrapping_add(offset); LANES],
        Base::Absolute => [offset; LANES],
    }
}

/// Sorts generic addresses: returns the space of the first lane of `mask`, the lanes in that space, and the addresses
/// relative to it.
#[inline(always)]
pub(crate) fn classify(all: &[u64; LANES], mask: u32) -> (Space, u32, [u64; LANES]) {
    let (space, base) = window(all[first(mask)]);
    let mut same = 0;
    for (lane, &address) in all.iter().enumerate() {
        same |= u32::from(window(address).0 == space) << lane;
    }
    (space, same & mask, each(|lane| all[lane].wrapping_sub(base)))
}

/// Runs `access` once for each state space that the addresses are in.
#[inline(always)]
pub(crate) fn each_space<E>(
    space: Space,
    all: &[u64; LANES],
    mask: u32,
    mut access: impl FnMut(Space, &[u64; LANES], u32) -> Result<(), E>,
) -> Result<(), E> {
    if space != Space::Generic {
        return access(space, all, mask);
    }
    let mut left = mask;
    while left != 0 {
        let (space, lanes, relative) = classify(all, left);
        access(space, &relative, lanes)?;
        left &= !lanes;
    }
    Ok(())
}

/// Runs `access` once for each block whose shared memory the addresses are in, with the rank that they name, if they
/// name one, and the offsets in that memory.
#[inline(always)]
pub(crate) fn each_block<E>(
    at: &[u64; LANES],
    mask: u32,
    mut access: impl FnMut(Option<usize>, &[u64; LANES], u32) -> Result<(), E>,
) -> Result<(), E> {
    let together = at.iter().fold(0, |all, address| all | address);
    if together < OWN_SHARED_END || lanes(mask).all(|lane| block_of(at[lane]).0.is_none()) {
        return access(None, at, mask);
    }
    let mut left = mask;
    while left != 0 {
        let block = block_of(at[first(left)]).0;
        let same = lanes_where(left, |lane| block_of(at[lane]).0 == block);
        access(block, &each(|lane| block_of(at[lane]).1), same)?;
        left &= !same;
    }
    Ok(())
}

impl AsyncCopy {
    /// The number of bytes that a lane reads; it sets the rest to zero.
    pub(crate) fn bytes_read(&self, registers: &Registers, lane: usize) -> u32 {
        let bytes = u32::from(self.bytes);
        let ignored = self.ignore.is_some_and(|guard| registers.guard(guard) >> lane & 1 != 0);
        match self.source_bytes {
            _ if ignored => 0,
            DISCARD => bytes,
            slot => registers.get32(slot)[lane].min(bytes),
        }
    }
}

impl Tile {
    /// The address of an element of a tile.
    pub(crate) fn element_address(
        &self,
        registers: &Registers,
        at: &[u64; LANES],
        lane: usize,
        register: usize,
        element: usize,
    ) -> u64 {
        let index = self.fragment.index(lane, register, element);
        let (row, column) = (index / self.fragment.columns, index % self.fragment.columns);
        let stride = u64::from(registers.get32(self.stride)[lane]);
        let offset = if self.column_major {
            column as u64 * stride + row as u64
        } else {
            row as u64 * stride + column as u64
        };
        at[lane].wrapping_add(offset * (self.fragment.element.bits() / 8) as u64)
    }
}
