//! `tex`, `tld4` and `txq`.

use std::ops::Range;

use super::{Environment, filter};
use crate::code::{DISCARD, Side, TexelType, TextureFetch, TextureQuery};
use crate::fault::{FaultKind, InLane, LaneFault, Operation};
use crate::memory::texture::{Extent, Texture};
use crate::state::{Registers, Texels, lanes};
use graph_ptx::Channel;

/// `tex` and `tld4`
pub(crate) fn fetch(
    registers: &mut Registers,
    env: &Environment<'_>,
    mask: u32,
    op: &TextureFetch,
) -> Result<(), LaneFault> {
    for lane in lanes(mask) {
        let found = Texels::of(registers, env.context.textures, op, lane);
        let (texture, texels) = found.map_err(|message| mistake(lane, &message))?;
        let words = read(env, &texture, &texels, op, lane)?;
        for (&d, word) in op.d.iter().zip(words).filter(|(d, _)| **d != DISCARD) {
            registers.get32_mut(d)[lane] = word;
        }
    }
    Ok(())
}

/// `txq`
pub(crate) fn query(
    registers: &mut Registers,
    env: &Environment<'_>,
    mask: u32,
    op: &TextureQuery,
) -> Result<(), LaneFault> {
    for lane in lanes(mask) {
        let found = Texture::find(env.context.textures, registers.get64(op.handle)[lane]);
        let texture = found.map_err(|message| mistake(lane, &message))?;
        let [width, height, slices] = texture.extent.sides();
        // The layers are the dimension that comes after those of a layer.
        let side = match (op.side, texture.extent) {
            (Side::Width, _) => width,
            (Side::Height, Extent::Linear { .. }) => 0,
            (
                Side::Height,
                Extent::Line {
                    layers: Some(layers), ..
                },
            ) => layers,
            (Side::Height, Extent::Line { layers: None, .. } | Extent::Plane { .. } | Extent::Volume { .. }) => height,
            (Side::Depth, Extent::Plane { layers: Some(_), .. } | Extent::Volume { .. }) => slices,
            (Side::Depth, Extent::Linear { .. } | Extent::Line { .. } | Extent::Plane { layers: None, .. }) => 0,
        };
        registers.get32_mut(op.d)[lane] = side as u32;
    }
    Ok(())
}

#[cold]
pub(super) fn mistake(lane: usize, message: &str) -> LaneFault {
    LaneFault::new(lane, FaultKind::InvalidTexture(message.into()))
}

/// The four results of a read. Channels that texels do not have are 0.
fn read(
    env: &Environment<'_>,
    texture: &Texture,
    texels: &Texels,
    op: &TextureFetch,
    lane: usize,
) -> Result<[u32; 4], LaneFault> {
    let is_number = texture.channel == Channel::F32 || texture.normalized_values;
    if is_number != (op.result == TexelType::F32) {
        let (has, asked) = if is_number {
            ("numbers with fractions", "integers are")
        } else {
            ("integers", "an `f32` is")
        };
        return Err(mistake(
            lane,
            &format!("its texels are read as {has}, but {asked} asked for"),
        ));
    }
    let texels = texels.used();
    // The result that one channel gives, from the texels in this range.
    let result = |channel: u8, range: Range<usize>| {
        if channel >= texture.channels {
            return Ok(0);
        }
        let mut bits = [(0, 0); 8];
        for (place, &(address, weight)) in bits.iter_mut().zip(&texels[range.clone()]) {
            let loaded = address.map(|address| load(env, texture, address, channel, lane));
            *place = (loaded.transpose()?.unwrap_or(0), weight);
        }
        Ok(match &bits[..range.len()] {
            &[(only, _)] if is_number => filter::number(texture.channel, only).to_bits(),
            &[(only, _)] => only,
            several => filter::mean(texture.channel, several).to_bits(),
        })
    };
    let mut words = [0; 4];
    for (place, number) in words.iter_mut().zip(0..) {
        *place = match op.gather {
            Some(channel) => result(channel, GATHERED[number]..GATHERED[number] + 1)?,
            None => result(number as u8, 0..texels.len())?,
        };
    }
    Ok(words)
}

/// The order of the results of `tld4` among the four texels: from the lower left, against the clock.
const GATHERED: [usize; 4] = [2, 3, 1, 0];

/// A channel of a texel as 32 bits; signed integers are extended.
fn load(env: &Environment<'_>, texture: &Texture, address: u64, channel: u8, lane: usize) -> Result<u32, LaneFault> {
    let (view, bytes) = (env.context.view, texture.channel.bytes());
    let address = address.wrapping_add(u64::from(channel) * u64::from(bytes));
    let region = view.find(Operation::Load, address, bytes.into()).in_lane(lane)?;
    let bits = region.storage().load(address, bytes) as u32;
    Ok(match texture.channel {
        Channel::I8 => i32::from(bits as i8) as u32,
        Channel::I16 => i32::from(bits as i16) as u32,
        Channel::U8 | Channel::U16 | Channel::U32 | Channel::I32 | Channel::F32 => bits,
    })
}
