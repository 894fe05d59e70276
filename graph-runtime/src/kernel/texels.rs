//! Texels: the elements of memory that kernels access through textures and surfaces, and the dimensions of such memory.

use crate::shape::Element;
pub use graph_ptx::Channel;
use std::marker::PhantomData;

mod sealed {
    pub trait TexelFormat {}
}

/// Types of texels: `u8`, `i8`, `u16`, `i16`, `u32`, `i32` and `f32`, and arrays of 2 and 4 of them.
#[diagnostic::on_unimplemented(
    message = "a texel cannot be `{Self}`",
    label = "no type of texels",
    note = "texels are `u8`, `i8`, `u16`, `i16`, `u32`, `i32` or `f32`, or `[T; 2]` or `[T; 4]` of these"
)]
pub trait TexelFormat: Element + sealed::TexelFormat {
    /// The type of its channels.
    #[doc(hidden)]
    const CHANNEL: Channel;
    /// The number of its channels.
    #[doc(hidden)]
    const CHANNELS: u8;
}

macro_rules! formats {
    ($($ty:ty, $channel:ident;)*) => {$(formats! { @ $ty, $channel, 1; [$ty; 2], $channel, 2; [$ty; 4], $channel, 4; })*};
    (@ $($ty:ty, $channel:ident, $channels:literal;)*) => {$(
        impl sealed::TexelFormat for $ty {}
        #[diagnostic::do_not_recommend]
        impl TexelFormat for $ty {
            const CHANNEL: Channel = Channel::$channel;
            const CHANNELS: u8 = $channels;
        }
    )*};
}
formats! {
    u8, U8;
    i8, I8;
    u16, U16;
    i16, I16;
    u32, U32;
    i32, I32;
    f32, F32;
}

/// The outermost dimension counts layers, in the declaration of a kernel: `&Layered<[[Texel<T, S>; W]]>`, or
/// `&Layered<[[[Texel<T, S>; W]; H]]>`. The kernel names a layer by its number, and no filter mixes layers. (A
/// `cudaArrayLayered` array, `tex1DLayered`, `tex2DLayered`, `surf2DLayeredread`.) The same holds for
/// [`Surfel`](crate::Surfel)s.
#[derive(Debug)]
pub struct Layered<T: ?Sized> {
    texels: PhantomData<fn(&T)>,
}

/// The texels of a parameter that is a texture or a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Texels {
    /// The type of the channels of a texel.
    pub channel: Channel,
    /// The number of channels of a texel: 1, 2 or 4.
    pub channels: u8,
    /// The dimensions in which they lie.
    pub geometry: Geometry,
}

/// The dimensions in which texels lie. The outermost one is as long as the memory that a node passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "lengths in texels, which the variants explain")]
pub enum Geometry {
    /// One after the other.
    Line,
    /// Rows of `width` texels.
    Plane { width: usize },
    /// Planes of `height` rows of `width` texels.
    Volume { width: usize, height: usize },
    /// Layers of `width` texels.
    Lines { width: usize },
    /// Layers of `height` rows of `width` texels.
    Planes { width: usize, height: usize },
}

/// The use of an array by a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrayUse {
    /// It is a texture.
    Texture,
    /// It is a texture, from which `tex2Dgather` may read.
    Gather,
    /// It is a surface.
    Surface,
}

/// The dimensions of memory of texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TexelExtent {
    pub(crate) width: usize,
    /// The number of rows; 0 if there are no rows.
    pub(crate) height: usize,
    /// The number of planes or of layers; 0 if there are neither.
    pub(crate) depth: usize,
    /// Whether `depth` counts layers.
    pub(crate) layered: bool,
}

impl TexelExtent {
    /// Whether it has no texels.
    fn is_empty(&self, geometry: Geometry) -> bool {
        self.width == 0
            || match geometry {
                Geometry::Line => false,
                Geometry::Plane { .. } => self.height == 0,
                Geometry::Lines { .. } => self.depth == 0,
                Geometry::Volume { .. } | Geometry::Planes { .. } => self.height == 0 || self.depth == 0,
            }
    }
}

impl Texels {
    /// The texels of a parameter whose elements are `T`. `layered` says whether its outermost dimension counts layers,
    /// and `lengths` are those of the dimensions in the outermost one, from the outer to the inner.
    pub const fn of<T: TexelFormat>(layered: bool, lengths: &[usize]) -> Self {
        let geometry = match (lengths, layered) {
            ([], _) => Geometry::Line,
            (&[width], false) => Geometry::Plane { width },
            (&[width], true) => Geometry::Lines { width },
            (&[height, width, ..], false) => Geometry::Volume { width, height },
            (&[height, width, ..], true) => Geometry::Planes { width, height },
        };
        Self {
            channel: T::CHANNEL,
            channels: T::CHANNELS,
            geometry,
        }
    }

    /// The same dimensions, as PTX tells them.
    pub(crate) const fn in_ptx(&self) -> graph_ptx::Geometry {
        match self.geometry {
            Geometry::Line => graph_ptx::Geometry::Line,
            Geometry::Plane { .. } => graph_ptx::Geometry::Plane,
            Geometry::Volume { .. } => graph_ptx::Geometry::Volume,
            Geometry::Lines { .. } => graph_ptx::Geometry::LayeredLine,
            Geometry::Planes { .. } => graph_ptx::Geometry::LayeredPlane,
        }
    }

    /// The bytes of a texel.
    pub(crate) const fn bytes(&self) -> usize {
        self.channels as usize * self.channel.bytes() as usize
    }

    /// The dimensions of memory of this many bytes.
    pub(crate) fn extent(&self, bytes: usize) -> TexelExtent {
        let texels = bytes / self.bytes();
        let times = |inner: usize| texels.checked_div(inner).unwrap_or(0);
        let (width, height, depth) = match self.geometry {
            Geometry::Line => (texels, 0, 0),
            Geometry::Plane { width } => (width, times(width), 0),
            Geometry::Lines { width } => (width, 0, times(width)),
            Geometry::Volume { width, height } | Geometry::Planes { width, height } => {
                (width, height, times(width.saturating_mul(height)))
            }
        };
        TexelExtent {
            width,
            height,
            depth,
            layered: matches!(self.geometry, Geometry::Lines { .. } | Geometry::Planes { .. }),
        }
    }

    /// The reason that no array for this use holds memory of `bytes` bytes as these texels, if there is one. The limits
    /// are those of all of CUDA's devices since compute capability 5.0 ("Technical Specifications per Compute
    /// Capability" of the CUDA C++ Programming Guide).
    pub(crate) fn misfit(&self, bytes: usize, array: ArrayUse) -> Option<String> {
        let extent = self.extent(bytes);
        if extent.is_empty(self.geometry) {
            return Some("is empty".to_owned());
        }
        let [width, height, depth] = match (self.geometry, array) {
            (Geometry::Line, ArrayUse::Texture | ArrayUse::Gather) => [65_536, 0, 0],
            (Geometry::Line, ArrayUse::Surface) => [16_384, 0, 0],
            (Geometry::Plane { .. }, ArrayUse::Texture) => [65_536, 65_536, 0],
            (Geometry::Plane { .. }, ArrayUse::Gather) => [16_384, 16_384, 0],
            (Geometry::Plane { .. }, ArrayUse::Surface) => [16_384, 65_536, 0],
            (Geometry::Volume { .. }, _) => [4_096; 3],
            (Geometry::Lines { .. }, _) => [16_384, 0, 2_048],
            (Geometry::Planes { .. }, _) => [16_384, 16_384, 2_048],
        };
        let too_long = |length: usize, most: usize, what: &str| {
            (length > most).then(|| format!("has {length} {what}: the most are {most}"))
        };
        let layers = if extent.layered { "layers" } else { "planes" };
        too_long(extent.width, width, "texels in a row")
            .or_else(|| too_long(extent.height, height, "rows"))
            .or_else(|| too_long(extent.depth, depth, layers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_the_dimensions_of_the_parameter() {
        let of = |layered, lengths: &[usize], bytes| {
            let TexelExtent {
                width,
                height,
                depth,
                layered,
            } = Texels::of::<[u8; 4]>(layered, lengths).extent(bytes);
            ([width, height, depth], layered)
        };
        assert_eq!(of(false, &[], 96), ([24, 0, 0], false));
        assert_eq!(of(false, &[8], 96), ([8, 3, 0], false));
        assert_eq!(of(true, &[8], 96), ([8, 0, 3], true));
        assert_eq!(of(false, &[4, 2], 96), ([2, 4, 3], false));
        assert_eq!(of(true, &[4, 2], 96), ([2, 4, 3], true));
        assert_eq!(of(false, &[0], 96), ([0, 0, 0], false));
    }

    #[test]
    fn arrays_have_limits() {
        let planes = Texels::of::<f32>(true, &[2, 4]);
        assert_eq!(planes.misfit(96, ArrayUse::Texture), None);
        assert_eq!(planes.misfit(0, ArrayUse::Texture).unwrap(), "is empty");
        let found = planes.misfit(32 * 2_049, ArrayUse::Texture);
        assert_eq!(found.unwrap(), "has 2049 layers: the most are 2048");
        let wide = Texels::of::<u8>(false, &[20_000]);
        assert_eq!(wide.misfit(20_000, ArrayUse::Texture), None);
        for narrow in [ArrayUse::Gather, ArrayUse::Surface] {
            let found = wide.misfit(20_000, narrow);
            assert_eq!(found.unwrap(), "has 20000 texels in a row: the most are 16384");
        }
        assert_eq!(Texels::of::<u8>(false, &[]).misfit(16, ArrayUse::Texture), None);
    }
}
