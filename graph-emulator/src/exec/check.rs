//! Checks of addresses: of one access, and of all lanes of a warp.

use crate::fault::{FaultKind, InLane, LaneFault, Operation};
use crate::state::{LANES, lanes};

/// Faults unless an address is a multiple of `bytes`, a power of two.
#[inline(always)]
pub(crate) fn aligned(operation: Operation, address: u64, bytes: u32) -> Result<(), FaultKind> {
    if address & (u64::from(bytes) - 1) == 0 {
        return Ok(());
    }
    Err(FaultKind::Misaligned {
        operation,
        address,
        bytes,
    })
}

/// Faults unless an access ends within `len`.
#[inline(always)]
pub(crate) fn inside(
    operation: Operation,
    buffer: &str,
    address: u64,
    bytes: u32,
    len: usize,
) -> Result<(), FaultKind> {
    if address < len as u64 && len as u64 - address >= u64::from(bytes) {
        return Ok(());
    }
    Err(FaultKind::OutOfBounds {
        operation,
        buffer: buffer.into(),
        offset: address as i64,
        bytes,
        len: len as u64,
    })
}

/// Faults unless the addresses of all lanes of `mask` are [`aligned`].
#[inline(always)]
pub(crate) fn all_aligned(
    operation: Operation,
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u32,
) -> Result<(), LaneFault> {
    if addresses.iter().fold(0, |all, address| all | address) & (u64::from(bytes) - 1) == 0 {
        return Ok(());
    }
    each_lane(mask, |lane| aligned(operation, addresses[lane], bytes))
}

/// Faults unless the accesses of all lanes of `mask` are [`inside`].
#[inline(always)]
pub(crate) fn all_inside(
    operation: Operation,
    buffer: &str,
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u32,
    len: usize,
) -> Result<(), LaneFault> {
    let highest = addresses.iter().fold(0, |highest, &address| address.max(highest));
    if highest.checked_add(bytes.into()).is_some_and(|end| end <= len as u64) {
        return Ok(());
    }
    each_lane(mask, |lane| inside(operation, buffer, addresses[lane], bytes, len))
}

#[inline(always)]
fn each_lane(mask: u32, check: impl Fn(usize) -> Result<(), FaultKind>) -> Result<(), LaneFault> {
    for lane in lanes(mask) {
        check(lane).in_lane(lane)?;
    }
    Ok(())
}
