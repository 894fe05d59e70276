//! Whether declared kernels stay within their memory, as [`graph_ptx::proof`] tells from their PTX.

use super::contract::Contract;
use super::declaration::Declaration;
use super::param::{Buffer, Kind, Wrapping, bare, scalar};
use super::source::{Ptx, Source};
use crate::report::error;
use graph_plan::{Code, Diagnostic, Scalar};
use graph_ptx::proof::{self, Analysis, Effort, Kernel, Races, Verdict, Words};
use syn::{Expr, Lit, Type};

mod cache;

/// The verdict on a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// It stays within its memory.
    Proved,
    /// Its author promises that it does, for this reason.
    Trusted(String),
}

/// Proves a kernel that is declared `safe`, and reports what is missing: as errors if `prove` asks for the proof, else
/// as a warning if the kernel is refuted. `None` if it is not `safe`, or if it has mistakes.
pub(super) fn of_kernel(
    declaration: &mut Declaration,
    contracts: &[Contract],
    source: &Source,
    prove: bool,
) -> Option<Proof> {
    let safe = declaration.safe?;
    if !declaration.complete || declaration.report.has_errors() {
        return None;
    }
    if let Source::Cuda(_) = source {
        let reason = "its source is compiled when the program runs";
        if prove {
            let message = format!(
                "the kernel `{}` is not proved to stay within its memory",
                declaration.name()
            );
            let fault = error(Code::Unproved, message).note(reason);
            let help = "compile it with `cargo cuda-graph ptx`, and declare the PTX: `#[cuda_kernels(\"kernels.ptx\", prove)]`";
            declaration.report.push(safe.span, &fault.help(help));
        }
        return Some(Proof::Trusted(reason.to_owned()));
    }
    let kernel = described(declaration, contracts, prove);
    let is_allowed = declaration.allows_kernel_bounds;
    let mut race = None;
    for ptx in source.files() {
        let name = declaration.name();
        let open = || Analysis::of(&ptx.module, &kernel, &effort(prove));
        let mut analysis = None;
        let judged = cache::verdict(ptx, &kernel, &(&name, &ptx.path, prove, is_allowed), || {
            let verdict = analysis.get_or_insert_with(open).verdict();
            judge(&verdict, ptx, &kernel, &name, prove, is_allowed)
        });
        let Some(Judged {
            is_refuted,
            reason,
            words,
        }) = judged
        else {
            if prove && !declaration.allows_kernel_race && race.is_none() {
                race = race_of(ptx, &kernel, &name, || analysis.unwrap_or_else(open));
            }
            continue;
        };
        if let Some(words) = words {
            let code = if is_refuted { Code::KernelBounds } else { Code::Unproved };
            let diagnostic = with_null(declaration, diagnostic(code, words));
            if prove {
                declaration.report.push(safe.span, &diagnostic);
            } else {
                declaration.report.warn(safe.span, &diagnostic);
            }
        }
        return Some(Proof::Trusted(reason));
    }
    // The kernel is wrong, but not unsound.
    if let Some(words) = race {
        declaration.report.warn(safe.span, &diagnostic(Code::KernelRace, words));
    }
    Some(Proof::Proved)
}

/// The words about two threads that race, if some do.
fn race_of<'m>(ptx: &Ptx, kernel: &Kernel, name: &str, open: impl FnOnce() -> Analysis<'m>) -> Option<Words> {
    let judged = cache::verdict(ptx, kernel, &(name, &ptx.path, "races"), || {
        let Races::Found(race) = open().races() else {
            return None;
        };
        Some(Judged {
            is_refuted: true,
            reason: String::new(),
            words: Some(proof::race_words(&race, name, kernel, &ptx.module, &ptx.path)),
        })
    });
    judged.and_then(|judged| judged.words)
}

/// A kernel that is not proved, or that has a race.
#[derive(Clone, Debug, PartialEq)]
struct Judged {
    is_refuted: bool,
    /// The reason, for its documentation.
    reason: String,
    /// The message about it; `None` if it is no mistake.
    words: Option<Words>,
}

/// The effort of a proof.
fn effort(prove: bool) -> Effort {
    if prove { Effort::FULL } else { Effort::QUICK }
}

/// The words about a verdict; `None` if the kernel is proved.
fn judge(verdict: &Verdict, ptx: &Ptx, kernel: &Kernel, name: &str, prove: bool, is_allowed: bool) -> Option<Judged> {
    let is_refuted = matches!(verdict, Verdict::Refuted(_));
    let is_told = prove || is_refuted && !is_allowed;
    let words = is_told.then(|| proof::words(verdict, name, kernel, &ptx.module, &ptx.path, &effort(prove)));
    let words = words.flatten();
    let reason = match (&words, verdict) {
        (_, Verdict::Proved) => return None,
        (Some(words), _) => words.message.clone(),
        (None, Verdict::Refuted(witness)) if witness.is_unwritten => {
            format!("it can read what nothing has written of `{}`", witness.memory)
        }
        (None, Verdict::Refuted(witness)) => format!("it can leave `{}`", witness.memory),
        (None, Verdict::Unknown(reasons)) => reason(reasons, &ptx.path),
    };
    Some(Judged {
        is_refuted,
        reason,
        words,
    })
}

/// The reason why a kernel is not proved, in a sentence.
fn reason(reasons: &[proof::Reason], path: &str) -> String {
    match reasons.first() {
        Some(first) => format!("on line {} of `{path}`, {}", first.line, first.text()),
        None => String::new(),
    }
}

fn diagnostic(code: Code, words: Words) -> Diagnostic {
    let fault = error(code, words.message);
    words.notes.into_iter().fold(fault, Diagnostic::note).help(words.help)
}

/// The mistake of an unproved kernel, with what a stricter contract means for the parameter that may be null.
fn with_null(declaration: &Declaration, diagnostic: Diagnostic) -> Diagnostic {
    let mut names = declaration.params.iter().filter_map(|param| match &param.kind {
        Kind::Buffer(buffer) if buffer.is_optional => Some(param.name()),
        _ => None,
    });
    let is_about = |name: &String| {
        let access = format!("the access to `{name}` ");
        diagnostic.notes.iter().any(|note| note.contains(&access))
    };
    match names.find(is_about) {
        Some(name) if diagnostic.code == Code::Unproved => diagnostic.note(format!(
            "`None` has no elements: with a contract that bounds `{name}.len()` from below, `{name}` is never `None`; if \
             the kernel tests the pointer, declare it in a block without `prove`, where `safe` is your promise"
        )),
        _ => diagnostic,
    }
}

/// The declaration in the types of [`graph_ptx::proof`].
pub(super) fn described(declaration: &Declaration, contracts: &[Contract], prove: bool) -> Kernel {
    let params = declaration.params.iter().map(|param| proof::Param {
        name: param.name(),
        kind: match &param.kind {
            Kind::Buffer(buffer) => memory(buffer, prove),
            Kind::Value(value) => integer(value.scalar),
            Kind::Invalid => proof::Kind::Other,
        },
    });
    let all = declaration.params.iter().enumerate();
    let unwritten = all.filter(|(_, param)| param.is_unwritten()).map(|(index, _)| index);
    Kernel {
        entry: declaration.entry.clone(),
        params: params.collect(),
        requires: contracts.iter().map(|contract| contract.term.clone()).collect(),
        unwritten: unwritten.collect(),
    }
}

fn memory(buffer: &Buffer, prove: bool) -> proof::Kind {
    if buffer
        .wrapper_of(Wrapping::Texel)
        .or(buffer.wrapper_of(Wrapping::Surfel))
        .is_some()
    {
        return proof::Kind::Handle;
    }
    let unit = size(&buffer.unit, prove);
    let len = match &buffer.exact {
        // A null pointer has no elements.
        _ if buffer.is_optional => None,
        None => None,
        Some(Type::Array(array)) => length(&array.len),
        Some(_) => Some(1),
    };
    proof::Kind::Memory { unit, len }
}

/// The types of the units of memory, with the sizes that a proof is about, and their least alignments.
pub(super) fn sizes(declaration: &Declaration, prove: bool) -> Vec<(&Type, [u64; 2])> {
    let buffers = declaration.params.iter().filter_map(|param| match &param.kind {
        Kind::Buffer(buffer) => Some(&buffer.unit),
        _ => None,
    });
    buffers
        .filter_map(|unit| Some((unit, [size(unit, prove)?, alignment(unit, prove)])))
        .collect()
}

fn integer(scalar: Scalar) -> proof::Kind {
    let signed = match scalar {
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => false,
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => true,
        Scalar::F32 | Scalar::F64 | Scalar::Other => return proof::Kind::Other,
    };
    proof::Kind::Integer {
        bits: scalar.size() as u32 * 8,
        signed,
    }
}

/// The size of a type in bytes, if its text tells it: of a scalar, or of an array of scalars. With `prove`, types named
/// `bf16` and `f16` are taken for those of the crate `half`, and `Philox` for the runtime's; rustc checks [`sizes`].
fn size(ty: &Type, prove: bool) -> Option<u64> {
    match bare(ty) {
        Type::Array(array) => size(&array.elem, prove)?.checked_mul(length(&array.len)?),
        other => {
            let size = scalar(other).ok()?.size() as u64;
            if size > 0 {
                Some(size)
            } else {
                known_size(other).filter(|_| prove)
            }
        }
    }
}

/// The alignment that a type has at least, as [`size`] knows types.
pub(super) fn alignment(ty: &Type, prove: bool) -> u64 {
    match bare(ty) {
        Type::Array(array) => alignment(&array.elem, prove),
        other => size(other, prove).filter(|size| *size <= 8).unwrap_or(1),
    }
}

/// The size of a type that others define, by its name.
fn known_size(ty: &Type) -> Option<u64> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    match last.ident.to_string().as_str() {
        "bf16" | "f16" => Some(2),
        "Philox" => Some(16),
        _ => None,
    }
}

/// The length of an array, if it is a literal.
fn length(len: &Expr) -> Option<u64> {
    match len {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(int) => int.base10_parse().ok(),
            _ => None,
        },
        Expr::Group(inner) => length(&inner.expr),
        Expr::Paren(inner) => length(&inner.expr),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
