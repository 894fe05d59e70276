//! The types of numbers that kernels take by value.

/// The type of a by-value parameter, if contracts can use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are Rust's own type names")]
pub enum Scalar {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
    /// A struct, an array, a half: contracts cannot use it.
    Other,
}

impl Scalar {
    /// The name of the type, with the article that belongs to it.
    pub(crate) const fn described(self) -> &'static str {
        match self {
            Scalar::U8 => "a `u8`",
            Scalar::U16 => "a `u16`",
            Scalar::U32 => "a `u32`",
            Scalar::U64 => "a `u64`",
            Scalar::I8 => "an `i8`",
            Scalar::I16 => "an `i16`",
            Scalar::I32 => "an `i32`",
            Scalar::I64 => "an `i64`",
            Scalar::F32 => "an `f32`",
            Scalar::F64 => "an `f64`",
            Scalar::Other => "of another type",
        }
    }

    /// Whether it is an integer type.
    pub const fn is_integer(self) -> bool {
        self.range().is_some()
    }

    /// The least and the greatest value of an integer type.
    pub(crate) const fn range(self) -> Option<(i128, i128)> {
        match self {
            Scalar::U8 => Some((0, u8::MAX as i128)),
            Scalar::U16 => Some((0, u16::MAX as i128)),
            Scalar::U32 => Some((0, u32::MAX as i128)),
            Scalar::U64 => Some((0, u64::MAX as i128)),
            Scalar::I8 => Some((i8::MIN as i128, i8::MAX as i128)),
            Scalar::I16 => Some((i16::MIN as i128, i16::MAX as i128)),
            Scalar::I32 => Some((i32::MIN as i128, i32::MAX as i128)),
            Scalar::I64 => Some((i64::MIN as i128, i64::MAX as i128)),
            Scalar::F32 | Scalar::F64 | Scalar::Other => None,
        }
    }

    /// Size in bytes; 0 for [`Scalar::Other`].
    pub const fn size(self) -> usize {
        match self {
            Scalar::U8 | Scalar::I8 => 1,
            Scalar::U16 | Scalar::I16 => 2,
            Scalar::U32 | Scalar::I32 | Scalar::F32 => 4,
            Scalar::U64 | Scalar::I64 | Scalar::F64 => 8,
            Scalar::Other => 0,
        }
    }
}
