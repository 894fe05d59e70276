//! Textures and surfaces: memory with a form of texels, and the way in which a kernel accesses it by `tex`, `suld` and
//! `sust`.

use graph_ptx::{Channel, Geometry};

/// Memory that a kernel reads through a texture. The kernel gets its [handle](Texture::handle).
///
/// A launch must name the memory among its buffers, too: each texel is checked as a load is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texture {
    /// The address of its first texel.
    pub address: u64,
    /// The type of a channel.
    pub channel: Channel,
    /// The channels of a texel: 1, 2 or 4.
    pub channels: u8,
    /// The texels.
    pub extent: Extent,
    /// The result of reading between texels.
    pub filter: Filter,
    /// The result of reading outside the texels.
    pub addressing: Addressing,
    /// Whether coordinates go from 0 to 1.
    pub normalized_coordinates: bool,
    /// Whether integers are read as numbers from 0 to 1, or from -1 to 1.
    pub normalized_values: bool,
}

/// Memory that a kernel loads and stores through a surface. The kernel gets its [handle](Surface::handle).
///
/// A launch must name the memory among its buffers, too: each access is checked as a load or a store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// The address of its first texel.
    pub address: u64,
    /// The type of a channel.
    pub channel: Channel,
    /// The channels of a texel: 1, 2 or 4.
    pub channels: u8,
    /// The texels, of a CUDA array.
    pub extent: Extent,
}

/// The arrangement of texels in memory, where they follow each other without gaps: row after row, and layer after
/// layer or slice after slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Memory that is no CUDA array and has no rows. It is read by the number of a texel (`tex1Dfetch`).
    Linear {
        /// The texels.
        texels: usize,
    },
    /// A CUDA array of one dimension, or layers of these.
    Line {
        /// The texels of a layer.
        width: usize,
        /// The layers, if it is layered.
        layers: Option<usize>,
    },
    /// Rows of texels, or layers of these.
    Plane {
        /// The texels of a row.
        width: usize,
        /// The rows of a layer.
        height: usize,
        /// The layers, if it is layered.
        layers: Option<usize>,
    },
    /// A CUDA array of three dimensions.
    Volume {
        /// The texels of a row.
        width: usize,
        /// The rows of a slice.
        height: usize,
        /// The slices.
        depth: usize,
    },
}

impl Extent {
    /// The texels of a row, the rows, and the layers or slices.
    pub(crate) fn sides(&self) -> [usize; 3] {
        match *self {
            Extent::Linear { texels } => [texels, 1, 1],
            Extent::Line { width, layers } => [width, 1, layers.unwrap_or(1)],
            Extent::Plane { width, height, layers } => [width, height, layers.unwrap_or(1)],
            Extent::Volume { width, height, depth } => [width, height, depth],
        }
    }

    /// The dimensions, as instructions name them.
    pub(crate) fn geometry(&self) -> Geometry {
        match self {
            Extent::Linear { .. } => Geometry::Linear,
            Extent::Line { layers: None, .. } => Geometry::Line,
            Extent::Line { layers: Some(_), .. } => Geometry::LayeredLine,
            Extent::Plane { layers: None, .. } => Geometry::Plane,
            Extent::Plane { layers: Some(_), .. } => Geometry::LayeredPlane,
            Extent::Volume { .. } => Geometry::Volume,
        }
    }

    /// The address of a texel of `bytes` bytes, by its column, its row, and its layer or slice.
    pub(crate) fn texel(&self, address: u64, bytes: u32, [column, row, slice]: [usize; 3]) -> u64 {
        let [width, height, _] = self.sides();
        let row = slice.wrapping_mul(height).wrapping_add(row);
        let index = row.wrapping_mul(width).wrapping_add(column) as u64;
        address.wrapping_add(index.wrapping_mul(bytes.into()))
    }
}

/// The result of reading a texture between texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The texel that the coordinates are in.
    Nearest,
    /// The mean of the nearest texels, by their distance: of two in a line, of four in a plane, of eight in a volume.
    /// Weights are multiples of 1/256.
    Linear,
}

/// The result of reading a texture outside its texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// The nearest texel at the border.
    Clamp,
    /// Zero.
    Border,
    /// The texels again. Coordinates must be normalised.
    Wrap,
    /// The texels again, each time in reverse. Coordinates must be normalised.
    Mirror,
}

/// The handle of the first texture of a launch: no address of memory.
const FIRST_TEXTURE: u64 = 0x7e57 << 48;
/// The handle of the first surface of a launch: no address of memory.
const FIRST_SURFACE: u64 = 0x50f5 << 48;

/// The most texels along a side.
const MAX_SIDE: usize = 1 << 31;

/// The item that a handle stands for.
fn find<T: Copy>(all: &[T], first: u64, handle: u64) -> Option<T> {
    let index = usize::try_from(handle.checked_sub(first)?).ok()?;
    all.get(index).copied()
}

/// The bytes of a texel.
fn texel_bytes(channel: Channel, channels: u8) -> u32 {
    u32::from(channels) * u32::from(channel.bytes())
}

/// The reason that there cannot be such texels, if there is one.
fn mistake(address: u64, channel: Channel, channels: u8, extent: &Extent) -> Option<&'static str> {
    if !matches!(channels, 1 | 2 | 4) {
        Some("a texel has 1, 2 or 4 channels")
    } else if !address.is_multiple_of(channel.bytes().into()) {
        Some("its address is no multiple of a channel's size")
    } else if extent.sides().into_iter().any(|side| side > MAX_SIDE) {
        Some("a side has at most 2^31 texels")
    } else {
        None
    }
}

impl Surface {
    /// The handle of number `index` of [`Launch::surfaces`](crate::Launch::surfaces), which is passed as an argument.
    pub const fn handle(index: usize) -> u64 {
        FIRST_SURFACE + index as u64
    }

    /// The surface of a handle.
    pub(crate) fn find(surfaces: &[Surface], handle: u64) -> Result<Surface, String> {
        let found = find(surfaces, FIRST_SURFACE, handle);
        found.ok_or_else(|| format!("{handle:#x} is no handle of a surface of this launch"))
    }

    /// The reason that there cannot be such a surface, if there is one.
    pub(crate) fn mistake(&self) -> Option<&'static str> {
        match self.extent {
            Extent::Linear { .. } => Some("memory that is no CUDA array has no surface"),
            Extent::Line { .. } | Extent::Plane { .. } | Extent::Volume { .. } => {
                mistake(self.address, self.channel, self.channels, &self.extent)
            }
        }
    }

    /// The bytes of a texel.
    pub(crate) fn texel_bytes(&self) -> u32 {
        texel_bytes(self.channel, self.channels)
    }
}

impl Texture {
    /// The handle of number `index` of [`Launch::textures`](crate::Launch::textures), which is passed as an argument.
    pub const fn handle(index: usize) -> u64 {
        FIRST_TEXTURE + index as u64
    }

    /// The texture of a handle.
    pub(crate) fn find(textures: &[Texture], handle: u64) -> Result<Texture, String> {
        let found = find(textures, FIRST_TEXTURE, handle);
        found.ok_or_else(|| format!("{handle:#x} is no handle of a texture of this launch"))
    }

    /// The reason that there cannot be such a texture, if there is one.
    pub(crate) fn mistake(&self) -> Option<&'static str> {
        let is_integer = self.channel != Channel::F32;
        let is_linear = matches!(self.extent, Extent::Linear { .. });
        if let Some(mistake) = mistake(self.address, self.channel, self.channels, &self.extent) {
            Some(mistake)
        } else if self.normalized_values && (!is_integer || self.channel.bytes() == 4) {
            Some("only integers of 8 and 16 bits are read as normalised numbers")
        } else if self.filter == Filter::Linear && (is_integer && !self.normalized_values || is_linear) {
            Some("linear filters need rows of numbers with fractions")
        } else if matches!(self.addressing, Addressing::Wrap | Addressing::Mirror) && !self.normalized_coordinates {
            Some("only normalised coordinates wrap")
        } else if is_linear && self.normalized_coordinates {
            Some("memory without rows is read by the number of a texel")
        } else {
            None
        }
    }

    /// The bytes of a texel.
    pub(crate) fn texel_bytes(&self) -> u32 {
        texel_bytes(self.channel, self.channels)
    }
}
