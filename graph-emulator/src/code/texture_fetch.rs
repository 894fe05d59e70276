//! `tex`, `tld4` and `txq`, `suld` and `sust`: accesses of memory through a texture or a surface, and questions about a
//! texture. The handle is a number in a register.

use graph_ptx::Geometry;

use super::Slot;
use crate::fault::Operation;

/// `tex` and `tld4`
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureFetch {
    /// The register of the handle, which has 64 bits.
    pub(crate) handle: Slot,
    pub(crate) result: TexelType,
    pub(crate) at: Place,
    /// Whether the coordinates are `f32`s, rather than integers.
    pub(crate) floats: bool,
    /// The channel that `tld4` reads of each of the four texels; `None` for `tex`.
    pub(crate) gather: Option<u8>,
    /// The registers of the four results, each of which may be `DISCARD`.
    pub(crate) d: [Slot; 4],
}

/// The type of the results of a [`TextureFetch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TexelType {
    Integer,
    F32,
}

/// The place of a texel, as an instruction gives it. The registers have 32 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) geometry: Geometry,
    /// The layer, if there are layers.
    pub(crate) layer: Option<Slot>,
    /// The coordinates: as many as the geometry has dimensions.
    coordinates: [Slot; 3],
}

impl Place {
    /// A place with these coordinates: as many as the geometry has dimensions.
    pub(crate) fn new(geometry: Geometry, layer: Option<Slot>, coordinates: &[Slot]) -> Self {
        let mut all = [0; 3];
        for (place, slot) in all.iter_mut().zip(coordinates) {
            *place = *slot;
        }
        Self {
            geometry,
            layer,
            coordinates: all,
        }
    }

    /// The registers of the coordinates, without the layer.
    pub(crate) fn coordinates(&self) -> &[Slot] {
        &self.coordinates[..self.geometry.dimensions()]
    }
}

/// `suld` and `sust`
#[derive(Clone, Copy, Debug)]
pub(crate) struct SurfaceAccess {
    /// The register of the handle, which has 64 bits.
    pub(crate) handle: Slot,
    pub(crate) store: bool,
    /// The place. Its first coordinate counts bytes.
    pub(crate) at: Place,
    pub(crate) outside: Outside,
    /// The bytes of an element: 1, 2, 4 or 8.
    pub(crate) bytes: u8,
    /// The elements: 1, 2 or 4.
    pub(crate) count: u8,
    /// The registers of the elements. Those that are loaded may be `DISCARD`.
    pub(crate) values: [Slot; 4],
}

impl SurfaceAccess {
    /// The access that it makes.
    pub(crate) fn operation(&self) -> Operation {
        if self.store { Operation::Store } else { Operation::Load }
    }
}

/// The effect of an access outside of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outside {
    /// It is a fault.
    Trap,
    /// It is one at the border.
    Clamp,
    /// Loads return zero, and stores have no effect.
    Zero,
}

/// `txq`
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureQuery {
    pub(crate) handle: Slot,
    pub(crate) d: Slot,
    pub(crate) side: Side,
}

/// A size that a query asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Width,
    Height,
    Depth,
}
