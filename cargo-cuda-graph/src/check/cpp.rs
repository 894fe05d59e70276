//! Types of C++, as far as parameters of kernels need them, and the types of Rust that have the same bits.

/// A type of C++, without `const` and its kin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cpp {
    /// A type with a name: `unsigned int`, `float4`, `Params`.
    Named(String),
    /// A pointer, a reference, or an array that is passed as a pointer to its elements.
    Pointer(Box<Cpp>),
}

/// A type of Rust that stands for a type of C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rust {
    pub(super) name: &'static str,
    /// Its size in bytes.
    pub(super) size: u64,
    /// Its alignment in bytes.
    pub(super) align: u64,
    /// The better type that is not part of the standard library.
    pub(super) better: Option<&'static str>,
}

/// `(names of C++, the Rust type, its size, its alignment, a better type)`
type Row = (&'static [&'static str], &'static str, u64, u64, Option<&'static str>);

const ROWS: &[Row] = &[
    (&["float"], "f32", 4, 4, None),
    (&["double"], "f64", 8, 8, None),
    (&["int", "signed", "signed int", "int32_t"], "i32", 4, 4, None),
    (&["unsigned", "unsigned int", "uint", "uint32_t"], "u32", 4, 4, None),
    (&["char", "signed char", "int8_t"], "i8", 1, 1, None),
    (&["unsigned char", "uchar", "uint8_t"], "u8", 1, 1, None),
    (&["short", "short int", "signed short", "int16_t"], "i16", 2, 2, None),
    (
        &["unsigned short", "unsigned short int", "ushort", "uint16_t"],
        "u16",
        2,
        2,
        None,
    ),
    (
        &["long long", "long long int", "long", "long int", "int64_t", "ptrdiff_t"],
        "i64",
        8,
        8,
        None,
    ),
    (
        &[
            "unsigned long long",
            "unsigned long long int",
            "unsigned long",
            "unsigned long int",
            "uint64_t",
            "size_t",
        ],
        "u64",
        8,
        8,
        None,
    ),
    (&["bool"], "u8", 1, 1, Some("the kernel takes a `bool`: pass 0 or 1")),
    (&["half", "__half", "_Float16"], "u16", 2, 2, Some("or `half::f16`")),
    (&["__nv_bfloat16", "nv_bfloat16"], "u16", 2, 2, Some("or `half::bf16`")),
    (&["half2", "__half2"], "[u16; 2]", 4, 2, Some("or `[half::f16; 2]`")),
    (
        &["__nv_bfloat162", "nv_bfloat162"],
        "[u16; 2]",
        4,
        2,
        Some("or `[half::bf16; 2]`"),
    ),
    (&["float2"], "[f32; 2]", 8, 4, None),
    (&["float3"], "[f32; 3]", 12, 4, None),
    (&["float4"], "[f32; 4]", 16, 4, None),
    (&["double2"], "[f64; 2]", 16, 8, None),
    (&["int2"], "[i32; 2]", 8, 4, None),
    (&["int3"], "[i32; 3]", 12, 4, None),
    (&["int4"], "[i32; 4]", 16, 4, None),
    (&["uint2"], "[u32; 2]", 8, 4, None),
    (&["uint3"], "[u32; 3]", 12, 4, None),
    (&["uint4"], "[u32; 4]", 16, 4, None),
    (&["char4"], "[i8; 4]", 4, 1, None),
    (&["uchar4"], "[u8; 4]", 4, 1, None),
];

impl Cpp {
    /// The Rust type with the same bits; `None` for pointers, and for types that are not known here.
    pub(super) fn rust(&self) -> Option<Rust> {
        let Self::Named(name) = self else { return None };
        let row = ROWS.iter().find(|(names, ..)| names.contains(&name.as_str()));
        row.map(|&(_, name, size, align, better)| Rust {
            name,
            size,
            align,
            better,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cpp_have_rust_types() {
        let rust = |name: &str| Cpp::Named(name.to_owned()).rust().map(|rust| rust.name);
        assert_eq!(rust("unsigned long long"), Some("u64"));
        assert_eq!(rust("float4"), Some("[f32; 4]"));
        assert_eq!(rust("Params"), None);
        assert_eq!(Cpp::Pointer(Box::new(Cpp::Named("float".to_owned()))).rust(), None);
    }
}
