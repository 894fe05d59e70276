//! The texels that a read through a texture needs, and their weights.

use super::registers::Registers;
use crate::code::{Coordinates, TextureFetch};
use crate::memory::texture::{Addressing, Filter, Texture};

/// The texels that one lane reads: their addresses, and the weight of each. Outside of the texture, there is no
/// address: such a texel is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Texels {
    pub(crate) all: [(Option<u64>, f64); 4],
    /// The number of them that count: 1 or 4.
    pub(crate) count: usize,
}

/// The texels of a row or a column: two, and the weight of the second.
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
        let word = |slot| registers.get32(slot)[lane];
        let (columns, rows) = match (op.at, texture.height) {
            (Coordinates::Index(index), None) => {
                let index = usize::try_from(word(index) as i32).ok();
                (one(index.filter(|&index| index < texture.width)), one(Some(0)))
            }
            (Coordinates::Integers(_), Some(_)) if texture.normalized_coordinates => {
                return Err("its coordinates are normalised, but an integer is given".to_owned());
            }
            (Coordinates::Integers([x, y]), Some(height)) => {
                let texel = |slot, len| one(inside(texture.addressing, i64::from(word(slot) as i32), len));
                (texel(x, texture.width), texel(y, height))
            }
            (Coordinates::Floats([x, y]), Some(height)) => {
                let pair = |slot, len| pair(texture, f32::from_bits(word(slot)), len);
                (pair(x, texture.width), pair(y, height))
            }
            (Coordinates::Index(_), Some(_)) => return Err("it has rows, but is read by `tex.1d`".to_owned()),
            (_, None) => return Err("it has no rows, but is read by `tex.2d`".to_owned()),
        };
        let texel = |column: usize, row: usize| {
            let address = columns.texels[column].zip(rows.texels[row]);
            let weight = |pair: &Pair, second| if second == 1 { pair.weight } else { 1.0 - pair.weight };
            (
                address.map(|(column, row)| texture.texel(column, row)),
                weight(&columns, column) * weight(&rows, row),
            )
        };
        let all = [texel(0, 0), texel(1, 0), texel(0, 1), texel(1, 1)];
        let count = match (op.at, texture.filter) {
            (Coordinates::Floats(_), Filter::Linear) => 4,
            (Coordinates::Index(_) | Coordinates::Integers(_), _) | (Coordinates::Floats(_), Filter::Nearest) => 1,
        };
        Ok((*texture, Texels { all, count }))
    }

    /// The texels that count.
    pub(crate) fn used(&self) -> &[(Option<u64>, f64)] {
        &self.all[..self.count]
    }
}

/// A single texel.
fn one(texel: Option<usize>) -> Pair {
    Pair {
        texels: [texel; 2],
        weight: 0.0,
    }
}

/// The texel with this number, of `len` in a row or a column.
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

/// The texels that a coordinate is between, of `len` in a row or a column.
fn pair(texture: &Texture, coordinate: f32, len: usize) -> Pair {
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
    match texture.filter {
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
            width: 4,
            height: Some(4),
            filter,
            addressing,
            normalized_coordinates: normalized,
            normalized_values: false,
        }
    }

    fn nearest(addressing: Addressing, normalized: bool, coordinates: &[f32]) -> Vec<Option<usize>> {
        let texture = texture(Filter::Nearest, addressing, normalized);
        coordinates.iter().map(|&at| pair(&texture, at, 4).texels[0]).collect()
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
        let found = pair(&linear, 1.75, 4);
        assert_eq!((found.texels, found.weight), ([Some(1), Some(2)], 0.25));
        assert_eq!(pair(&linear, 0.25, 4).texels, [Some(0), Some(0)]);
        assert_eq!(pair(&linear, 1.501, 4).weight, 0.0);
        assert_eq!(pair(&linear, 1.503, 4).weight, 1.0 / 256.0);
        let border = texture(Filter::Linear, Addressing::Border, false);
        assert_eq!(pair(&border, 4.0, 4).texels, [Some(3), None]);
    }
}
