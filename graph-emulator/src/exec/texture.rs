//! `tex`, `tld4`, `txq` and `suq`.

use super::Environment;
use crate::code::{DISCARD, Side, TexelType, TextureFetch, TextureQuery};
use crate::fault::{FaultKind, LaneFault, Operation};
use crate::memory::texture::{Channel, Extent, Filter, Surface, Texture};
use crate::state::{Registers, Texels, lanes};

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

/// `txq` and `suq`
pub(crate) fn query(
    registers: &mut Registers,
    env: &Environment<'_>,
    mask: u32,
    op: &TextureQuery,
) -> Result<(), LaneFault> {
    for lane in lanes(mask) {
        let handle = registers.get64(op.handle)[lane];
        let extent = match op.surface {
            true => Surface::find(env.context.surfaces, handle).map(|surface| surface.extent),
            false => Texture::find(env.context.textures, handle).map(|texture| texture.extent),
        };
        let extent = extent.map_err(|message| mistake(lane, &message))?;
        registers.get32_mut(op.d)[lane] = side(&extent, op.side) as u32;
    }
    Ok(())
}

/// A size of texels, zero if they have no such side.
fn side(extent: &Extent, side: Side) -> usize {
    let [width, height, slices] = extent.sides();
    match (side, extent) {
        (Side::Width, _) => width,
        (Side::Height, Extent::Plane { .. } | Extent::Volume { .. }) => height,
        (Side::Depth, Extent::Volume { .. }) => slices,
        (Side::Layers, Extent::Line { layers, .. } | Extent::Plane { layers, .. }) => layers.unwrap_or(0),
        (Side::Height | Side::Depth | Side::Layers, _) => 0,
    }
}

#[cold]
pub(super) fn mistake(lane: usize, message: &str) -> LaneFault {
    LaneFault::new(lane, FaultKind::InvalidTexture(message.into()))
}

/// The four results of a read. Channels that texels do not have are 0, the last one is 1.
fn read(
    env: &Environment<'_>,
    texture: &Texture,
    texels: &Texels,
    op: &TextureFetch,
    lane: usize,
) -> Result<[u32; 4], LaneFault> {
    let is_number = texture.channel == Channel::F32 || texture.normalized_values;
    if is_number != (op.result == TexelType::F32) {
        let (has, asked) = match is_number {
            true => ("numbers with fractions", "integers are"),
            false => ("integers", "an `f32` is"),
        };
        return Err(mistake(
            lane,
            &format!("its texels are read as {has}, but {asked} asked for"),
        ));
    }
    let one = if is_number { 1.0_f32.to_bits() } else { 1 };
    // The channel of a texel as a result.
    let word = |address: Option<u64>, channel: u8| match (address, channel) {
        (_, 3) if texture.channels < 4 => Ok(one),
        (Some(address), _) if channel < texture.channels => {
            let bits = load(env, texture, address, channel, lane)?;
            Ok(if is_number {
                number(texture.channel, bits).to_bits()
            } else {
                bits
            })
        }
        _ => Ok(0),
    };
    let texels = texels.used();
    if let Some(channel) = op.gather {
        let mut words = [0; 4];
        for (place, texel) in words.iter_mut().zip(GATHERED) {
            *place = word(texels[texel].0, channel)?;
        }
        return Ok(words);
    }
    let mut words = [0, 0, 0, one];
    for channel in 0..texture.channels {
        words[usize::from(channel)] = match (texture.filter, texels) {
            (Filter::Linear, [_, _, ..]) => {
                let mut sum = 0.0;
                for &(address, weight) in texels {
                    sum += weight * f64::from(f32::from_bits(word(address, channel)?));
                }
                (sum as f32).to_bits()
            }
            (Filter::Nearest | Filter::Linear, _) => word(texels[0].0, channel)?,
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
    let Some(region) = view.readable(address, bytes.into()) else {
        return Err(LaneFault::new(
            lane,
            view.explain(Operation::Load, address, bytes.into()),
        ));
    };
    let bits = region.storage().load(address, bytes) as u32;
    Ok(match texture.channel {
        Channel::I8 => i32::from(bits as i8) as u32,
        Channel::I16 => i32::from(bits as i16) as u32,
        Channel::U8 | Channel::U16 | Channel::U32 | Channel::I32 | Channel::F32 => bits,
    })
}

/// A channel as a number: of integers, from 0 to 1 or from -1 to 1.
fn number(channel: Channel, bits: u32) -> f32 {
    let signed = |most: f32| ((bits as i32) as f32 / most).max(-1.0);
    match channel {
        Channel::F32 => f32::from_bits(bits),
        Channel::U8 => bits as f32 / 255.0,
        Channel::I8 => signed(127.0),
        Channel::U16 => bits as f32 / 65535.0,
        Channel::I16 => signed(32767.0),
        // Never: `Texture::mistake` refuses them.
        Channel::U32 | Channel::I32 => 0.0,
    }
}
