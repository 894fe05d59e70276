//! CUDA arrays, textures and surfaces.

use super::calls;
use crate::argument::{In, Out};
use crate::code::refuse;
use crate::code::{Done, INVALID_VALUE, NOT_SUPPORTED, OUT_OF_MEMORY, fail};
use crate::device::MEMORY;
use crate::handle::Handle;
use crate::memory::Array;
use crate::rules;
use crate::state::{Object, mistake, state};
use graph_emulator::{Addressing, Channel, Extent, Filter, Surface, Texture};
use std::sync::Arc;

/// `CUDA_ARRAY3D_LAYERED`, and the flags of cubes, mipmaps and others that are not here.
const LAYERED: u32 = 1;
const CUBE: u32 = 4;
/// The kinds of memory of a texture.
const OF_ARRAY: u32 = 0;
const OF_LINE: u32 = 2;
const OF_PLANE: u32 = 3;
/// The alignment of textures of memory.
const ALIGNMENT: u64 = 512;

/// The type of a channel, by the number of `CUarray_format`.
fn channel(format: u32) -> Done<Channel> {
    Ok(match format {
        1 => Channel::U8,
        2 => Channel::U16,
        3 => Channel::U32,
        8 => Channel::I8,
        9 => Channel::I16,
        10 => Channel::I32,
        32 => Channel::F32,
        _ => return fail(INVALID_VALUE, format!("the format {format} is not supported here")),
    })
}

fn create(out: Out<Handle>, descriptor: In<[usize; 5]>) -> Done {
    // The width, the height, the depth, the format and the channels, and the flags.
    let [width, height, depth, texel, flags] = descriptor.get()?;
    let (format, channels, flags) = (texel as u32, (texel >> 32) as u8, flags as u32);
    let channel = channel(format)?;
    if width == 0 {
        return rules::ARRAY_WITHOUT_WIDTH.refuse();
    }
    let layered = flags & LAYERED != 0;
    if !matches!(channels, 1 | 2 | 4) || layered && depth == 0 || !layered && depth > 0 && height == 0 {
        return refuse(format!(
            "there is no array of {width}, {height}, {depth} texels of {channels} channels"
        ));
    }
    if flags & CUBE != 0 {
        return fail(NOT_SUPPORTED, "cubes are not supported here");
    }
    let extent = match (layered, height, depth) {
        (true, 0, layers) => Extent::Line {
            width,
            layers: Some(layers),
        },
        (true, height, layers) => Extent::Plane {
            width,
            height,
            layers: Some(layers),
        },
        (false, 0, 0) => Extent::Line { width, layers: None },
        (false, height, 0) => Extent::Plane {
            width,
            height,
            layers: None,
        },
        (false, height, depth) => Extent::Volume { width, height, depth },
    };
    let row = width * usize::from(channels) * usize::from(channel.bytes());
    let sides = [row, height.max(1), depth.max(1)];
    let Ok(allocation) = MEMORY.allocate("CUDA array", sides.iter().product()) else {
        return fail(OUT_OF_MEMORY, "the host has no memory for the array");
    };
    let array = Array {
        allocation,
        channel,
        channels,
        extent,
        sides,
    };
    out.put(state().add(Object::Array(Arc::new(array))))
}

/// The place of a new object in a list of which some places are free.
fn place<T>(slots: &mut Vec<Option<T>>, object: T) -> usize {
    match slots.iter().position(Option::is_none) {
        Some(free) => {
            slots[free] = Some(object);
            free
        }
        None => {
            slots.push(Some(object));
            slots.len() - 1
        }
    }
}

fn texture(out: Out<u64>, resource: In<[usize; 8]>, mode: In<[u32; 6]>, view: usize) -> Done {
    let words = resource.get()?;
    // Three address modes, the filter, the flags.
    let [address_mode, _, _, filter, flags, _] = mode.get()?;
    if view != 0 {
        return fail(NOT_SUPPORTED, "views of textures are not supported here");
    }
    let normalized_coordinates = flags & 2 != 0;
    let addressing = match address_mode {
        0 if normalized_coordinates => Addressing::Wrap,
        2 if normalized_coordinates => Addressing::Mirror,
        0..=2 => Addressing::Clamp,
        3 => Addressing::Border,
        _ => return refuse(format!("there is no address mode {address_mode}")),
    };
    let mut state = state();
    let (address, channel, channels, extent, array) = match words[0] as u32 {
        OF_ARRAY => {
            let array = state.array(words[1])?.clone();
            let address = array.allocation.address();
            (address, array.channel, array.channels, array.extent, Some(array))
        }
        kind @ (OF_LINE | OF_PLANE) => {
            let (address, channel, channels) = (words[1] as u64, channel(words[2] as u32)?, (words[2] >> 32) as u8);
            let texel = usize::from(channels) * usize::from(channel.bytes());
            let (bytes, extent) = if kind == OF_LINE {
                (
                    words[3],
                    Extent::Linear {
                        texels: words[3] / texel.max(1),
                    },
                )
            } else {
                let (width, height, pitch) = (words[3], words[4], words[5]);
                if pitch != width * texel {
                    return fail(NOT_SUPPORTED, "rows of textures that lie apart are not supported here");
                }
                (
                    pitch * height,
                    Extent::Plane {
                        width,
                        height,
                        layers: None,
                    },
                )
            };
            if !address.is_multiple_of(ALIGNMENT) {
                return rules::TEXTURE_ADDRESS.refuse();
            }
            if bytes == 0 || state.blocks.find(address, bytes).is_none() {
                return refuse(format!("{bytes} bytes from {address:#x} on are not allocated"));
            }
            (address, channel, channels, extent, None)
        }
        kind => return refuse(format!("there is no resource of the kind {kind}")),
    };
    let is_linear = matches!(extent, Extent::Linear { .. });
    let texture = Texture {
        address,
        channel,
        channels,
        extent,
        filter: if filter == 1 { Filter::Linear } else { Filter::Nearest },
        addressing: if is_linear { Addressing::Clamp } else { addressing },
        normalized_coordinates: normalized_coordinates && !is_linear,
        normalized_values: flags & 1 == 0 && channel != Channel::F32 && channel.bytes() < 4,
    };
    let index = place(&mut state.textures, (texture, array));
    out.put(Texture::handle(index))
}

calls! {
    NoCapture cuArray3DCreate_v2(out: Out<Handle>, descriptor: In<[usize; 5]>) { create(out, descriptor) }
    NoCapture cuArrayDestroy(array: Handle) {
        let mut state = state();
        state.array(array)?;
        state.remove(array);
        Ok(())
    }
    Context cuArray3DGetDescriptor_v2(out: Out<[usize; 5]>, array: Handle) {
        let array = state().array(array)?.clone();
        let _ = out;
        fail(NOT_SUPPORTED, format!("the description of an array of {:?} is not kept", array.sides))
    }
    Context cuTexObjectCreate(out: Out<u64>, resource: In<[usize; 8]>, mode: In<[u32; 6]>, view: usize) {
        texture(out, resource, mode, view)
    }
    AnyContext cuTexObjectDestroy(texture: u64) {
        let index = texture.wrapping_sub(Texture::handle(0)) as usize;
        match state().textures.get_mut(index).and_then(Option::take) {
            Some(_) => Ok(()),
            None => mistake(format!("{texture:#x} is no texture")),
        }
    }
    Context cuSurfObjectCreate(out: Out<u64>, resource: In<[usize; 8]>) {
        let words = resource.get()?;
        if words[0] as u32 != OF_ARRAY {
            return rules::SURFACE_OF_MEMORY.refuse();
        }
        let mut state = state();
        let array = state.array(words[1])?.clone();
        let surface = Surface {
            address: array.allocation.address(),
            channel: array.channel,
            channels: array.channels,
            extent: array.extent,
        };
        let index = place(&mut state.surfaces, (surface, array));
        out.put(Surface::handle(index))
    }
    AnyContext cuSurfObjectDestroy(surface: u64) {
        let index = surface.wrapping_sub(Surface::handle(0)) as usize;
        match state().surfaces.get_mut(index).and_then(Option::take) {
            Some(_) => Ok(()),
            None => mistake(format!("{surface:#x} is no surface")),
        }
    }
}
