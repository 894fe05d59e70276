//! `tex` and `txq`: reads of memory through a texture, and questions about one. The handle is a number in a register.

use super::Slot;

/// `tex.1d` and `tex.2d`
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureFetch {
    /// The register of the handle, which has 64 bits.
    pub(crate) handle: Slot,
    pub(crate) result: TexelType,
    pub(crate) at: Coordinates,
    /// The registers of the four results, each of which may be `DISCARD`.
    pub(crate) d: [Slot; 4],
}

/// The type of the results of a [`TextureFetch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TexelType {
    Integer,
    F32,
}

/// The registers of the coordinates, which have 32 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Coordinates {
    /// The number of a texel of `tex.1d`.
    Index(Slot),
    /// The column and the row of `tex.2d`, as integers.
    Integers([Slot; 2]),
    /// The column and the row of `tex.2d`, as `f32`s.
    Floats([Slot; 2]),
}

/// `txq`
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureQuery {
    pub(crate) handle: Slot,
    pub(crate) d: Slot,
    /// Whether it asks for the number of rows, or for the texels of a row.
    pub(crate) height: bool,
}
