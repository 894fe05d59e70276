//! The rules about access: the kernel's reads and writes compared with its declaration.

use super::proposal::{Proposal, proposals};
use super::text::list;
use super::{Declaration, Kind, Mistake, Param, Place, Rule};
use crate::ast::Module;
use crate::{KernelSummary, Store};

pub(super) fn check(
    declaration: &Declaration,
    summary: &KernelSummary,
    module: &Module,
    path: &str,
    mistakes: &mut Vec<Mistake>,
) {
    if declaration.safe {
        addresses(declaration, summary, module, path, mistakes);
        unknown(declaration, summary, path, mistakes);
    }
    shared_stores(declaration, summary, path, mistakes);
    needless_mut(declaration, summary, mistakes);
}

fn is_value(param: &Param) -> bool {
    matches!(param.kind, Kind::Number { .. } | Kind::Value { .. } | Kind::Unsized)
}

/// Reports by-value arguments that are used as addresses: nothing says whose memory that is.
fn addresses(
    declaration: &Declaration,
    summary: &KernelSummary,
    module: &Module,
    path: &str,
    mistakes: &mut Vec<Mistake>,
) {
    for (index, (param, facts)) in declaration.params.iter().zip(&summary.params).enumerate() {
        let Some(line) = facts.address.filter(|_| is_value(param)) else {
            continue;
        };
        let message = format!(
            "the safe kernel `{}` uses the value of `{}` as an address",
            declaration.name, param.name
        );
        let unsafely = "make it a plain `fn` and launch it with `unsafe`";
        let proposal = proposals(&declaration.entry, module).into_iter().nth(index);
        let help = match proposal {
            Some(memory @ Proposal::Memory { .. }) => {
                format!("declare it `{}: {}`, or {unsafely}", param.name, memory.ty())
            }
            Some(Proposal::Value(_)) | None => unsafely.to_owned(),
        };
        let fault = Mistake::new(Rule::Access, Place::Param(index), message);
        mistakes.push(fault.note(at(line, path)).help(help));
    }
}

/// Reports addresses of unknown origin.
fn unknown(declaration: &Declaration, summary: &KernelSummary, path: &str, mistakes: &mut Vec<Mistake>) {
    let (verb, line) = match (summary.unknown_store, summary.unknown_load) {
        (Some(line), _) => ("writes", line),
        (None, Some(line)) => ("reads", line),
        (None, None) => return,
    };
    let message = format!(
        "the safe kernel `{}` {verb} through an address of unknown origin",
        declaration.name
    );
    let fault = Mistake::new(Rule::Access, Place::Safe, message).note(at(line, path));
    mistakes.push(fault.help("make it a plain `fn` and launch it with `unsafe`"));
}

/// Reports stores through parameters declared `&`. If the address may also come from elsewhere, a plain `fn` is
/// trusted.
fn shared_stores(declaration: &Declaration, summary: &KernelSummary, path: &str, mistakes: &mut Vec<Mistake>) {
    let shared = |index: usize| {
        let kind = declaration.params.get(index).map(|param| param.kind);
        kind == Some(Kind::Buffer { mutable: false })
    };
    let mut reported = Vec::new();
    for store in summary.stores.iter().filter(|store| !store.unknown) {
        let certain = store.params.iter().all(|&index| shared(index));
        if !certain && !declaration.safe {
            continue;
        }
        for &index in store.params.iter().filter(|&&index| shared(index)) {
            if !reported.contains(&index) {
                reported.push(index);
                mistakes.push(shared_store(declaration, store, index, path));
            }
        }
    }
}

fn shared_store(declaration: &Declaration, store: &Store, index: usize, path: &str) -> Mistake {
    let Param { name, ty, .. } = &declaration.params[index];
    let message = format!(
        "the kernel `{}` writes to `{name}`, which is declared `&`",
        declaration.name
    );
    let mut fault = Mistake::new(Rule::Access, Place::Param(index), message).note(at(store.line, path));
    if store.params.len() > 1 {
        let name = |index: &usize| declaration.params[*index].name.as_str();
        let names: Vec<&str> = store.params.iter().map(name).collect();
        fault = fault.note(format!("its address may come from any of {}", list(&names)));
    }
    fault.help(format!("declare it `{name}: {}`", ty.replacen('&', "&mut ", 1)))
}

/// Reports parameters declared `&mut` that the kernel never writes.
fn needless_mut(declaration: &Declaration, summary: &KernelSummary, mistakes: &mut Vec<Mistake>) {
    let params = || declaration.params.iter().zip(&summary.params);
    let hidden =
        summary.unknown_store.is_some() || params().any(|(param, facts)| is_value(param) && facts.address.is_some());
    if hidden {
        return;
    }
    for (index, (param, facts)) in params().enumerate() {
        if param.kind != (Kind::Buffer { mutable: true }) || facts.access.stored.is_some() {
            continue;
        }
        let Param { name, ty, .. } = param;
        let message = format!(
            "the kernel `{}` never writes to `{name}`, which is declared `&mut`",
            declaration.name
        );
        mistakes.push(
            Mistake::new(Rule::NeedlessMut, Place::Param(index), message)
                .note("`#[allow(needless_mut)]` on the kernel silences this warning")
                .help(format!("declare it `{name}: {}`", ty.replacen("mut ", "", 1))),
        );
    }
}

fn at(line: u32, path: &str) -> String {
    format!("the access is on line {line} of `{path}`")
}
