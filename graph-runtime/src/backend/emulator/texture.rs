//! Textures of kernels as the emulator describes them.

use crate::kernel::texels::{Channel, Geometry};
use crate::kernel::texture::{Addressing, Filter, Texture};

/// The texture of this form, of `bytes` bytes at an address.
pub(super) fn of(form: &Texture, address: u64, bytes: usize) -> graph_emulator::Texture {
    let extent = form.texels.extent(bytes);
    let (width, height) = (extent.width, (form.texels.geometry != Geometry::Linear).then_some(extent.height));
    graph_emulator::Texture {
        address,
        channel: match form.texels.channel {
            Channel::U8 => graph_emulator::Channel::U8,
            Channel::I8 => graph_emulator::Channel::I8,
            Channel::U16 => graph_emulator::Channel::U16,
            Channel::I16 => graph_emulator::Channel::I16,
            Channel::U32 => graph_emulator::Channel::U32,
            Channel::I32 => graph_emulator::Channel::I32,
            Channel::F32 => graph_emulator::Channel::F32,
        },
        channels: form.texels.channels,
        width,
        height,
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
