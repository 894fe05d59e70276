//! The parameters of a declaration against those of the PTX: number, size, alignment, floats and integers.

use super::declaration::Declaration;
use super::param::{Kind, Param, Value, push, signature};
use super::source::Source;
use super::text::text;
use graph_plan::{Diagnostic, Scalar};
use graph_ptx::ast::Type;
use graph_ptx::{KernelSummary, ParamSummary};

/// A by-value type that only rustc knows, and the size and alignment that it must have.
pub(super) struct Layout {
    pub(super) ty: syn::Type,
    pub(super) size: usize,
    pub(super) align: usize,
    /// Of the message: what comes before the type's own size, and what comes after its alignment.
    pub(super) before: String,
    pub(super) after: String,
}

/// Do the parameters fit, as far as can be told here? `layouts` gets what rustc must tell.
pub(super) fn check(
    declaration: &mut Declaration,
    summary: &KernelSummary,
    source: &Source,
    layouts: &mut Vec<Layout>,
) -> bool {
    let (declared, actual) = (declaration.params.len(), summary.params.len());
    if declared != actual {
        let message = format!(
            "the kernel `{}` takes {actual} parameter{}, but {declared} {} declared",
            declaration.name(),
            if actual == 1 { "" } else { "s" },
            if declared == 1 { "is" } else { "are" },
        );
        let list: Vec<String> = summary.params.iter().map(directive).collect();
        let note = match list.is_empty() {
            true => format!("on line {} of `{}`", summary.line, source.path),
            false => format!("on line {} of `{}`: {}", summary.line, source.path, list.join(", ")),
        };
        declaration.report.push(
            declaration.ident.span(),
            &signature(message)
                .note(note)
                .help("declare one parameter for each of these"),
        );
        return false;
    }
    let mut fits = true;
    for (param, facts) in declaration.params.iter().zip(&summary.params) {
        let note = format!("it is {} of `{}` in `{}`", directive(facts), summary.name, source.path);
        let (ty, fault) = match &param.kind {
            Kind::Buffer(buffer) => (&buffer.ty, reference(param, facts)),
            Kind::Value(value) => (&value.ty, by_value(param, value, facts, &note, layouts)),
            Kind::Invalid => {
                fits = false;
                continue;
            }
        };
        if let Some(fault) = fault {
            fits = false;
            push(ty, &fault.note(note), &mut declaration.report);
        }
    }
    fits
}

/// `.param .u64 x` and `.param .align 4 .b8 x[12]`
fn directive(param: &ParamSummary) -> String {
    let (ty, name) = (name(param.ty), &param.name);
    match param.array {
        true => format!(
            "`.align {} {ty} {name}[{}]`",
            param.align,
            param.size / param.ty.size().max(1) as u64
        ),
        false => format!("`{ty} {name}`"),
    }
}

/// As it is written: `.f32`.
fn name(ty: Type) -> String {
    format!(".{ty:?}").to_lowercase()
}

fn reference(param: &Param, facts: &ParamSummary) -> Option<Diagnostic> {
    if facts.size == 8 && !facts.array && !is_float(facts.ty) {
        return None;
    }
    let message = format!(
        "`{}` is memory, but the kernel takes {} by value",
        param.name(),
        bytes(facts.size)
    );
    Some(signature(message).help(format!("declare it {}", suggestion(param, facts))))
}

fn by_value(
    param: &Param,
    value: &Value,
    facts: &ParamSummary,
    note: &str,
    layouts: &mut Vec<Layout>,
) -> Option<Diagnostic> {
    let (name, ty) = (param.name(), text(&value.ty));
    let size = value.scalar.size();
    if size == 0 {
        layouts.push(Layout {
            ty: value.ty.clone(),
            size: usize::try_from(facts.size).unwrap_or(usize::MAX),
            align: facts.align as usize,
            before: format!("`{name}` is `{ty}`, of "),
            after: format!(
                ", but the kernel takes {} aligned to {} [signature]\nnote: {note}",
                bytes(facts.size),
                facts.align
            ),
        });
        return None;
    }
    let float = matches!(value.scalar, Scalar::F32 | Scalar::F64);
    let fault = if size as u64 != facts.size {
        let mine = bytes(size as u64);
        signature(format!(
            "`{name}` is `{ty}`, of {mine}, but the kernel takes {}",
            bytes(facts.size)
        ))
    } else if size as u64 != u64::from(facts.align) {
        let align = facts.align;
        signature(format!(
            "`{name}` is `{ty}`, aligned to {size}, but the kernel's is aligned to {align}"
        ))
    } else if (float && is_integer(facts.ty)) || (!float && is_float(facts.ty)) {
        let kind = if float { "an integer" } else { "a floating-point number" };
        signature(format!("`{name}` is `{ty}`, but the kernel takes {kind}"))
    } else {
        return None;
    };
    Some(fault.help(format!("declare it {}", suggestion(param, facts))))
}

/// A declaration that fits.
fn suggestion(param: &Param, facts: &ParamSummary) -> String {
    let name = param.name();
    if facts.array {
        return format!(
            "as a `#[repr(C)]` struct of {}, aligned to {}",
            bytes(facts.size),
            facts.align
        );
    }
    match facts.ty {
        Type::F32 => format!("`{name}: f32`"),
        Type::F64 => format!("`{name}: f64`"),
        Type::S8 | Type::S16 | Type::S32 | Type::S64 => format!("`{name}: i{}`", facts.size * 8),
        _ if facts.size == 8 => format!("`{name}: u64`, or `{name}: &[T]` or `{name}: &mut [T]` if it is memory"),
        _ => format!("`{name}: u{}`", facts.size * 8),
    }
}

fn bytes(size: u64) -> String {
    if size == 1 {
        "1 byte".to_owned()
    } else {
        format!("{size} bytes")
    }
}

fn is_float(ty: Type) -> bool {
    matches!(
        ty,
        Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2 | Type::F32 | Type::F64
    )
}

fn is_integer(ty: Type) -> bool {
    matches!(
        ty,
        Type::U8 | Type::U16 | Type::U32 | Type::U64 | Type::S8 | Type::S16 | Type::S32 | Type::S64
    )
}
