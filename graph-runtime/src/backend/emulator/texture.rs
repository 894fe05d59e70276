//! Textures of kernels as the emulator describes them.

use graph_emulator::Extent;

use crate::kernel::texture::{Addressing, Channel, Filter, Texture};

/// The texture of this form, of `bytes` bytes at an address.
pub(super) fn of(form: &Texture, address: u64, bytes: usize) -> graph_emulator::Texture {
    graph_emulator::Texture {
        address,
        channel: match form.channel {
            Channel::U8 => graph_emulator::Channel::U8,
            Channel::I8 => graph_emulator::Channel::I8,
            Channel::U16 => graph_emulator::Channel::U16,
            Channel::I16 => graph_emulator::Channel::I16,
            Channel::U32 => graph_emulator::Channel::U32,
            Channel::I32 => graph_emulator::Channel::I32,
            Channel::F32 => graph_emulator::Channel::F32,
        },
        channels: form.channels,
        extent: match form.extent(bytes) {
            (texels, None) => Extent::Linear { texels },
            (width, Some(height)) => Extent::Plane {
                width,
                height,
                layers: None,
            },
        },
        filter: match form.filter {
            Filter::Nearest => graph_emulator::Filter::Nearest,
            Filter::Linear => graph_emulator::Filter::Linear,
        },
        addressing: match form.addressing {
            Addressing::Clamp => graph_emulator::Addressing::Clamp,
            Addressing::Border => graph_emulator::Addressing::Border,
            Addressing::Wrap => graph_emulator::Addressing::Wrap,
            Addressing::Mirror => graph_emulator::Addressing::Mirror,
        },
        normalized_coordinates: form.normalized_coordinates,
        normalized_values: form.normalized_values,
    }
}
