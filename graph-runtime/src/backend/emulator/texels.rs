//! Textures and surfaces of kernels as the emulator describes them.

use crate::kernel::surface::Surface;
use crate::kernel::texels::{Geometry, TexelExtent, Texels};
use crate::kernel::texture::{Addressing, Filter, Texture};
use graph_emulator::Extent;

/// The texture of this form, of `bytes` bytes at an address.
pub(super) fn texture(form: &Texture, address: u64, bytes: usize, is_array: bool) -> graph_emulator::Texture {
    graph_emulator::Texture {
        address,
        channel: form.texels.channel,
        channels: form.texels.channels,
        extent: extent(&form.texels, bytes, is_array),
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

/// The surface of this form, of `bytes` bytes at an address.
pub(super) fn surface(form: &Surface, address: u64, bytes: usize) -> graph_emulator::Surface {
    graph_emulator::Surface {
        address,
        channel: form.texels.channel,
        channels: form.texels.channels,
        extent: extent(&form.texels, bytes, true),
    }
}

fn extent(texels: &Texels, bytes: usize, is_array: bool) -> Extent {
    let TexelExtent {
        width, height, depth, ..
    } = texels.extent(bytes);
    match texels.geometry {
        Geometry::Line if !is_array => Extent::Linear { texels: width },
        Geometry::Line => Extent::Line { width, layers: None },
        Geometry::Lines { .. } => Extent::Line {
            width,
            layers: Some(depth),
        },
        Geometry::Plane { .. } => Extent::Plane {
            width,
            height,
            layers: None,
        },
        Geometry::Planes { .. } => Extent::Plane {
            width,
            height,
            layers: Some(depth),
        },
        Geometry::Volume { .. } => Extent::Volume { width, height, depth },
    }
}
