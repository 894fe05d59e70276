//! Compares a declared kernel with its PTX, by the rules of [`graph_ptx::declaration`]. Mistakes are reported at the
//! tokens that they are about.

use super::contract::{self, Contract};
use super::declaration::{Declaration, InstanceOf};
use super::layout::{self, Layout};
use super::param::{Buffer, Kind, Param, Wrapper, Wrapping, bare, scalar};
use super::proof::{self, Proof};
use super::source::Source;
use crate::report::error;
use crate::text::text;
use graph_plan::{Code, Diagnostic, Mode, Scalar, nearest};
use graph_ptx::declaration::{self as rules, BufferAccess, Findings, Mistake, Place, Rule};
use graph_ptx::{Geometry, KernelSummary};
use syn::Type;

/// A declaration and the facts from its PTX.
pub(super) struct Checked {
    pub(super) declaration: Declaration,
    /// The facts from each PTX file, in order; `None` if a file has no such kernel.
    pub(super) summaries: Vec<Option<KernelSummary>>,
    pub(super) contracts: Vec<Contract>,
    /// The sizes and alignments of by-value parameters, which rustc must check.
    pub(super) layouts: Vec<Layout>,
    /// The kernel for each type, if it is declared for several.
    pub(super) instances: Vec<(Type, Checked)>,
    /// Whether it stays within its memory; `None` if it is not declared `safe`, or has mistakes.
    pub(super) proof: Option<Proof>,
    /// Whether it must be proved.
    pub(super) prove: bool,
}

impl Checked {
    fn new(declaration: Declaration, contracts: Vec<Contract>, instances: Vec<(Type, Checked)>) -> Self {
        Self {
            declaration,
            summaries: Vec::new(),
            contracts,
            layouts: Vec::new(),
            instances,
            proof: None,
            prove: false,
        }
    }
}

/// Checks one kernel. Without PTX (a mistake that was reported), it checks only the rules that do not need it. `prove`
/// says that it must be proved if it is `safe`.
pub(super) fn kernel(mut declaration: Declaration, source: Option<&Source>, prove: bool) -> Checked {
    if let Some(generic) = &mut declaration.generic {
        let instances = std::mem::take(&mut generic.instances);
        return of_instances(declaration, instances, source, prove);
    }
    let contracts = contract::compile(&mut declaration);
    let mut checked = Checked::new(declaration, contracts, Vec::new());
    let told = source.map_or_else(Vec::new, |source| against(&mut checked, source));
    unfit(&mut checked.declaration, &told);
    checked.prove = prove;
    if let Some(source) = source {
        checked.proof = proof::of_kernel(&mut checked.declaration, &checked.contracts, source, prove);
    }
    checked
}

/// Reports the parameters of types that no kernel takes, but those of which the PTX has told.
fn unfit(declaration: &mut Declaration, told: &[usize]) {
    let params = declaration.params.iter().enumerate();
    for (_, param) in params.filter(|(index, _)| !told.contains(index)) {
        let Some(ty) = &param.unfit else { continue };
        if let Err(unfit) = scalar(bare(ty)) {
            declaration.report.push_at(ty, &unfit.error());
        }
    }
}

/// A declaration for several types: each instance is a kernel, whose mistakes are the declaration's.
fn of_instances(
    mut declaration: Declaration,
    instances: Vec<(Type, Declaration)>,
    source: Option<&Source>,
    prove: bool,
) -> Checked {
    let instances: Vec<_> = instances
        .into_iter()
        .map(|(ty, instance)| (ty, kernel(instance, source, prove)))
        .collect();
    for (_, instance) in &instances {
        declaration.report.absorb(&instance.declaration.report);
    }
    if instances.is_empty() {
        unfit(&mut declaration, &[]);
    }
    Checked::new(declaration, Vec::new(), instances)
}

/// Compares a declaration with its PTX files. Mistakes are those of the first file that has some. Returns the
/// parameters, by index, whose type it has reported.
fn against(checked: &mut Checked, source: &Source) -> Vec<usize> {
    let described = described(&checked.declaration);
    let suggest = |name: &str, names: &[&str]| nearest(name, names.iter().copied()).map(str::to_owned);
    let mut needless: Option<Vec<Mistake>> = None;
    let (mut told, mut differs) = (Vec::new(), false);
    for ptx in source.files() {
        let Findings { summary, mistakes } = rules::check(&described, &ptx.module, &ptx.path, suggest);
        let (warnings, mistakes): (Vec<_>, Vec<_>) = mistakes
            .into_iter()
            .partition(|mistake| mistake.rule == Rule::NeedlessMut);
        needless = Some(match needless {
            None => warnings,
            Some(known) => in_both(known, &warnings),
        });
        if !differs {
            told.extend(
                mistakes
                    .iter()
                    .filter_map(|mistake| tell(&mut checked.declaration, mistake)),
            );
        }
        differs |= !mistakes.is_empty();
        if let Some(summary) = summary.as_ref().filter(|_| checked.declaration.complete) {
            let mut layouts = layout::layouts(&checked.declaration, summary, &ptx.path);
            layouts.retain(|layout| !checked.layouts.iter().any(|known| known.is_like(layout)));
            checked.layouts.append(&mut layouts);
        }
        checked.summaries.push(summary);
    }
    for warning in needless.iter().flatten() {
        tell(&mut checked.declaration, warning);
    }
    told
}

/// The warnings about `&mut` that other files give too: the kernel needs it nowhere.
fn in_both(known: Vec<Mistake>, other: &[Mistake]) -> Vec<Mistake> {
    let is_in_other = |mistake: &Mistake| other.iter().any(|other| other.place == mistake.place);
    known.into_iter().filter(is_in_other).collect()
}

/// Reports a mistake if the declaration could be read. Returns the parameter, by index, if the mistake is its type.
fn tell(declaration: &mut Declaration, mistake: &Mistake) -> Option<usize> {
    let shown = match mistake.rule {
        Rule::MissingKernel => true,
        Rule::Signature | Rule::Access => declaration.complete,
        Rule::NeedlessMut => declaration.complete && !declaration.allows_needless_mut,
    };
    if !shown {
        return None;
    }
    report(declaration, mistake);
    match (mistake.rule, mistake.place) {
        (Rule::Signature, Place::Param(index)) => Some(index),
        _ => None,
    }
}

/// The declaration in the types of [`graph_ptx::declaration`].
fn described(declaration: &Declaration) -> rules::Declaration {
    let kind = |param: &Param| match &param.kind {
        Kind::Buffer(buffer) => rules::Kind::Buffer(access(buffer)),
        Kind::Value(value) if value.scalar.size() == 0 => rules::Kind::Unsized,
        Kind::Value(value) => rules::Kind::Number {
            size: value.scalar.size() as u64,
            float: matches!(value.scalar, Scalar::F32 | Scalar::F64),
        },
        Kind::Invalid if param.unfit.is_some() => rules::Kind::Host,
        Kind::Invalid => rules::Kind::Invalid,
    };
    let params = declaration.params.iter().map(|param| rules::Param {
        name: param.name(),
        ty: param.ty().map_or_else(String::new, text),
        kind: kind(param),
    });
    rules::Declaration {
        name: declaration.name(),
        entry: declaration.entry.clone(),
        safe: declaration.safe.is_some(),
        params: params.collect(),
    }
}

/// The accesses that a parameter allows.
fn access(buffer: &Buffer) -> BufferAccess {
    if let Some(geometry) = geometry(buffer) {
        let stores = buffer.mutability.is_some();
        return match buffer.wrapper_of(Wrapping::Surfel) {
            Some(_) => BufferAccess::Surface { geometry, stores },
            None => BufferAccess::Texture { geometry },
        };
    }
    match buffer.mode() {
        Mode::Read => BufferAccess::Read,
        Mode::ReadWrite => BufferAccess::Write,
        Mode::Write => BufferAccess::Overwrite,
        Mode::Atomic => BufferAccess::Atomic {
            size: buffer.wrapper.as_ref().and_then(known_size),
        },
        Mode::Mapped => BufferAccess::Mapped {
            // Its elements are numbers, whose sizes are known.
            size: buffer.wrapper.as_ref().and_then(known_size).unwrap_or(0),
        },
    }
}

/// The geometry of texels.
fn geometry(buffer: &Buffer) -> Option<Geometry> {
    let texels = buffer.wrapper.as_ref().filter(|wrapper| wrapper.is_texels())?;
    Some(match (buffer.layered.is_some(), texels.lengths(&buffer.unit).len()) {
        (_, 0) => Geometry::Line,
        (false, 1) => Geometry::Plane,
        (false, _) => Geometry::Volume,
        (true, 1) => Geometry::LayeredLine,
        (true, _) => Geometry::LayeredPlane,
    })
}

/// The size of the elements, if their type is a scalar; rustc checks other types.
fn known_size(wrapper: &Wrapper) -> Option<u64> {
    let size = scalar(&wrapper.inner).ok()?.size();
    (size > 0).then_some(size as u64)
}

/// Reports a mistake where the author made it.
fn report(declaration: &mut Declaration, mistake: &Mistake) {
    let mut diagnostic = diagnostic(mistake);
    if let Some(of) = &declaration.of {
        diagnostic = of_instance(diagnostic, mistake, declaration, of);
    }
    let param = match mistake.place {
        Place::Param(index) => declaration.params.get(index).and_then(Param::ty),
        Place::Kernel | Place::Safe => None,
    };
    match (param, &declaration.safe) {
        (Some(ty), _) => {
            let ty = ty.clone();
            declaration.report.push_at(&ty, &diagnostic);
        }
        (None, Some(safe)) if mistake.place == Place::Safe => declaration.report.push(safe.span, &diagnostic),
        (None, _) => declaration.report.push(declaration.ident.span(), &diagnostic),
    }
}

/// A diagnostic about an instance as one about the declaration of all of them.
fn of_instance(
    mut diagnostic: Diagnostic,
    mistake: &Mistake,
    declaration: &Declaration,
    of: &InstanceOf,
) -> Diagnostic {
    let ty = &of.ty;
    if mistake.rule != Rule::MissingKernel {
        diagnostic = diagnostic.note(format!(
            "this is so for `{ty}`, whose kernel is `{}`",
            declaration.entry
        ));
    }
    let Place::Param(index) = mistake.place else {
        return diagnostic;
    };
    if mistake.rule == Rule::Signature {
        return diagnostic.help(format!("list the kernel for this type: `{ty} => \"..\"`"));
    }
    let param = declaration.params.get(index).and_then(Param::ty);
    if let (Some(own), Some(declared), Some(help)) = (param, of.declared.get(index), &mut diagnostic.help) {
        let target = |ty: &str| ty.trim_start_matches('&').trim_start_matches("mut ").to_owned();
        *help = help.replace(&target(&text(own)), &target(declared));
    }
    diagnostic
}

fn diagnostic(mistake: &Mistake) -> Diagnostic {
    let code = match mistake.rule {
        Rule::MissingKernel => Code::MissingKernel,
        Rule::Signature => Code::Signature,
        Rule::Access => Code::Access,
        Rule::NeedlessMut => Code::NeedlessMut,
    };
    let diagnostic = mistake
        .notes
        .iter()
        .fold(error(code, &*mistake.message), Diagnostic::note);
    Diagnostic {
        help: mistake.help.clone(),
        ..diagnostic
    }
}
