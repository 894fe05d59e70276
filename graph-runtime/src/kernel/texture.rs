//! Textures: memory that kernels read by texels.

use crate::kernel::texels::{ArrayUse, Channel, Geometry, TexelExtent, TexelFormat, Texels};
use std::marker::PhantomData;

/// An element of memory that a kernel reads through a texture, in the declaration of a kernel: `&[Texel<T>]`,
/// `&[[Texel<T, S>; W]]` for rows of `W` texels, `&[[[Texel<T, S>; W]; H]]` for planes of `H` rows, or layers in
/// [`Layered`](crate::Layered). `S` is a [`Sampler`], which says how the kernel reads it.
///
/// The kernel takes a `cudaTextureObject_t`. It reads one dimension by `tex1Dfetch` or `tex1D`, rows by `tex2D` and
/// `tex2Dgather`, planes by `tex3D`, and passes the type of the texels (see [`TexelFormat`]): `float`, `int4`,
/// `unsigned char` and so on. In PTX, that is a parameter of 64 bits and `tex` or `tld4`. If the kernel is declared
/// `safe`, PTX that uses the parameter in any other way is refused.
///
/// The graph's memory has elements `T`, and a node passes `&image`: that reads the memory, as `&[T]` does. The graph
/// makes the texture. `tex1Dfetch` and `tex2D` read device memory; `tex2D` and all others read an
/// [array](crate::GraphBuilder::array). Device memory of rows begins at a multiple of 512 bytes in its buffer, and a
/// row has a multiple of 32 bytes; [`build`](crate::GraphBuilder::build) says so if not.
///
/// ```
/// use graph_runtime::{Device, Filter, Sampler, Texel, cuda_graph, cuda_kernels};
///
/// /// Between the texels, their mean.
/// enum Smooth {}
/// impl Sampler for Smooth {
///     const FILTER: Filter = Filter::Linear;
/// }
///
/// #[cuda_kernels("tests/kernels/textures.ptx")] // relative to the crate's manifest
/// unsafe extern "C" {
///     /// `out[i] = tex2D<float>(image, at[i][0], at[i][1])`
///     #[requires(threads <= at.len() && threads <= out.len())]
///     safe fn sample(image: &[[Texel<f32, Smooth>; 8]; 8], at: &[[f32; 2]], out: &mut [f32]);
/// }
///
/// cuda_graph! {
///     graph Sample {
///         device image: [[f32; 8]; 8];
///         device at: [[f32; 2]; 1];
///         device out: [f32; 1];
///         kernel read = sample<<<1, 1>>>(&image, &at, &mut out);
///     }
/// }
///
/// let mut graph = Sample::build(&Device::emulator())?;
/// let mut image = [[0.0; 8]; 8];
/// image[3][4] = 8.0;
/// graph.image_mut()?.copy_from(&image)?;
/// // The middle of a texel is at one half. This is a quarter of a texel to the left of it.
/// graph.at_mut()?.copy_from(&[[4.25, 3.5]])?;
/// graph.launch()?;
/// assert_eq!(*graph.out()?.read()?, [6.0]);
/// # Ok::<(), graph_runtime::Error>(())
/// ```
#[derive(Debug)]
pub struct Texel<T, S = PointSampler> {
    format: PhantomData<T>,
    sampler: PhantomData<S>,
}

/// The way in which kernels read a texture: what they get between texels and outside of them, and what coordinates and
/// values mean. See [`Texel`].
///
/// Combinations that CUDA does not have are errors where a kernel is declared with them. `tex1Dfetch` reads memory by
/// the number of a texel, and 0 outside of them: only [`NORMALIZED_VALUES`](Sampler::NORMALIZED_VALUES) may differ from
/// [`PointSampler`] there.
pub trait Sampler: 'static {
    /// The result of reading between texels. [`Filter::Linear`] needs `f32`s, or normalised values.
    const FILTER: Filter = Filter::Nearest;

    /// The result of reading outside the texels.
    const ADDRESSING: Addressing = Addressing::Clamp;

    /// Whether coordinates go from 0 to 1, rather than to the number of texels.
    const NORMALIZED_COORDINATES: bool = false;

    /// Whether integers of 8 and 16 bits are read as `float`s: from 0 to 1, or from -1 to 1 if they have a sign.
    const NORMALIZED_VALUES: bool = false;
}

/// The [`Sampler`] that reads the texel in which the coordinates are. Outside of rows, that is the nearest one.
#[derive(Clone, Copy, Debug)]
pub enum PointSampler {}

impl Sampler for PointSampler {}

/// The result of reading a texture between texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The texel that the coordinates are in.
    Nearest,
    /// The mean of the nearest texels, two in each dimension, by their distance. Weights are multiples of 1/256.
    Linear,
}

/// The result of reading a texture outside its texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

/// A parameter of a kernel that is a texture, and its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Texture {
    /// The index of the parameter.
    pub param: usize,
    /// Its texels.
    pub texels: Texels,
    /// Whether the memory must be an [array](crate::GraphBuilder::array): `tex1Dfetch` reads memory with addresses
    /// alone, `tex2D` reads both, and all else reads arrays.
    pub array: Option<bool>,
    /// As [`Sampler::FILTER`].
    pub filter: Filter,
    /// As [`Sampler::ADDRESSING`].
    pub addressing: Addressing,
    /// As [`Sampler::NORMALIZED_COORDINATES`].
    pub normalized_coordinates: bool,
    /// As [`Sampler::NORMALIZED_VALUES`].
    pub normalized_values: bool,
}

/// The alignment of the first texel in bytes. This and the following are limits of all of CUDA's devices.
pub(crate) const ALIGNMENT: usize = 512;
/// The alignment of rows in bytes.
const ROW_ALIGNMENT: usize = 32;
/// The most texels of memory without rows.
const MAX_TEXELS: usize = 1 << 27;
/// The most texels of a row.
const MAX_COLUMNS: usize = 131_072;
/// The most rows.
const MAX_ROWS: usize = 65_000;
/// The most bytes of a row.
const MAX_ROW_BYTES: usize = 2_097_120;

impl Texture {
    /// The texture of a parameter whose elements are `Texel<T, S>`. The other arguments are those of [`Texels::of`].
    pub const fn of<T: TexelFormat, S: Sampler>(param: usize, layered: bool, lengths: &[usize]) -> Self {
        let texels = Texels::of::<T>(layered, lengths);
        let mut texture = Self {
            param,
            texels,
            array: None,
            filter: S::FILTER,
            addressing: S::ADDRESSING,
            normalized_coordinates: S::NORMALIZED_COORDINATES,
            normalized_values: S::NORMALIZED_VALUES,
        };
        texture.array = match texels.geometry {
            Geometry::Line => Some(texture.has_filter()),
            Geometry::Plane { .. } => None,
            Geometry::Volume { .. } | Geometry::Lines { .. } | Geometry::Planes { .. } => Some(true),
        };
        texture
    }

    /// The same, with what the PTX tells about [`Texture::array`]. Without PTX, one dimension is read by `tex1Dfetch`
    /// if the sampler permits that.
    pub const fn array(self, array: bool) -> Self {
        Self {
            array: Some(array),
            ..self
        }
    }

    /// The use of an array that is read through it. (Rows that memory with addresses does not have are those that
    /// `tex2Dgather` reads.)
    pub(crate) fn array_use(&self) -> ArrayUse {
        match matches!(self.texels.geometry, Geometry::Plane { .. }) && self.array == Some(true) {
            true => ArrayUse::Gather,
            false => ArrayUse::Texture,
        }
    }

    /// Whether it does more than to read texels by their number.
    const fn has_filter(&self) -> bool {
        matches!(self.filter, Filter::Linear)
            || self.normalized_coordinates
            || matches!(self.addressing, Addressing::Wrap | Addressing::Mirror)
    }

    /// The reason that CUDA has no such texture, and what to do, if it has none.
    pub(crate) const fn mistake(&self) -> Option<(&'static str, &'static str)> {
        let channel = self.texels.channel;
        let is_float = matches!(channel, Channel::F32);
        let repeats = matches!(self.addressing, Addressing::Wrap | Addressing::Mirror);
        if self.normalized_values && channel.bytes() == 4 {
            return Some((
                "only integers of 8 and 16 bits are read as normalised values",
                "set `NORMALIZED_VALUES` to `false`",
            ));
        }
        if let (Geometry::Line, Some(false)) = (self.texels.geometry, self.array) {
            return match self.has_filter() {
                true => Some((
                    "`tex1Dfetch` reads memory by the number of a texel, without a filter",
                    "use `PointSampler`, or read an `array` by `tex1D`, or declare it as rows, `&[[Texel<T, S>; N]]`, which \
                     `tex2D` reads",
                )),
                false => None,
            };
        }
        if matches!(self.filter, Filter::Linear) && !is_float && !self.normalized_values {
            return Some((
                "there is no mean of integers",
                "use `f32`, or set `NORMALIZED_VALUES` to `true` if they have 8 or 16 bits, or use `Filter::Nearest`",
            ));
        }
        if repeats && !self.normalized_coordinates {
            return Some((
                "only normalised coordinates wrap or are mirrored",
                "set `NORMALIZED_COORDINATES` to `true`, and let the kernel pass coordinates from 0 to 1",
            ));
        }
        None
    }

    /// The reason that memory with addresses, of `bytes` bytes from `start` in its buffer, cannot be read through it.
    pub(crate) fn misfit(&self, start: usize, bytes: usize) -> Option<String> {
        let TexelExtent { width, height, .. } = self.texels.extent(bytes);
        let rows = (self.texels.geometry != Geometry::Line).then_some(height);
        let row_bytes = width.saturating_mul(self.texels.bytes());
        if width == 0 || rows == Some(0) {
            return Some("is empty".to_owned());
        }
        if !start.is_multiple_of(ALIGNMENT) {
            return Some(format!(
                "begins at byte {start} of its buffer, which is no multiple of {ALIGNMENT}"
            ));
        }
        match rows {
            None if width > MAX_TEXELS => Some(format!("has {width} texels: the most are {MAX_TEXELS}")),
            None => None,
            Some(_) if !row_bytes.is_multiple_of(ROW_ALIGNMENT) => Some(format!(
                "has rows of {row_bytes} bytes, which is no multiple of {ROW_ALIGNMENT}"
            )),
            Some(rows) if width > MAX_COLUMNS || rows > MAX_ROWS || row_bytes > MAX_ROW_BYTES => Some(format!(
                "has {rows} rows of {width} texels, {row_bytes} bytes each: the most are {MAX_ROWS}, {MAX_COLUMNS} and \
                 {MAX_ROW_BYTES}"
            )),
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_must_fit_the_texture() {
        let rows = Texture::of::<[u8; 4], PointSampler>(0, false, &[8]);
        assert_eq!(rows.misfit(512, 96), None);
        assert_eq!(rows.misfit(0, 0).unwrap(), "is empty");
        assert!(rows.misfit(256, 96).unwrap().contains("no multiple of 512"));
        assert!(rows.misfit(0, 65_001 * 32).unwrap().contains("65001 rows of 8 texels"));
        let narrow = Texture::of::<f32, PointSampler>(0, false, &[7]);
        assert!(narrow.misfit(0, 28).unwrap().contains("28 bytes"));
        let linear = Texture::of::<f32, PointSampler>(0, false, &[]);
        assert_eq!(linear.misfit(0, 12), None);
        assert!(linear.misfit(0, 4 * MAX_TEXELS + 4).is_some());
    }

    #[test]
    fn cuda_does_not_have_all_textures() {
        let texture = Texture::of::<u8, PointSampler>(0, false, &[32]);
        assert_eq!(texture.mistake(), None);
        let linear = Texture {
            filter: Filter::Linear,
            ..texture
        };
        assert!(linear.mistake().unwrap().0.contains("mean of integers"));
        let values = Texture {
            normalized_values: true,
            ..linear
        };
        assert_eq!(values.mistake(), None);
        let words = Texture {
            normalized_values: true,
            ..Texture::of::<u32, PointSampler>(0, false, &[32])
        };
        assert!(words.mistake().unwrap().0.contains("8 and 16 bits"));
        let wraps = Texture {
            addressing: Addressing::Wrap,
            ..texture
        };
        assert!(wraps.mistake().unwrap().0.contains("wrap"));
        let line = Texture {
            texels: Texels {
                geometry: Geometry::Line,
                ..values.texels
            },
            ..values
        };
        assert!(line.array(false).mistake().unwrap().0.contains("number of a texel"));
        assert_eq!(line.array(true).mistake(), None);
    }
}
