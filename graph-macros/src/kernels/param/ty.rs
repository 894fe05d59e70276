//! Types as they are written: scalars, and types without parentheses.

use crate::report::error;
use graph_plan::{Code, Diagnostic, Scalar};
use syn::Type;

/// A `signature` error.
pub(in crate::kernels) fn signature(message: impl Into<String>) -> Diagnostic {
    error(Code::Signature, message)
}

/// The scalar type of a by-value parameter, by its plain name.
pub(in crate::kernels) fn scalar(ty: &Type) -> Result<Scalar, Unfit> {
    let Type::Path(path) = ty else { return Ok(Scalar::Other) };
    let Some(ident) = path.path.get_ident().filter(|_| path.qself.is_none()) else {
        return Ok(Scalar::Other);
    };
    let is_named = |name: &str| ident == name;
    if let Some(&(name, instead)) = UNFIT.iter().find(|(name, _)| is_named(name)) {
        return Err(Unfit { name, instead });
    }
    let known = SCALARS.iter().find(|(name, _)| is_named(name));
    Ok(known.map_or(Scalar::Other, |(_, scalar)| *scalar))
}

/// A type that no kernel takes by value, since its size or its values are those of the host.
pub(in crate::kernels) struct Unfit {
    name: &'static str,
    instead: &'static str,
}

impl Unfit {
    /// The error where no PTX tells which type the kernel takes.
    pub(in crate::kernels) fn error(self) -> Diagnostic {
        let Self { name, instead } = self;
        signature(format!("`{name}` cannot be passed to a kernel by value")).help(format!("use {instead}"))
    }
}

/// The types that no kernel takes by value, and the words for those to use instead.
const UNFIT: [(&str, &str); 4] = [
    ("usize", "`u64` for 8 bytes (`size_t`), `u32` for 4 (`unsigned`)"),
    ("isize", "`i64` for 8 bytes (`long long`), `i32` for 4 (`int`)"),
    ("bool", "`u8`"),
    ("char", "`u32`"),
];

/// Whether the type is one of the scalars that contracts and checks know, by its plain name.
pub(in crate::kernels) fn is_primitive(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if SCALARS.iter().any(|(known, _)| path.path.is_ident(known)))
}

/// The scalars that contracts and checks know, by name.
const SCALARS: [(&str, Scalar); 10] = [
    ("u8", Scalar::U8),
    ("u16", Scalar::U16),
    ("u32", Scalar::U32),
    ("u64", Scalar::U64),
    ("i8", Scalar::I8),
    ("i16", Scalar::I16),
    ("i32", Scalar::I32),
    ("i64", Scalar::I64),
    ("f32", Scalar::F32),
    ("f64", Scalar::F64),
];

/// The type without parentheses and invisible groups.
pub(in crate::kernels) fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Paren(inner) => bare(&inner.elem),
        Type::Group(inner) => bare(&inner.elem),
        other => other,
    }
}
