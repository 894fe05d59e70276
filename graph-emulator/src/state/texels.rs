//! The texels that an access through a texture or a surface needs, and their weights.

use graph_ptx::Geometry;

use super::registers::Registers;
use crate::code::{Outside, Place, SurfaceAccess, TextureFetch};
use crate::memory::texture::{Addressing, Extent, Filter, Surface, Texture};

/// The texels that one lane reads: their addresses, and the weight of each. Outside of the texture, there is no
/// address: such a texel is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Texels {
    all: [(Option<u64>, f64); 8],
    /// The number of them that count: 1, 2, 4 or 8.
    count: usize,
}

/// The texels along one side: two, and the weight of the second.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pair {
    texels: [Option<usize>; 2],
    weight: f64,
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
        let filter = match op.gather {
            Some(_) => Filter::Linear,
            None => texture.filter,
        };
        let sides = texture.extent.sides();
        let mut pairs = [one(Some(0)); 3];
        for ((pair, &slot), len) in pairs.iter_mut().zip(op.at.coordinates()).zip(sides) {
            let word = registers.get32(slot)[lane];
            *pair = match op.floats {
                true => self::pair(&texture, filter, f32::from_bits(word), len),
                false => one(numbered(&texture, i64::from(word as i32), len)),
            };
        }
        pairs[2].texels = pairs[2]
            .texels
            .map(|slice| layer(registers, &op.at, sides, lane).or(slice));
        let blends = op.floats && filter == Filter::Linear;
        let count = if blends { 1 << op.at.coordinates().len() } else { 1 };
        let mut all = [(None, 0.0); 8];
        for (index, texel) in all[..count].iter_mut().enumerate() {
            // Which of the two along each side.
            let side = |axis: usize| index >> axis & 1;
            let texels = [0, 1, 2].map(|axis| pairs[axis].texels[side(axis)]);
            let weights = [0, 1, 2].map(|axis| match side(axis) {
                0 => 1.0 - pairs[axis].weight,
                _ => pairs[axis].weight,
            });
            let address = match texels {
                [Some(column), Some(row), Some(slice)] => {
                    let place = [column, row, slice];
                    Some(texture.extent.texel(texture.address, texture.texel_bytes(), place))
                }
                _ => None,
            };
            *texel = (address, weights.iter().product());
        }
        Ok((texture, Texels { all, count }))
    }

    /// The texels that count. Those along the first side are next to each other.
    pub(crate) fn used(&self) -> &[(Option<u64>, f64)] {
        &self.all[..self.count]
    }
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

/// The address of the first byte that a lane accesses through a surface, and its place in words. There is no address
/// outside of the surface.
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
        let len = if axis == 0 {
            row_bytes.saturating_sub(bytes - 1)
        } else {
            sides[axis]
        };
        let last = i64::try_from(len).unwrap_or(i64::MAX) - 1;
        is_inside &= (0..=last).contains(&coordinate);
        let unit = if axis == 0 { bytes as i64 } else { 1 };
        if axis == 0 && coordinate % unit != 0 {
            return Err(format!(
                "byte {coordinate} is no multiple of the {bytes} bytes that are accessed"
            ));
        }
        place[axis] = usize::try_from(coordinate.clamp(0, last.max(0))).unwrap_or(0);
    }
    if let Some(layer) = op.at.layer {
        let layer = registers.get32(layer)[lane] as usize;
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
        weight: 0.0,
    }
}

/// The texel that an integer coordinate names, of `len` along a side.
fn numbered(texture: &Texture, index: i64, len: usize) -> Option<usize> {
    match texture.extent {
        // Outside of memory without rows, all is zero.
        Extent::Linear { .. } => inside(Addressing::Border, index, len),
        Extent::Line { .. } | Extent::Plane { .. } | Extent::Volume { .. } => inside(texture.addressing, index, len),
    }
}

/// The texel with this number, of `len` along a side.
fn inside(addressing: Addressing, index: i64, len: usize) -> Option<usize> {
    let last = i64::try_from(len).ok()?.checked_sub(1).filter(|&last| last >= 0)?;
    let index = match addressing {
        // Mirrored coordinates are within the texels, and only a neighbour can be outside.
        Addressing::Clamp | Addressing::Mirror => index.clamp(0, last),
        Addressing::Border => index,
        Addressing::Wrap => index.rem_euclid(last + 1),
    };
    usize::try_from(index).ok().filter(|&index| index < len)
}

/// The texels that a coordinate is between, of `len` along a side.
fn pair(texture: &Texture, filter: Filter, coordinate: f32, len: usize) -> Pair {
    let coordinate = if coordinate.is_nan() {
        0.0
    } else {
        f64::from(coordinate)
    };
    let whole = coordinate.floor();
    let within = match texture.addressing {
        Addressing::Wrap => coordinate - whole,
        Addressing::Mirror if whole.rem_euclid(2.0) == 1.0 => 1.0 - (coordinate - whole),
        Addressing::Mirror => coordinate - whole,
        Addressing::Clamp | Addressing::Border => coordinate,
    };
    // Infinity has no part within a texel.
    let within = if within.is_nan() { 0.0 } else { within };
    let scaled = match texture.normalized_coordinates {
        true => within * len as f64,
        false => within,
    };
    match filter {
        Filter::Nearest => one(inside(texture.addressing, scaled.floor() as i64, len)),
        Filter::Linear => {
            let from = (scaled - 0.5).floor();
            // The hardware has 8 bits of fraction.
            let weight = (((scaled - 0.5) - from) * 256.0).round() / 256.0;
            let texels = [from as i64, (from as i64).saturating_add(1)];
            Pair {
                texels: texels.map(|index| inside(texture.addressing, index, len)),
                weight: if weight.is_nan() { 0.0 } else { weight },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::texture::Channel;

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
            .map(|&at| pair(&texture, Filter::Nearest, at, 4).texels[0])
            .collect()
    }

    #[test]
    fn coordinates_outside_are_clamped_zero_or_repeated() {
        let at = [-0.5, 0.0, 0.999, 1.0, 3.999, 4.0, 1e30, f32::NAN, f32::INFINITY];
        assert_eq!(
            nearest(Addressing::Clamp, false, &at),
            [0, 0, 0, 1, 3, 3, 3, 0, 3].map(Some)
        );
        assert_eq!(
            nearest(Addressing::Border, false, &at),
            [None, Some(0), Some(0), Some(1), Some(3), None, None, Some(0), None]
        );
        let at = [-0.1, 0.0, 0.25, 0.99, 1.0, 1.1, -1.1, 2.3];
        assert_eq!(nearest(Addressing::Wrap, true, &at), [3, 0, 1, 3, 0, 0, 3, 1].map(Some));
        assert_eq!(
            nearest(Addressing::Mirror, true, &at),
            [0, 0, 1, 3, 3, 3, 3, 1].map(Some)
        );
    }

    #[test]
    fn weights_are_multiples_of_a_256th() {
        let linear = texture(Filter::Linear, Addressing::Clamp, false);
        let found = pair(&linear, Filter::Linear, 1.75, 4);
        assert_eq!((found.texels, found.weight), ([Some(1), Some(2)], 0.25));
        assert_eq!(pair(&linear, Filter::Linear, 0.25, 4).texels, [Some(0), Some(0)]);
        assert_eq!(pair(&linear, Filter::Linear, 1.501, 4).weight, 0.0);
        assert_eq!(pair(&linear, Filter::Linear, 1.503, 4).weight, 1.0 / 256.0);
        let border = texture(Filter::Linear, Addressing::Border, false);
        assert_eq!(pair(&border, Filter::Linear, 4.0, 4).texels, [Some(3), None]);
    }
}
