//! The texels that an access through a texture or a surface needs, and their weights.

use graph_ptx::Geometry;

use super::registers::Registers;
use crate::code::{Outside, Place, SurfaceAccess, TextureFetch};
use crate::memory::texture::{Addressing, Extent, Filter, Surface, Texture};

/// The texels that one lane reads: their addresses, and the weight of each in 256ths. Outside of the texture, there is
/// no address: such a texel is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Texels {
    all: [(Option<u64>, u32); 8],
    /// The number of them that count: 1, 2, 4 or 8.
    count: usize,
}

/// The texels along one side: two, and the weight of the second in 256ths.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pair {
    texels: [Option<usize>; 2],
    weight: u32,
}

impl Texels {
    /// The texels that a lane reads.
    pub(crate) fn of(
        registers: &Registers,
        textures: &[Texture],
        op: &TextureFetch,
        lane: usize,
    ) -> Result<(Texture, Texels), String> {
        let texture = Texture::find(textures, registers.get64(op.handle)[lane])?;
        check_geometry(&texture.extent, op.at.geometry)?;
        if !op.floats && texture.normalized_coordinates {
            return Err("its coordinates are normalised, but an integer is given".to_owned());
        }
        let filter = match (op.floats, op.gather) {
            (false, _) => Filter::Nearest,
            (true, Some(_)) => Filter::Linear,
            (true, None) => texture.filter,
        };
        let sides = texture.extent.sides();
        let mut pairs = [one(Some(0)); 3];
        for ((pair, &slot), len) in pairs.iter_mut().zip(op.at.coordinates()).zip(sides) {
            let word = registers.get32(slot)[lane];
            *pair = if op.floats {
                match filter {
                    Filter::Nearest => nearest(&texture, f32::from_bits(word), len),
                    Filter::Linear => linear(&texture, f32::from_bits(word), len, op.gather.is_none()),
                }
            } else {
                // In every mode, texels outside are zero.
                one(inside(Addressing::Border, i64::from(word as i32), len))
            };
        }
        if let Some(layer) = layer(registers, &op.at, sides, lane) {
            pairs[2] = one(Some(layer));
        }
        let count = match filter {
            Filter::Nearest => 1,
            Filter::Linear => 1 << op.at.geometry.dimensions(),
        };
        let mut all = [(None, 0); 8];
        let weights = weights(pairs.map(|pair| pair.weight));
        for (index, (texel, weight)) in all[..count].iter_mut().zip(weights).enumerate() {
            let place = [0, 1, 2].map(|axis| pairs[axis].texels[index >> axis & 1]);
            let address = match place {
                [Some(column), Some(row), Some(slice)] => {
                    let place = [column, row, slice];
                    Some(texture.extent.texel(texture.address, texture.texel_bytes(), place))
                }
                _ => None,
            };
            *texel = (address, weight);
        }
        Ok((texture, Texels { all, count }))
    }

    /// The texels that count. Those along the first side are next to each other.
    pub(crate) fn used(&self) -> &[(Option<u64>, u32)] {
        &self.all[..self.count]
    }
}

/// The weights of eight texels in 256ths, from those of the second ones along each side. Those of texels that do not
/// count are zero. Hardware rounds them in this way, so that their sum is 256.
fn weights([x, y, z]: [u32; 3]) -> [u32; 8] {
    let mut weights = [0; 8];
    for (four, slice) in weights.chunks_exact_mut(4).zip([256 - z, z]) {
        let second = (slice * x + 128) >> 8;
        let first = slice - second;
        let (low_second, low_first) = ((second * y + 128) >> 8, (first * y + 127) >> 8);
        four.copy_from_slice(&[first - low_first, second - low_second, low_first, low_second]);
    }
    weights
}

/// Fails if memory with these texels is accessed as if it had others.
fn check_geometry(extent: &Extent, geometry: Geometry) -> Result<(), String> {
    let name = |geometry| match geometry {
        Geometry::Linear => "memory without rows",
        Geometry::Line => "an array of one row",
        Geometry::LayeredLine => "layers of one row",
        Geometry::Plane => "rows of texels",
        Geometry::LayeredPlane => "layers of rows",
        Geometry::Volume => "slices of rows",
    };
    let own = extent.geometry();
    if own == geometry {
        return Ok(());
    }
    Err(format!("it has {}, but is accessed as {}", name(own), name(geometry)))
}

/// The layer that a lane names, if there are layers: the nearest that there is.
fn layer(registers: &Registers, at: &Place, [_, _, layers]: [usize; 3], lane: usize) -> Option<usize> {
    let layer = registers.get32(at.layer?)[lane] as usize;
    Some(layer.min(layers.saturating_sub(1)))
}

/// The surface that a lane accesses, and the address of the first byte there. Outside of the surface, there is none.
pub(crate) fn surfel(
    registers: &Registers,
    surfaces: &[Surface],
    op: &SurfaceAccess,
    lane: usize,
) -> Result<(Surface, Option<u64>), String> {
    let surface = Surface::find(surfaces, registers.get64(op.handle)[lane])?;
    check_geometry(&surface.extent, op.at.geometry)?;
    let sides = surface.extent.sides();
    let [width, ..] = sides;
    let row_bytes = width.saturating_mul(surface.texel_bytes() as usize);
    let bytes = usize::from(op.bytes) * usize::from(op.count);
    let mut place = [0; 3];
    let mut is_inside = true;
    for (axis, &slot) in op.at.coordinates().iter().enumerate() {
        let coordinate = i64::from(registers.get32(slot)[lane] as i32);
        let (unit, elements) = match axis {
            0 => (bytes, row_bytes / bytes),
            _ => (1, sides[axis]),
        };
        if coordinate % (unit as i64) != 0 {
            return Err(format!(
                "byte {coordinate} is no multiple of the {bytes} bytes that are accessed"
            ));
        }
        let last = i64::try_from(elements.saturating_mul(unit)).unwrap_or(i64::MAX) - unit as i64;
        if last < 0 {
            return Ok((surface, None));
        }
        is_inside &= (0..=last).contains(&coordinate);
        place[axis] = usize::try_from(coordinate.clamp(0, last)).unwrap_or(0);
    }
    if let Some(layer) = op.at.layer {
        // The hardware looks at 16 bits.
        let layer = registers.get32(layer)[lane] as usize & 0xffff;
        is_inside &= layer < sides[2];
        place[2] = layer.min(sides[2].saturating_sub(1));
    }
    if !is_inside && op.outside != Outside::Clamp {
        return Ok((surface, None));
    }
    let first = [0, place[1], place[2]];
    let row = surface.extent.texel(surface.address, surface.texel_bytes(), first);
    Ok((surface, Some(row.wrapping_add(place[0] as u64))))
}

/// A single texel.
fn one(texel: Option<usize>) -> Pair {
    Pair {
        texels: [texel; 2],
        weight: 0,
    }
}

/// The texel with this number, of `len` along a side.
fn inside(addressing: Addressing, index: i64, len: usize) -> Option<usize> {
    let len = i64::try_from(len).ok().filter(|&len| len > 0)?;
    let index = match addressing {
        Addressing::Clamp => index.clamp(0, len - 1),
        Addressing::Border => index,
        Addressing::Wrap => index.rem_euclid(len),
        Addressing::Mirror => match index.rem_euclid(2 * len) {
            index if index < len => index,
            index => 2 * len - 1 - index,
        },
    };
    usize::try_from(index).ok().filter(|_| index < len)
}

/// The parts of a normalised coordinate that the hardware keeps.
const COORDINATE_PARTS: f64 = 2_097_152.0;

/// A coordinate in texels, of `len` along a side.
fn place(texture: &Texture, coordinate: f32, len: usize) -> f64 {
    let repeats = match texture.addressing {
        Addressing::Wrap | Addressing::Mirror => true,
        Addressing::Clamp | Addressing::Border => false,
    };
    if coordinate.is_nan() || repeats && coordinate.is_infinite() {
        return 0.0;
    }
    let coordinate = f64::from(coordinate);
    if texture.normalized_coordinates {
        (coordinate * COORDINATE_PARTS).floor() / COORDINATE_PARTS * len as f64
    } else {
        coordinate
    }
}

/// The texel that a coordinate is in, of `len` along a side.
fn nearest(texture: &Texture, coordinate: f32, len: usize) -> Pair {
    let index = place(texture, coordinate, len).floor() as i64;
    one(inside(texture.addressing, index, len))
}

/// The texels that a coordinate is between, of `len` along a side. Their mean is that of the last one alone at the
/// borders, if coordinates are clamped.
fn linear(texture: &Texture, coordinate: f32, len: usize, is_mean: bool) -> Pair {
    // From the middle of the first texel, in 256ths of a texel, which are all that the hardware has.
    let mut parts = ((place(texture, coordinate, len) - 0.5) * 256.0 + 0.5).floor() as i64;
    if is_mean && texture.addressing == Addressing::Clamp {
        parts = parts.clamp(0, (len.saturating_sub(1) as i64).saturating_mul(256));
    }
    let first = parts >> 8;
    Pair {
        texels: [first, first + 1].map(|index| inside(texture.addressing, index, len)),
        weight: (parts & 255) as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graph_ptx::Channel;

    fn texture(filter: Filter, addressing: Addressing, normalized: bool) -> Texture {
        Texture {
            address: 0,
            channel: Channel::F32,
            channels: 1,
            extent: Extent::Plane {
                width: 4,
                height: 4,
                layers: None,
            },
            filter,
            addressing,
            normalized_coordinates: normalized,
            normalized_values: false,
        }
    }

    fn nearest(addressing: Addressing, normalized: bool, coordinates: &[f32]) -> Vec<Option<usize>> {
        let texture = texture(Filter::Nearest, addressing, normalized);
        coordinates
            .iter()
            .map(|&at| super::nearest(&texture, at, 4).texels[0])
            .collect()
    }

    #[test]
    fn coordinates_outside_are_clamped_zero_or_repeated() {
        let at = [-0.5, 0.0, 0.999, 1.0, 3.999, 4.0, 1e30, f32::NAN, f32::INFINITY];
        let expected = [0, 0, 0, 1, 3, 3, 3, 0, 3].map(Some);
        assert_eq!(nearest(Addressing::Clamp, false, &at), expected);
        let expected = [None, Some(0), Some(0), Some(1), Some(3), None, None, Some(0), None];
        assert_eq!(nearest(Addressing::Border, false, &at), expected);
        let at = [-0.1, 0.0, 0.25, 0.99, 1.0, 1.1, -1.1, 2.3];
        assert_eq!(nearest(Addressing::Wrap, true, &at), [3, 0, 1, 3, 0, 0, 3, 1].map(Some));
        let expected = [0, 0, 1, 3, 3, 3, 3, 1].map(Some);
        assert_eq!(nearest(Addressing::Mirror, true, &at), expected);
    }

    #[test]
    fn weights_are_multiples_of_a_256th() {
        let linear = texture(Filter::Linear, Addressing::Clamp, false);
        let found = super::linear(&linear, 1.75, 4, true);
        assert_eq!((found.texels, found.weight), ([Some(1), Some(2)], 64));
        let found = super::linear(&linear, 0.25, 4, true);
        assert_eq!((found.texels, found.weight), ([Some(0), Some(1)], 0));
        assert_eq!(super::linear(&linear, 1.501, 4, true).weight, 0);
        assert_eq!(super::linear(&linear, 1.503, 4, true).weight, 1);
        let border = texture(Filter::Linear, Addressing::Border, false);
        assert_eq!(super::linear(&border, 4.0, 4, true).texels, [Some(3), None]);
    }

    #[test]
    fn weights_add_up_to_one() {
        assert_eq!(weights([0, 0, 0]), [256, 0, 0, 0, 0, 0, 0, 0]);
        // As an H200 rounds them.
        assert_eq!(weights([21, 30, 1]), [207, 19, 27, 2, 1, 0, 0, 0]);
        assert_eq!(weights([192, 229, 46]), [5, 17, 47, 141, 1, 4, 10, 31]);
        for parts in (0..256)
            .step_by(5)
            .flat_map(|x| (0..256).step_by(7).map(move |y| [x, y, (x * y) % 256]))
        {
            assert_eq!(weights(parts).iter().sum::<u32>(), 256, "{parts:?}");
        }
    }
}
