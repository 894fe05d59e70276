//! Types as they are written: scalars, and types without parentheses.

use crate::report::error;
use graph_plan::{Code, Diagnostic, Scalar};
use syn::Type;

/// A `signature` error.
pub(in crate::kernels) fn signature(message: impl Into<String>) -> Diagnostic {
    error(Code::Signature, message)
}

/// The scalar type of a by-value parameter.
pub(in crate::kernels) fn scalar(ty: &Type) -> Result<Scalar, Diagnostic> {
    let Type::Path(path) = ty else { return Ok(Scalar::Other) };
    let Some(ident) = path.path.get_ident().filter(|_| path.qself.is_none()) else {
        return Ok(Scalar::Other);
    };
    let name = ident.to_string();
    let instead = match name.as_str() {
        "usize" => "u64",
        "isize" => "i64",
        "bool" => "u8",
        "char" => "u32",
        _ => {
            return Ok(SCALARS
                .iter()
                .find(|(known, _)| *known == name)
                .map_or(Scalar::Other, |(_, scalar)| *scalar));
        }
    };
    Err(signature(format!("`{name}` cannot be passed to a kernel by value")).help(format!("use `{instead}`")))
}

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
pub(super) fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Paren(inner) => bare(&inner.elem),
        Type::Group(inner) => bare(&inner.elem),
        other => other,
    }
}
