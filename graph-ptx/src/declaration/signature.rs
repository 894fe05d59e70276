//! The rules about parameters: number, size, alignment, floats and integers, compared with the PTX.

use super::proposal::{self, Proposal};
use super::text::{File, bytes, list};
use super::{Declaration, Kind, Mistake, Param, Place, Rule};
use crate::ast::Type;
use crate::{KernelSummary, ParamSummary};

/// Compares the parameters with those of the PTX, if their sizes are known.
pub(super) fn check(
    declaration: &Declaration,
    summary: &KernelSummary,
    file: &File<'_>,
    mistakes: &mut Vec<Mistake>,
) -> bool {
    let (module, path) = (file.module, file.path);
    let (declared, actual) = (declaration.params.len(), summary.params.len());
    if declared != actual {
        mistakes.push(wrong_count(declaration, summary, file));
        return false;
    }
    let mut fits = true;
    let proposed = |index| proposal::proposals(&declaration.entry, module).into_iter().nth(index);
    for (index, (param, facts)) in declaration.params.iter().zip(&summary.params).enumerate() {
        fits &= param.kind != Kind::Invalid;
        if let Some(message) = misfit(param, facts) {
            let help = match (param.kind, proposed(index)) {
                (Kind::Host, Some(Proposal::Value(ty))) if !facts.array => {
                    format!("use `{}`", as_signed(ty, &param.ty))
                }
                (_, proposal) => format!("declare it {}", suggestion(param, facts, proposal)),
            };
            fits = false;
            let fault = Mistake::new(Rule::Signature, Place::Param(index), message);
            mistakes.push(fault.note(whereabouts(summary, facts, path)).help(help));
        }
    }
    fits
}

/// The reason why a parameter does not fit its parameter of the PTX.
fn misfit(param: &Param, facts: &ParamSummary) -> Option<String> {
    match param.kind {
        Kind::Buffer(_) => reference(param, facts),
        Kind::Number { size, float } => number(param, size, float, facts),
        Kind::Value { size, align } => value(param, size, align, facts),
        Kind::Host => Some(format!("`{}` cannot be passed to a kernel by value", param.ty)),
        Kind::Unsized | Kind::Invalid => None,
    }
}

fn wrong_count(declaration: &Declaration, summary: &KernelSummary, file: &File<'_>) -> Mistake {
    let (declared, actual) = (declaration.params.len(), summary.params.len());
    let message = format!(
        "the kernel `{}` takes {actual} parameter{}, but {declared} {} declared",
        declaration.name,
        if actual == 1 { "" } else { "s" },
        if declared == 1 { "is" } else { "are" },
    );
    let directives: Vec<String> = summary.params.iter().map(directive).collect();
    let note = if directives.is_empty() {
        file.at(summary.line)
    } else {
        format!("{}: {}", file.at(summary.line), directives.join(", "))
    };
    let fitting = declaration.params.iter().zip(&summary.params);
    let fitting: Vec<(&str, &str)> = fitting
        .take_while(|(param, facts)| misfit(param, facts).is_none() && param.kind != Kind::Invalid)
        .map(|(param, _)| (param.name.as_str(), param.ty.as_str()))
        .collect();
    let help = match declaration.params.get(actual..) {
        Some(more @ [_, ..]) if fitting.len() == actual => {
            let more: Vec<&str> = more.iter().map(|param| param.name.as_str()).collect();
            format!("remove {}", list(&more))
        }
        _ => {
            let paste = proposal::declaration(&declaration.name, &declaration.entry, file.module, &fitting);
            if paste.contains("[T]") || paste.contains("<T>") {
                format!("declare it `{paste}`, with the type of the elements for `T`")
            } else {
                format!("declare it `{paste}`")
            }
        }
    };
    Mistake::new(Rule::Signature, Place::Kernel, message)
        .note(note)
        .help(help)
}

/// Returns a note that says which parameter of the PTX this is.
pub fn whereabouts(summary: &KernelSummary, param: &ParamSummary, path: &str) -> String {
    format!("it is {} of `{}` in `{path}`", directive(param), summary.name)
}

/// `.param .u64 x` and `.param .align 4 .b8 x[12]`
fn directive(param: &ParamSummary) -> String {
    let (ty, name) = (type_name(param.ty), &param.name);
    if param.array {
        let len = param.size / param.ty.size().max(1) as u64;
        format!("`.align {} {ty} {name}[{len}]`", param.align)
    } else {
        format!("`{ty} {name}`")
    }
}

/// The type as PTX writes it: `.f32`.
fn type_name(ty: Type) -> String {
    format!(".{ty:?}").to_lowercase()
}

fn reference(param: &Param, facts: &ParamSummary) -> Option<String> {
    if facts.size == 8 && !facts.array && !is_float(facts.ty) {
        return None;
    }
    Some(format!(
        "`{}` is memory, but the kernel takes {} by value",
        param.name,
        bytes(facts.size)
    ))
}

fn number(param: &Param, size: u64, float: bool, facts: &ParamSummary) -> Option<String> {
    let Param { name, ty, .. } = param;
    if size != facts.size {
        let (mine, theirs) = (bytes(size), bytes(facts.size));
        Some(format!("`{name}` is `{ty}`, of {mine}, but the kernel takes {theirs}"))
    } else if size != u64::from(facts.align) {
        let align = facts.align;
        Some(format!(
            "`{name}` is `{ty}`, aligned to {size}, but the kernel's is aligned to {align}"
        ))
    } else if (float && is_integer(facts.ty)) || (!float && is_float(facts.ty)) {
        let kind = if float { "an integer" } else { "a floating-point number" };
        Some(format!("`{name}` is `{ty}`, but the kernel takes {kind}"))
    } else {
        None
    }
}

fn value(param: &Param, size: u64, align: u64, facts: &ParamSummary) -> Option<String> {
    if size == facts.size && align == u64::from(facts.align) {
        return None;
    }
    Some(format!(
        "`{}` is `{}`, of {} aligned to {align}, but the kernel takes {} aligned to {}",
        param.name,
        param.ty,
        bytes(size),
        bytes(facts.size),
        facts.align
    ))
}

/// The help that names a declaration which fits.
fn suggestion(param: &Param, facts: &ParamSummary, proposal: Option<Proposal>) -> String {
    let name = &param.name;
    match proposal {
        _ if facts.array => format!(
            "as a `#[repr(C)]` struct of {}, aligned to {}",
            bytes(facts.size),
            facts.align
        ),
        Some(Proposal::Memory(memory)) => {
            let ty = Proposal::Memory(memory).ty();
            let verb = match (memory.atomic, memory.mutable) {
                (true, _) => "updates",
                (false, true) => "writes to",
                (false, false) => "reads",
            };
            format!("`{name}: {ty}`: the kernel {verb} the memory at this address")
        }
        Some(Proposal::Value(ty)) if facts.size == 8 && !is_float(facts.ty) => {
            format!("`{name}: {ty}`, or `{name}: &[T]` or `{name}: &mut [T]` if it is memory")
        }
        Some(Proposal::Value(ty)) => format!("`{name}: {ty}`"),
        None => "as the PTX does".to_owned(),
    }
}

/// The integer type that is proposed, signed if the declared one is: PTX rarely tells.
fn as_signed(proposed: String, declared: &str) -> String {
    match proposed.strip_prefix('u') {
        Some(bits) if declared.starts_with('i') => format!("i{bits}"),
        _ => proposed,
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
