//! The Rust declaration of a kernel, as far as its PTX tells.

use crate::ast::{Module, Type};
use crate::{ParamSummary, summarize};

/// The type that a parameter could be declared with.
pub(super) enum Proposal {
    /// A pointer: its value is used as an address. The type of the elements is written `T`, since PTX does not name it.
    Memory {
        /// Whether the kernel stores there.
        mutable: bool,
    },
    /// Any other parameter.
    Value(String),
}

impl Proposal {
    /// The type as Rust writes it: `&mut [T]`.
    pub(super) fn ty(&self) -> &str {
        match self {
            Self::Memory { mutable: true } => "&mut [T]",
            Self::Memory { mutable: false } => "&[T]",
            Self::Value(ty) => ty,
        }
    }
}

/// A type for each parameter of a kernel; none if the module has no such kernel.
pub(super) fn proposals(entry: &str, module: &Module) -> Vec<Proposal> {
    let Some(by_value) = summarize(module, entry, &[]) else {
        return Vec::new();
    };
    let is_memory = |param: &ParamSummary| param.size == 8 && !param.array && param.address.is_some();
    let pointers: Vec<bool> = by_value.params.iter().map(is_memory).collect();
    let Some(summary) = summarize(module, entry, &pointers) else {
        return Vec::new();
    };
    let params = summary.params.iter().zip(pointers);
    params
        .map(|(param, is_memory)| match is_memory {
            true => Proposal::Memory {
                mutable: param.access.stored.is_some(),
            },
            false => Proposal::Value(value(param)),
        })
        .collect()
}

/// A declaration to paste: `fn name(first: &mut [T], second: u32);`. `declared` are the names and types of the first
/// parameters.
pub(super) fn declaration(name: &str, entry: &str, module: &Module, declared: &[(&str, &str)]) -> String {
    let proposals = proposals(entry, module);
    let params = proposals
        .iter()
        .enumerate()
        .map(|(index, proposal)| match declared.get(index) {
            Some((name, ty)) => format!("{name}: {ty}"),
            None => format!("p{index}: {}", proposal.ty()),
        });
    format!("fn {name}({});", params.collect::<Vec<_>>().join(", "))
}

/// A type of the right size and alignment.
fn value(param: &ParamSummary) -> String {
    if param.array {
        let unit = u64::from(param.align.clamp(1, 8));
        return format!("[u{}; {}]", unit * 8, param.size / unit);
    }
    match param.ty {
        Type::F32 => "f32".to_owned(),
        Type::F64 => "f64".to_owned(),
        Type::S8 | Type::S16 | Type::S32 | Type::S64 => format!("i{}", param.size.saturating_mul(8)),
        _ => format!("u{}", param.size.saturating_mul(8)),
    }
}
