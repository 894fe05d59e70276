//! Memory that kernels access through the handle of a texture or a surface: its dimensions and the types of its texels.

/// The dimensions of memory that a kernel accesses through a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Geometry {
    /// Memory that is no CUDA array and has no rows, which textures alone have: `tex.1d` with an integer coordinate
    /// (`tex1Dfetch`).
    Linear,
    /// `1d`: a CUDA array of one dimension.
    Line,
    /// `a1d`: layers of one dimension.
    LayeredLine,
    /// `2d`: rows of texels.
    Plane,
    /// `a2d`: layers of rows.
    LayeredPlane,
    /// `3d`: slices of rows.
    Volume,
}

impl Geometry {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Linear,
        Self::Line,
        Self::LayeredLine,
        Self::Plane,
        Self::LayeredPlane,
        Self::Volume,
    ];

    /// The geometry that an instruction names so; `1d` is [`Geometry::Line`].
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "1d" => Self::Line,
            "a1d" => Self::LayeredLine,
            "2d" => Self::Plane,
            "a2d" => Self::LayeredPlane,
            "3d" => Self::Volume,
            _ => return None,
        })
    }

    /// The number of dimensions of a texel's place, without the layer.
    pub const fn dimensions(self) -> usize {
        match self {
            Self::Linear | Self::Line | Self::LayeredLine => 1,
            Self::Plane | Self::LayeredPlane => 2,
            Self::Volume => 3,
        }
    }

    /// Whether it has layers.
    pub const fn is_layered(self) -> bool {
        match self {
            Self::LayeredLine | Self::LayeredPlane => true,
            Self::Linear | Self::Line | Self::Plane | Self::Volume => false,
        }
    }
}

/// The type of a channel of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of Rust's types")]
pub enum Channel {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
}

impl Channel {
    /// The size in bytes.
    pub const fn bytes(self) -> u8 {
        match self {
            Channel::U8 | Channel::I8 => 1,
            Channel::U16 | Channel::I16 => 2,
            Channel::U32 | Channel::I32 | Channel::F32 => 4,
        }
    }
}
