//! `suld` and `sust`.

use super::Environment;
use super::texture_fetch::mistake;
use crate::code::{DISCARD, Outside, SurfaceAccess};
use crate::fault::{FaultKind, InLane, LaneFault};
use crate::memory::texture::Surface;
use crate::memory::view::Region;
use crate::state::texels::surfel;
use crate::state::{Registers, lanes};

/// `suld` and `sust`
pub(crate) fn access(
    registers: &mut Registers,
    env: &Environment<'_>,
    mask: u32,
    op: &SurfaceAccess,
) -> Result<(), LaneFault> {
    let view = env.context.view;
    let total = u32::from(op.bytes) * u32::from(op.count);
    for lane in lanes(mask) {
        let found = surfel(registers, env.context.surfaces, op, lane);
        let (surface, address) = found.map_err(|message| mistake(lane, &message))?;
        let permitted = match address {
            Some(address) => Some(view.find(op.operation(), address, total).in_lane(lane)?),
            None if op.outside == Outside::Trap => return Err(outside(registers, env, op, &surface, lane)),
            None => None,
        };
        let wide = op.bytes == 8;
        for (&slot, element) in op.values[..usize::from(op.count)].iter().zip(0..) {
            let at = permitted.zip(address.map(|first| first + element * u64::from(op.bytes)));
            if op.store {
                store(at, op, registers.read_lane(wide, slot, lane));
            } else if slot != DISCARD {
                registers.write_lane(wide, slot, lane, load(at, op));
            }
        }
    }
    Ok(())
}

/// Loads an element, if it is at an address.
fn load(at: Option<(&Region, u64)>, op: &SurfaceAccess) -> u64 {
    match at {
        None => 0,
        Some((region, address)) if address.is_multiple_of(op.bytes.into()) => region.storage().load(address, op.bytes),
        // The rows of memory are not aligned to more than a texel.
        Some((region, address)) => {
            let byte = |offset: u64| region.storage().load(address + offset, 1) << (8 * offset);
            (0..u64::from(op.bytes)).map(byte).sum()
        }
    }
}

/// Stores an element, if it is at an address.
fn store(at: Option<(&Region, u64)>, op: &SurfaceAccess, value: u64) {
    match at {
        None => {}
        Some((region, address)) if address.is_multiple_of(op.bytes.into()) => {
            region.storage().store(address, op.bytes, value);
        }
        Some((region, address)) => {
            for offset in 0..u64::from(op.bytes) {
                region
                    .storage()
                    .store(address + offset, 1, value >> (8 * offset) & 0xff);
            }
        }
    }
}

/// The fault of an access outside of a surface.
#[cold]
fn outside(
    registers: &Registers,
    env: &Environment<'_>,
    op: &SurfaceAccess,
    surface: &Surface,
    lane: usize,
) -> LaneFault {
    let mut at = [0; 3];
    for (place, &slot) in at.iter_mut().zip(op.at.coordinates()) {
        *place = registers.get32(slot)[lane] as i32;
    }
    if let Some(layer) = op.at.layer {
        at[2] = (registers.get32(layer)[lane] & 0xffff) as i32;
    }
    let [width, height, slices] = surface.extent.sides();
    let row_bytes = width.saturating_mul(surface.texel_bytes() as usize);
    let kind = FaultKind::OutsideSurface {
        operation: op.operation(),
        buffer: env.context.view.locate(surface.address).0,
        bytes: u32::from(op.bytes) * u32::from(op.count),
        at,
        sides: [row_bytes, height, slices].map(|side| u32::try_from(side).unwrap_or(u32::MAX)),
    };
    LaneFault::new(lane, kind)
}
