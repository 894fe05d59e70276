//! Addresses of memory instructions: computed for all lanes, and sorted into state spaces.

use crate::code::{Address, Base, Space};
use crate::exec::LaneFault;
use crate::fault::{FaultKind, Operation};
use crate::map::each;
use crate::registers::{LANES, Registers};

/// Windows of the generic address space, by the upper half of an address.
pub(crate) const SHARED_WINDOW: u64 = 1 << 32;
pub(crate) const LOCAL_WINDOW: u64 = 2 << 32;
pub(crate) const PARAM_WINDOW: u64 = 3 << 32;

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

/// The state space of a generic address, and the offset of that space's window.
#[inline(always)]
pub(crate) fn window(address: u64) -> (Space, u64) {
    match address >> 32 {
        1 => (Space::Shared, SHARED_WINDOW),
        2 => (Space::Local, LOCAL_WINDOW),
        3 => (Space::Param, PARAM_WINDOW),
        _ => (Space::Global, 0),
    }
}

/// Sort generic addresses: the space of the first lane of `mask`, the lanes that are in the same, and the addresses
/// relative to it.
#[inline(always)]
pub(crate) fn classify(all: &[u64; LANES], mask: u32) -> (Space, u32, [u64; LANES]) {
    let (space, base) = window(all[mask.trailing_zeros() as usize % LANES]);
    let mut same = 0;
    for (lane, &address) in all.iter().enumerate() {
        same |= u32::from(window(address).0 == space) << lane;
    }
    (space, same & mask, each(|lane| all[lane].wrapping_sub(base)))
}

/// Run `access` once for every state space that generic addresses lie in.
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

/// The lanes of a mask, lowest first.
#[inline(always)]
pub(crate) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros() as usize;
        left &= left.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

/// Fault unless all addresses are multiples of `bytes`, a power of two.
#[inline(always)]
pub(crate) fn check_alignment(
    operation: Operation,
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u32,
) -> Result<(), LaneFault> {
    let low = u64::from(bytes) - 1;
    if addresses.iter().fold(0, |all, address| all | address) & low == 0 {
        return Ok(());
    }
    match lanes(mask).find(|&lane| addresses[lane] & low != 0) {
        None => Ok(()),
        Some(lane) => Err(LaneFault::new(
            lane,
            FaultKind::Misaligned {
                operation,
                address: addresses[lane],
                bytes,
            },
        )),
    }
}

/// Fault unless all accesses end within `len`.
#[inline(always)]
pub(crate) fn check_bounds(
    operation: Operation,
    buffer: &str,
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u32,
    len: usize,
) -> Result<(), LaneFault> {
    let inside = |address: u64| address < len as u64 && len as u64 - address >= u64::from(bytes);
    match lanes(mask).find(|&lane| !inside(addresses[lane])) {
        None => Ok(()),
        Some(lane) => {
            let (offset, len) = (addresses[lane] as i64, len as u64);
            let kind = FaultKind::OutOfBounds {
                operation,
                buffer: buffer.into(),
                offset,
                bytes,
                len,
            };
            Err(LaneFault::new(lane, kind))
        }
    }
}

/// How the addresses of a full warp lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// All the same.
    Uniform,
    /// One after the other.
    Contiguous,
    Scattered,
}

#[inline(always)]
pub(crate) fn pattern(addresses: &[u64; LANES], bytes: u64) -> Pattern {
    let step = addresses[1].wrapping_sub(addresses[0]);
    if step != 0 && step != bytes {
        return Pattern::Scattered;
    }
    let mut differs = 0;
    for lane in 1..LANES {
        differs |= addresses[lane].wrapping_sub(addresses[lane - 1]) ^ step;
    }
    match (differs, step) {
        (0, 0) => Pattern::Uniform,
        (0, _) => Pattern::Contiguous,
        _ => Pattern::Scattered,
    }
}

/// The same for 32-bit addresses.
#[inline(always)]
pub(crate) fn pattern32(addresses: &[u32; LANES], bytes: u32) -> Pattern {
    let step = addresses[1].wrapping_sub(addresses[0]);
    if step != 0 && step != bytes {
        return Pattern::Scattered;
    }
    let mut differs = 0;
    for lane in 1..LANES {
        differs |= addresses[lane].wrapping_sub(addresses[lane - 1]) ^ step;
    }
    match (differs, step) {
        (0, 0) => Pattern::Uniform,
        (0, _) => Pattern::Contiguous,
        _ => Pattern::Scattered,
    }
}
