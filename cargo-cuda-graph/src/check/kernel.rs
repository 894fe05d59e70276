//! The kernels of a file, and the declaration of each: from its PTX, from its mangled name, and from its source.

use graph_emulator::{LoadError, Memory, Module as Emulated};
use graph_ptx::ast::Variable;
use graph_ptx::declaration::{Memory as Accessed, Proposal, propose};
use graph_ptx::{KernelSummary, ParamSummary};

use super::Subject;
use super::cpp::{Cpp, Rust};
use super::ident::unique;
use super::mangled;
use super::needs::Needs;
use super::source::{self, Parameter, Signature};

/// A kernel, as far as it is known.
pub(super) struct Kernel {
    /// Its name in Rust.
    pub(super) name: String,
    pub(super) summary: KernelSummary,
    pub(super) params: Vec<Param>,
    /// The needs of its launches.
    pub(super) needs: Needs,
    /// The template that it is an instance of, and the type in Rust that it is an instance for.
    pub(super) instance: Option<(String, &'static str)>,
    /// The tables in constant memory that it reads and that have no values of their own, with their sizes.
    pub(super) tables: Vec<(String, u64)>,
    /// The reason why the emulator refuses it.
    pub(super) refused: Option<String>,
}

/// A parameter, and the type to declare it with.
pub(super) struct Param {
    /// Its name in Rust.
    pub(super) name: String,
    /// Its type in Rust; `None` if no type without a name has its size and alignment.
    pub(super) ty: Option<String>,
    /// Whether it is memory.
    pub(super) is_memory: bool,
    /// The choice that is left to the author.
    pub(super) decide: Option<String>,
}

impl Kernel {
    /// Whether it can be declared and emulated.
    pub(super) fn is_accepted(&self) -> bool {
        self.refused.is_none() && self.is_declarable()
    }

    /// Whether types without names declare it.
    pub(super) fn is_declarable(&self) -> bool {
        self.params.iter().all(|param| param.ty.is_some())
    }
}

/// The kernels that a file defines, in order.
pub(super) fn all(subject: &Subject) -> Vec<Kernel> {
    let signatures = subject.words.as_deref().map(source::signatures).unwrap_or_default();
    let loaded = Emulated::load(&Memory::new(), &subject.ptx);
    let functions = subject.module.functions.iter();
    let entries = functions.filter(|function| function.entry && function.body.is_some());
    let mut taken = Vec::new();
    let mut kernels: Vec<Kernel> = Vec::new();
    for entry in entries {
        let is_repeated = kernels.iter().any(|kernel| kernel.summary.name == entry.name);
        let Some((summary, proposals)) = propose(&entry.name, &subject.module).filter(|_| !is_repeated) else {
            continue;
        };
        let mangled = mangled::read(&entry.name);
        let plain = mangled.as_ref().map_or(entry.name.as_str(), |mangled| &mangled.name);
        let fits = |signature: &&Signature| signature.name == plain && signature.params.len() == proposals.len();
        let signature = signatures.iter().find(fits);
        let types = mangled.as_ref().and_then(|mangled| mangled.params.as_ref());
        let types = types.filter(|types| types.len() == proposals.len());
        let mut names = Vec::new();
        let params = summary
            .params
            .iter()
            .zip(&proposals)
            .enumerate()
            .map(|(index, (facts, proposal))| {
                let declared = signature.map(|signature| &signature.params[index]);
                let candidates = [types.map(|types| &types[index]), declared.map(|declared| &declared.ty)];
                param(index, facts, proposal, declared, &candidates, &mut names)
            });
        let params = params.collect();
        let instance = mangled.as_ref().and_then(|mangled| {
            let rust = mangled.instance.as_ref()?.rust()?;
            Some((plain.to_owned(), rust.name))
        });
        let has_no_values = |variable: &&Variable| variable.initial.is_empty() && variable.relocations.is_empty();
        let tables = subject.module.variables().filter(has_no_values);
        let tables = tables.filter(|variable| summary.constants.contains(&variable.name));
        kernels.push(Kernel {
            name: unique(plain, &mut taken),
            params,
            needs: Needs::of(&entry.name, &subject.module),
            instance,
            tables: tables.map(|variable| (variable.name.clone(), variable.size)).collect(),
            refused: refusal(&loaded, &entry.name),
            summary,
        });
    }
    kernels
}

/// A parameter whose type C++ tells by one of `candidates`, if they tell it.
fn param(
    index: usize,
    facts: &ParamSummary,
    proposal: &Proposal,
    declared: Option<&Parameter>,
    candidates: &[Option<&Cpp>],
    names: &mut Vec<String>,
) -> Param {
    let name = declared.and_then(|declared| declared.name.clone());
    let name = unique(&name.unwrap_or_else(|| format!("p{index}")), names);
    let (ty, is_memory, decide) = match proposal {
        Proposal::Memory(memory) => {
            let (ty, decide) = memory_type(memory, candidates);
            (Some(ty), true, decide)
        }
        Proposal::Value(ty) => match candidates.iter().flatten().find(|cpp| matches!(cpp, Cpp::Pointer(_))) {
            // A pointer that the kernel does not follow.
            Some(_) if facts.size == 8 && !facts.array => {
                let unused = Accessed {
                    mutable: false,
                    atomic: false,
                    handle: None,
                    elements: graph_ptx::Elements::Unknown,
                };
                let (ty, decide) = memory_type(&unused, candidates);
                (Some(ty), true, decide)
            }
            _ => {
                let (ty, decide) = value_type(ty, facts, candidates);
                (ty, false, decide)
            }
        },
    };
    Param {
        name,
        ty,
        is_memory,
        decide,
    }
}

/// The type of memory, and the choice that is left.
fn memory_type(memory: &Accessed, candidates: &[Option<&Cpp>]) -> (String, Option<String>) {
    let element = |cpp: &&Cpp| match cpp {
        Cpp::Pointer(to) => to.rust(),
        Cpp::Named(_) => None,
    };
    let known = candidates.iter().flatten().find_map(element);
    if let Some(Rust { name, better, .. }) = known {
        // An atomic operation on a vector is on its parts.
        let is_vector = memory.atomic && name.starts_with('[');
        let ty = match is_vector {
            true => Accessed {
                atomic: false,
                ..*memory
            }
            .of_elements(name),
            false => memory.of_elements(name),
        };
        return (ty, better.map(str::to_owned));
    }
    let pointee = candidates.iter().flatten().find_map(|cpp| match cpp {
        Cpp::Pointer(to) => match &**to {
            Cpp::Named(name) if name != "void" => Some(name.clone()),
            _ => None,
        },
        Cpp::Named(_) => None,
    });
    let guess = memory.element();
    let ty = memory.of_elements(guess.unwrap_or("u8"));
    if memory.handle.is_some() {
        // The PTX does not tell the number of texels in a row: what is pasted has 1, so that it compiles.
        let one = ty.replace("; N]", "; 1]");
        let rows = if one == ty { "" } else { "for 1, the texels of a row; " };
        return (one, Some(format!("{rows}texels have 1, 2 or 4 numbers")));
    }
    let decide = match (pointee, guess) {
        (Some(pointee), Some(guess)) => Some(format!("elements are `{pointee}`, accessed as `{guess}`")),
        (Some(pointee), None) => Some(format!("elements are `{pointee}`, accessed in parts of several sizes")),
        (None, Some("u32")) => Some("or `f32`, `i32`, or any `Pod` type of 4 bytes".to_owned()),
        (None, Some("u64")) => Some("or `f64`, `i64`, or any `Pod` type of 8 bytes".to_owned()),
        (None, Some("u16")) => Some("or `i16`, `half::f16` or `half::bf16`".to_owned()),
        (None, Some("u8")) => Some("or `i8`".to_owned()),
        (None, Some(_)) => None,
        (None, None) if memory.elements == graph_ptx::Elements::Mixed => {
            Some("elements are accessed in parts of several types".to_owned())
        }
        (None, None) => Some("the PTX does not tell the elements".to_owned()),
    };
    (ty, decide)
}

/// The type of a value, and the choice that is left.
fn value_type(guess: &str, facts: &ParamSummary, candidates: &[Option<&Cpp>]) -> (Option<String>, Option<String>) {
    const MAX_ALIGN: u32 = 16;
    let known = candidates.iter().flatten().find_map(|cpp| cpp.rust());
    let fitting = known.filter(|rust| rust.size == facts.size && rust.align == u64::from(facts.align) && !facts.array);
    if let Some(Rust { name, better, .. }) = fitting {
        return (Some(name.to_owned()), better.map(str::to_owned));
    }
    let is_struct = facts.array;
    let named = candidates.iter().flatten().find_map(|cpp| match cpp {
        Cpp::Named(name) => Some(name.as_str()),
        Cpp::Pointer(_) => None,
    });
    let what = named.map_or_else(String::new, |name| format!("`{name}`: "));
    let decide = match (is_struct, guess) {
        (true, _) => Some(format!(
            "{what}a `#[repr(C)]` struct that is `Pod`, of {} bytes aligned to {}",
            facts.size, facts.align
        )),
        (false, "u64") if known.is_none() => {
            Some("or memory, if it is an address that the kernel does not follow".to_owned())
        }
        (false, _) if named.is_some() && known.is_none() => Some(format!("{what}any type of {} bytes", facts.size)),
        (false, _) => None,
    };
    let ty = (facts.align <= MAX_ALIGN).then(|| guess.to_owned());
    (ty, decide)
}

/// The reason why the emulator refuses a kernel of a module that it has loaded, or could not load.
fn refusal(loaded: &Result<Emulated, LoadError>, entry: &str) -> Option<String> {
    let module = match loaded {
        Ok(module) => module,
        Err(error) => return Some(error.to_string()),
    };
    let kernel = module.kernel(entry)?;
    match kernel.refused() {
        Some(reason) => Some(reason.to_string()),
        None if kernel.counts_clusters() => Some("its grid counts clusters (`.blocksareclusters`)".to_owned()),
        None => None,
    }
}
