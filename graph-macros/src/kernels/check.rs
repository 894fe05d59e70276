//! A declared kernel against its PTX: is it there, does it take these parameters, does it touch them only so?

use super::contract::{self, Contract};
use super::declaration::Declaration;
use super::layout::{self, Layout};
use super::param::{Buffer, Kind, Param, push};
use super::source::Source;
use super::text::{ends, text};
use crate::report::error;
use graph_plan::{Code, Diagnostic, nearest};
use graph_ptx::KernelSummary;

/// A declaration and what its PTX says.
pub(super) struct Checked {
    pub(super) declaration: Declaration,
    /// `None` if there is no such kernel.
    pub(super) summary: Option<KernelSummary>,
    pub(super) contracts: Vec<Contract>,
    /// What rustc must check of the by-value parameters' types.
    pub(super) layouts: Vec<Layout>,
}

/// Checks one kernel. Without PTX, which is another mistake, only what does not need it.
pub(super) fn kernel(mut declaration: Declaration, source: Option<&Source>) -> Checked {
    let contracts = contract::compile(&mut declaration);
    let summary = source.and_then(|source| find(&mut declaration, source));
    let mut layouts = Vec::new();
    if let (Some(source), Some(summary)) = (source, &summary) {
        let fits = declaration.complete && layout::check(&mut declaration, summary, source, &mut layouts);
        if fits {
            access(&mut declaration, summary, source);
        }
    }
    Checked {
        declaration,
        summary,
        contracts,
        layouts,
    }
}

/// The kernel in the PTX.
fn find(declaration: &mut Declaration, source: &Source) -> Option<KernelSummary> {
    let is_pointer = |param: &Param| matches!(param.kind, Kind::Buffer(_));
    let pointers: Vec<bool> = declaration.params.iter().map(is_pointer).collect();
    let summary = graph_ptx::summarize(&source.module, &declaration.entry, &pointers);
    if summary.is_none() {
        let fault = missing(&declaration.entry, source);
        declaration.report.push(declaration.ident.span(), &fault);
    }
    summary
}

fn missing(entry: &str, source: &Source) -> Diagnostic {
    let functions = || {
        source
            .module
            .functions
            .iter()
            .filter(|function| function.body.is_some())
    };
    let names: Vec<&str> = functions()
        .filter(|function| function.entry)
        .map(|function| &*function.name)
        .collect();
    let fault = error(
        Code::MissingKernel,
        format!("`{}` has no kernel `{entry}`", source.path),
    );
    if functions().any(|function| function.name == entry) {
        return fault
            .note(format!("`{entry}` is a function there, not a kernel"))
            .help("declare it `__global__` in the CUDA source");
    }
    let mangled = format!("{}{entry}", entry.len());
    if let Some(name) = names
        .iter()
        .find(|name| name.starts_with("_Z") && name.contains(&mangled))
    {
        return fault
            .note(format!("`{name}` is there: the name as C++ mangles it"))
            .help(format!(
                "declare it `extern \"C\"` in the CUDA source, or add `#[link_name = \"{name}\"]` here"
            ));
    }
    if let Some(near) = nearest(entry, names.iter().copied()) {
        return fault.help(format!("did you mean `{near}`?"));
    }
    fault.note(match names.is_empty() {
        true => "it has no kernels at all".to_owned(),
        false => format!("it has {}", list(&names)),
    })
}

/// `a`, `b` and 7 more
fn list(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let mut list = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        list.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    list
}

/// What the kernel writes and reads against what the declaration says.
fn access(declaration: &mut Declaration, summary: &KernelSummary, source: &Source) {
    if declaration.safe.is_some() {
        addresses(declaration, summary, source);
        unknown(declaration, summary, source);
    }
    shared_stores(declaration, summary, source);
    needless_mut(declaration, summary);
}

/// A by-value argument is an address: whose memory that is nobody knows.
fn addresses(declaration: &mut Declaration, summary: &KernelSummary, source: &Source) {
    let kernel = declaration.name();
    for (param, facts) in declaration.params.iter().zip(&summary.params) {
        let (Kind::Value(value), Some(line)) = (&param.kind, facts.address) else {
            continue;
        };
        let message = format!(
            "the safe kernel `{kernel}` uses the value of `{}` as an address",
            param.name()
        );
        let unsafely = "make it a plain `fn` and launch it with `unsafe`";
        let help = match facts.size == 8 && !facts.array {
            true => format!("declare it `&mut [T]` or `&[T]`, or {unsafely}"),
            false => unsafely.to_owned(),
        };
        let fault = error(Code::Access, message).note(at(line, source)).help(help);
        push(&value.ty, &fault, &mut declaration.report);
    }
}

/// Addresses that come from nowhere known.
fn unknown(declaration: &mut Declaration, summary: &KernelSummary, source: &Source) {
    let Some(safe) = declaration.safe else { return };
    let (verb, line) = match (summary.unknown_store, summary.unknown_load) {
        (Some(line), _) => ("writes", line),
        (None, Some(line)) => ("reads", line),
        (None, None) => return,
    };
    let name = declaration.name();
    let message = format!("the safe kernel `{name}` {verb} through an address of unknown origin");
    let fault = error(Code::Access, message)
        .note(at(line, source))
        .help("make it a plain `fn` and launch it with `unsafe`");
    declaration.report.push(safe.span, &fault);
}

/// Stores through parameters declared `&`. Where the address may also come from elsewhere, a plain `fn` is trusted.
fn shared_stores(declaration: &mut Declaration, summary: &KernelSummary, source: &Source) {
    let shared = |index: usize| match declaration.params.get(index).map(|param| &param.kind) {
        Some(Kind::Buffer(buffer)) if buffer.mutability.is_none() => Some(buffer),
        _ => None,
    };
    let mut reported = Vec::new();
    let mut faults = Vec::new();
    for store in summary.stores.iter().filter(|store| !store.unknown) {
        let certain = store.params.iter().all(|&index| shared(index).is_some());
        if !certain && declaration.safe.is_none() {
            continue;
        }
        for &index in &store.params {
            let Some(buffer) = shared(index).filter(|_| !reported.contains(&index)) else {
                continue;
            };
            reported.push(index);
            let (kernel, name) = (declaration.name(), declaration.params[index].name());
            let message = format!("the kernel `{kernel}` writes to `{name}`, which is declared `&`");
            let mut fault = error(Code::Access, message).note(at(store.line, source));
            if store.params.len() > 1 {
                let names: Vec<String> = store
                    .params
                    .iter()
                    .map(|&index| declaration.params[index].name())
                    .collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                fault = fault.note(format!("its address may come from any of {}", list(&names)));
            }
            faults.push((
                buffer.ty.clone(),
                fault.help(format!("declare it `{name}: {}`", mutable(buffer))),
            ));
        }
    }
    for (ty, fault) in faults {
        push(&ty, &fault, &mut declaration.report);
    }
}

/// `&mut` that nothing needs.
fn needless_mut(declaration: &mut Declaration, summary: &KernelSummary) {
    let hidden = summary.unknown_store.is_some()
        || declaration.params.iter().zip(&summary.params).any(|(param, facts)| {
            let by_value = matches!(param.kind, Kind::Value(_));
            by_value && facts.address.is_some()
        });
    if hidden || declaration.allows_needless_mut {
        return;
    }
    let kernel = declaration.name();
    for (param, facts) in declaration.params.iter().zip(&summary.params) {
        let Kind::Buffer(buffer) = &param.kind else { continue };
        if buffer.mutability.is_none() || facts.access.stored.is_some() {
            continue;
        }
        let name = param.name();
        let fault = error(
            Code::NeedlessMut,
            format!("the kernel `{kernel}` never writes to `{name}`, which is declared `&mut`"),
        )
        .note("`#[allow(needless_mut)]` on the kernel silences this warning")
        .help(format!(
            "declare it `{name}: {}`",
            text(&buffer.ty).replacen("mut ", "", 1)
        ));
        let (start, end) = ends(&buffer.ty);
        declaration.report.push_between(start, end, &fault);
    }
}

/// The buffer's type with `&mut`.
fn mutable(buffer: &Buffer) -> String {
    text(&buffer.ty).replacen('&', "&mut ", 1)
}

fn at(line: u32, source: &Source) -> String {
    format!("the access is on line {line} of `{}`", source.path)
}
