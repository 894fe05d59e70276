//! `tex` and `txq`.

use super::Environment;
use crate::code::{DISCARD, TexelType, TextureFetch, TextureQuery};
use crate::fault::{FaultKind, LaneFault, Operation};
use crate::memory::texture::{Channel, Filter, Texture};
use crate::state::{Registers, Texels, lanes};

/// `tex`
pub(crate) fn fetch(
    registers: &mut Registers,
    env: &Environment<'_>,
    mask: u32,
    op: &TextureFetch,
) -> Result<(), LaneFault> {
    for lane in lanes(mask) {
        let found = Texels::of(registers, env.context.textures, op, lane);
        let (texture, texels) = found.map_err(|message| mistake(lane, &message))?;
        let words = read(env, &texture, &texels, op.result, lane)?;
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
        let length = match op.height {
            true => texture.height.unwrap_or(0),
            false => texture.width,
        };
        registers.get32_mut(op.d)[lane] = length as u32;
    }
    Ok(())
}

#[cold]
fn mistake(lane: usize, message: &str) -> LaneFault {
    LaneFault::new(lane, FaultKind::InvalidTexture(message.into()))
}

/// The four results of a read. Channels that texels do not have are 0, the last one is 1.
fn read(
    env: &Environment<'_>,
    texture: &Texture,
    texels: &Texels,
    result: TexelType,
    lane: usize,
) -> Result<[u32; 4], LaneFault> {
    let is_number = texture.channel == Channel::F32 || texture.normalized_values;
    if is_number != (result == TexelType::F32) {
        let (has, asked) = match is_number {
            true => ("numbers with fractions", "integers are"),
            false => ("integers", "an `f32` is"),
        };
        return Err(mistake(
            lane,
            &format!("its texels are read as {has}, but {asked} asked for"),
        ));
    }
    let mut words = [0, 0, 0, if is_number { 1.0_f32.to_bits() } else { 1 }];
    for channel in 0..texture.channels {
        let mut sum = 0.0;
        for &(address, weight) in texels.used() {
            let bits = match address {
                Some(address) => load(env, texture, address, channel, lane)?,
                None => 0,
            };
            match (is_number, texture.filter) {
                (true, Filter::Linear) => sum += weight * f64::from(number(texture.channel, bits)),
                (true, Filter::Nearest) => sum = f64::from(number(texture.channel, bits)),
                (false, _) => words[usize::from(channel)] = bits,
            }
        }
        if is_number {
            words[usize::from(channel)] = (sum as f32).to_bits();
        }
    }
    Ok(words)
}

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
