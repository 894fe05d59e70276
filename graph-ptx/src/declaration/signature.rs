//! The rules about parameters: number, size, alignment, floats and integers, compared with the PTX.

use super::text::bytes;
use super::{Declaration, Kind, Mistake, Param, Place, Rule};
use crate::ast::Type;
use crate::{KernelSummary, ParamSummary};

/// Whether the parameters fit, as far as their sizes are known.
pub(super) fn check(
    declaration: &Declaration,
    summary: &KernelSummary,
    path: &str,
    mistakes: &mut Vec<Mistake>,
) -> bool {
    let (declared, actual) = (declaration.params.len(), summary.params.len());
    if declared != actual {
        mistakes.push(wrong_count(declaration, summary, path));
        return false;
    }
    let mut fits = true;
    for (index, (param, facts)) in declaration.params.iter().zip(&summary.params).enumerate() {
        let fault = match param.kind {
            Kind::Buffer { .. } => reference(param, facts),
            Kind::Number { size, float } => number(param, size, float, facts),
            Kind::Value { size, align } => value(param, size, align, facts),
            Kind::Unsized => None,
            Kind::Invalid => {
                fits = false;
                continue;
            }
        };
        if let Some((message, help)) = fault {
            fits = false;
            let fault = Mistake::new(Rule::Signature, Place::Param(index), message);
            mistakes.push(fault.note(whereabouts(summary, facts, path)).help(help));
        }
    }
    fits
}

fn wrong_count(declaration: &Declaration, summary: &KernelSummary, path: &str) -> Mistake {
    let (declared, actual) = (declaration.params.len(), summary.params.len());
    let message = format!(
        "the kernel `{}` takes {actual} parameter{}, but {declared} {} declared",
        declaration.name,
        if actual == 1 { "" } else { "s" },
        if declared == 1 { "is" } else { "are" },
    );
    let list: Vec<String> = summary.params.iter().map(directive).collect();
    let note = match list.is_empty() {
        true => format!("on line {} of `{path}`", summary.line),
        false => format!("on line {} of `{path}`: {}", summary.line, list.join(", ")),
    };
    Mistake::new(Rule::Signature, Place::Kernel, message)
        .note(note)
        .help("declare one parameter for each of these")
}

/// Returns a note that says which parameter of the PTX this is.
pub fn whereabouts(summary: &KernelSummary, param: &ParamSummary, path: &str) -> String {
    format!("it is {} of `{}` in `{path}`", directive(param), summary.name)
}

/// `.param .u64 x` and `.param .align 4 .b8 x[12]`
fn directive(param: &ParamSummary) -> String {
    let (ty, name) = (type_name(param.ty), &param.name);
    match param.array {
        true => format!(
            "`.align {} {ty} {name}[{}]`",
            param.align,
            param.size / param.ty.size().max(1) as u64
        ),
        false => format!("`{ty} {name}`"),
    }
}

/// The type as PTX writes it: `.f32`.
fn type_name(ty: Type) -> String {
    format!(".{ty:?}").to_lowercase()
}

/// A message, and the help that goes with it.
type Fault = (String, String);

fn reference(param: &Param, facts: &ParamSummary) -> Option<Fault> {
    if facts.size == 8 && !facts.array && !is_float(facts.ty) {
        return None;
    }
    let message = format!(
        "`{}` is memory, but the kernel takes {} by value",
        param.name,
        bytes(facts.size)
    );
    Some((message, format!("declare it {}", suggestion(param, facts))))
}

fn number(param: &Param, size: u64, float: bool, facts: &ParamSummary) -> Option<Fault> {
    let Param { name, ty, .. } = param;
    let message = if size != facts.size {
        let (mine, theirs) = (bytes(size), bytes(facts.size));
        format!("`{name}` is `{ty}`, of {mine}, but the kernel takes {theirs}")
    } else if size != u64::from(facts.align) {
        let align = facts.align;
        format!("`{name}` is `{ty}`, aligned to {size}, but the kernel's is aligned to {align}")
    } else if (float && is_integer(facts.ty)) || (!float && is_float(facts.ty)) {
        let kind = if float { "an integer" } else { "a floating-point number" };
        format!("`{name}` is `{ty}`, but the kernel takes {kind}")
    } else {
        return None;
    };
    Some((message, format!("declare it {}", suggestion(param, facts))))
}

fn value(param: &Param, size: u64, align: u64, facts: &ParamSummary) -> Option<Fault> {
    if size == facts.size && align == u64::from(facts.align) {
        return None;
    }
    let message = format!(
        "`{}` is `{}`, of {} aligned to {align}, but the kernel takes {} aligned to {}",
        param.name,
        param.ty,
        bytes(size),
        bytes(facts.size),
        facts.align
    );
    Some((message, format!("declare it {}", suggestion(param, facts))))
}

/// A declaration that fits.
fn suggestion(param: &Param, facts: &ParamSummary) -> String {
    let name = &param.name;
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
