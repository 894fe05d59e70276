//! Compiles the CUDA source of a declared kernel, and checks the declaration against the PTX.

use super::{Architecture, CudaSource, Declaration, Ptx, Source, SourceText, cache, compile};
use crate::driver;
use crate::error::mistakes;
use crate::error::{CudaError, Error, Site};
use crate::kernel::{KernelFacts, LOADED, Texture};
use graph_plan::{GridDependency, KernelLimits, Mode, Param, ParamKind, Scalar, Touched, best_target, nearest};
use graph_ptx::ast::{Cluster, Module};
use graph_ptx::declaration::{self as rules, BufferAccess, Mistake, Rule};
use graph_ptx::{Access, KernelSummary, VariableAccess, location};
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// The reason why a kernel could not be resolved.
#[derive(Debug)]
pub(crate) enum Unresolved {
    Uncompiled(Uncompiled),
    /// The PTX differs from the declaration.
    Mistakes(Vec<Mistake>),
}

/// The reason why there is no PTX of a source.
#[derive(Debug)]
pub(crate) enum Uncompiled {
    /// There is no NVRTC, as `tried` says, and no entry in the cache, which is the folder `cache`.
    NoCompiler { cache: String, tried: Vec<String> },
    /// CUDA could not tell the device's compute capability.
    Device(CudaError),
    /// The message of the compiler.
    Failed(String),
}

impl Unresolved {
    /// Makes an error about a node of it.
    #[cold]
    pub(crate) fn error(self, graph: &str, node: usize, name: &str, path: &'static str) -> Error {
        match self {
            Unresolved::Uncompiled(uncompiled) => uncompiled.error(Site::graph(graph).at_node(name), path),
            Unresolved::Mistakes(mistakes) => Error::Invalid {
                graph: graph.into(),
                diagnostics: mistakes::declarations(node, name, &mistakes),
            },
        }
    }
}

impl Uncompiled {
    /// Makes an error of it.
    #[cold]
    pub(crate) fn error(self, site: Site, path: &'static str) -> Error {
        match self {
            Uncompiled::NoCompiler { cache, tried } => Error::NoNvrtc {
                site,
                path,
                cache,
                tried,
            },
            Uncompiled::Failed(message) => Error::Compile { site, path, message },
            Uncompiled::Device(source) => Error::Cuda { site, source },
        }
    }
}

impl From<Uncompiled> for Unresolved {
    fn from(uncompiled: Uncompiled) -> Self {
        Unresolved::Uncompiled(uncompiled)
    }
}

/// A CUDA source that was, or is being, compiled in this process for one architecture. These are never freed: graphs
/// refer to them as to PTX that is part of the program, and there are at most as many as the program has sources, times
/// the number of different devices.
struct CompiledSource {
    source: &'static CudaSource,
    architecture: Architecture,
    /// Locked while it is being compiled.
    compiled: Mutex<Option<Compiled>>,
}

struct Compiled {
    ptx: &'static Ptx,
    module: Module,
    /// The kernels that were resolved: their facts as declared, and with all that the PTX tells.
    kernels: Vec<(&'static KernelFacts, &'static KernelFacts)>,
}

/// Returns the facts of the code that a device gets: of a CUDA source, they are completed with all that only PTX tells;
/// of several PTX files, they are of the one for the device. Facts of other kernels are returned as they are.
pub(crate) fn resolve(
    facts: &'static KernelFacts,
    architecture: impl FnOnce() -> Result<Architecture, CudaError>,
) -> Result<&'static KernelFacts, Unresolved> {
    let Source::Cuda(source, declaration) = facts.source else {
        return match facts.tuned {
            [] => Ok(facts),
            _ => Ok(tuned(facts, architecture().map_err(Uncompiled::Device)?)),
        };
    };
    let slot = slot(source, architecture().map_err(Uncompiled::Device)?);
    let mut compiled = slot.compiled.lock().unwrap_or_else(PoisonError::into_inner);
    let compiled = match &mut *compiled {
        Some(compiled) => compiled,
        empty => empty.insert(Compiled::new(source, slot.architecture)?),
    };
    compiled.kernel(facts, &declaration)
}

/// The kernel in the file for a device. If the device runs none of them, `build` reports that of the first.
fn tuned(facts: &'static KernelFacts, architecture: Architecture) -> &'static KernelFacts {
    let Architecture::Device(capability) = architecture else {
        return facts;
    };
    let all = || std::iter::once(&facts).chain(facts.tuned);
    let best = best_target(all().map(|facts| facts.target), capability);
    best.and_then(|index| all().nth(index)).unwrap_or(&facts)
}

/// The slot of a source and an architecture, which is made at the first call.
fn slot(source: &'static CudaSource, architecture: Architecture) -> &'static CompiledSource {
    static SLOTS: Mutex<Vec<&'static CompiledSource>> = Mutex::new(Vec::new());
    let mut slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
    let same = |slot: &&&CompiledSource| ptr::eq(slot.source, source) && slot.architecture == architecture;
    if let Some(slot) = slots.iter().find(same) {
        return slot;
    }
    let slot = Box::leak(Box::new(CompiledSource {
        source,
        architecture,
        compiled: Mutex::new(None),
    }));
    slots.push(slot);
    slot
}

/// Takes the PTX of a source from the cache, or compiles the source.
pub(crate) fn ptx_of(source: &SourceText<'_>, architecture: Architecture) -> Result<(Module, String), Uncompiled> {
    let (key, version) = (cache::key(source, architecture), compile::version());
    let cached = key.as_ref().and_then(|key| cache::load(key, version.as_deref()));
    let cached = cached.and_then(|text| Some((graph_ptx::parse(&text).ok()?, text)));
    match (cached, version) {
        (Some(cached), _) => Ok(cached),
        (None, None) => Err(Uncompiled::NoCompiler {
            cache: cache::place(),
            tried: driver::nvrtc::tried().to_vec(),
        }),
        (None, Some(version)) => {
            let text = compile::compile(source, architecture).map_err(Uncompiled::Failed)?;
            let unreadable = |fault| Uncompiled::Failed(format!("the PTX of NVRTC {version} cannot be read: {fault}"));
            let module = graph_ptx::parse(&text).map_err(unreadable)?;
            if let Some(key) = &key {
                cache::store(key, &version, &text);
            }
            Ok((module, text))
        }
    }
}

impl Compiled {
    fn new(source: &'static CudaSource, architecture: Architecture) -> Result<Self, Uncompiled> {
        let (module, text) = ptx_of(&source.text(), architecture)?;
        let ptx = Box::leak(Box::new(Ptx {
            path: source.path,
            text: text.leak(),
        }));
        Ok(Self {
            ptx,
            module,
            kernels: Vec::new(),
        })
    }

    fn kernel(
        &mut self,
        facts: &'static KernelFacts,
        declaration: &Declaration,
    ) -> Result<&'static KernelFacts, Unresolved> {
        let known = self.kernels.iter().find(|(declared, _)| ptr::eq(*declared, facts));
        if let Some((_, resolved)) = known {
            return Ok(resolved);
        }
        let findings = rules::check_compiled(&described(facts, declaration), &self.module, self.ptx.path, suggest);
        let summary = accepted(findings).map_err(Unresolved::Mistakes)?;
        let resolved = with_summary(facts, &summary, self.ptx);
        let resolved = Box::leak(Box::new(KernelFacts {
            source: Source::Compiled(self.ptx),
            places: places(&self.module, &resolved),
            ..resolved
        }));
        self.kernels.push((facts, resolved));
        Ok(resolved)
    }
}

/// The name that is meant by one that is not among these.
fn suggest(name: &str, names: &[&str]) -> Option<String> {
    nearest(name, names.iter().copied()).map(str::to_owned)
}

/// The summary of a kernel, if there are no mistakes.
fn accepted(findings: rules::Findings) -> Result<KernelSummary, Vec<Mistake>> {
    let mut mistakes = findings.mistakes;
    mistakes.retain(|mistake| mistake.rule != Rule::NeedlessMut); // a warning, which nobody would see at run time
    findings.summary.filter(|_| mistakes.is_empty()).ok_or(mistakes)
}

/// Returns the facts of a kernel of PTX that is known at run time, called as the declaration says, or the mistakes of
/// the call.
pub(crate) fn facts(
    declaration: &rules::Declaration,
    module: &Module,
    ptx: &'static Ptx,
    proved: bool,
) -> Result<&'static KernelFacts, Vec<Mistake>> {
    let summary = accepted(rules::check(declaration, module, ptx.path, suggest))?;
    let buffers = declaration.params.iter().enumerate();
    let buffers = buffers.filter(|(_, param)| proved && matches!(param.kind, rules::Kind::Buffer(_)));
    let aligned = buffers.filter_map(|(index, _)| Some((index, summary.at_once(index, 1)?)));
    let params = declaration.params.iter().map(|param| Param {
        name: forever(&param.name),
        kind: match param.kind {
            rules::Kind::Buffer(access) => ParamKind::Buffer {
                unit: 1,
                mode: mode(access),
            },
            _ => ParamKind::Value(Scalar::Other),
        },
    });
    let called = KernelFacts {
        name: forever(&declaration.name),
        entry: forever(&declaration.entry),
        source: Source::Ptx(ptx),
        params: params.collect::<Vec<_>>().leak(),
        aligned: aligned.collect::<Vec<_>>().leak(),
        ..LOADED
    };
    let facts = with_summary(&called, &summary, ptx);
    let places = places(module, &facts);
    Ok(Box::leak(Box::new(KernelFacts { places, ..facts })))
}

/// The mode of these accesses.
fn mode(access: BufferAccess) -> Mode {
    match access {
        BufferAccess::Read | BufferAccess::Texture { .. } | BufferAccess::Surface { stores: false, .. } => Mode::Read,
        BufferAccess::Write | BufferAccess::Surface { stores: true, .. } => Mode::ReadWrite,
        BufferAccess::Overwrite => Mode::Write,
        BufferAccess::Atomic { .. } => Mode::Atomic,
        BufferAccess::Mapped { .. } => Mode::Mapped,
    }
}

/// The places in the source of the lines of PTX that the facts name.
fn places(module: &Module, facts: &KernelFacts) -> &'static [(u32, &'static str)] {
    let dependency = &facts.dependency;
    let mut lines: Vec<u32> = [dependency.triggers, dependency.waits, dependency.early_exit]
        .into_iter()
        .flatten()
        .chain(dependency.early.iter().map(|(_, line)| *line))
        .chain(dependency.noncoherent.iter().map(|(_, line)| *line))
        .chain(facts.loads.iter().map(|(_, line)| *line))
        .collect();
    lines.sort_unstable();
    lines.dedup();
    let place = |line| Some((line, forever(&location(module, line)?.to_string())));
    lines.into_iter().filter_map(place).collect::<Vec<_>>().leak()
}

/// The declaration in the types of [`graph_ptx::declaration`].
fn described(facts: &KernelFacts, declaration: &Declaration) -> rules::Declaration {
    let kind = |index: usize, param: &Param, size: usize, align: usize| match param.kind {
        ParamKind::Buffer { mode, .. } => rules::Kind::Buffer(match (facts.texture(index), facts.surface(index)) {
            (Some(texture), _) => BufferAccess::Texture {
                geometry: texture.texels.in_ptx(),
            },
            (None, Some(surface)) => BufferAccess::Surface {
                geometry: surface.texels.in_ptx(),
                stores: mode.writes(),
            },
            (None, None) => access(mode, size),
        }),
        ParamKind::Value(Scalar::Other) => rules::Kind::Value {
            size: size as u64,
            align: align as u64,
        },
        ParamKind::Value(scalar) => rules::Kind::Number {
            size: scalar.size() as u64,
            float: matches!(scalar, Scalar::F32 | Scalar::F64),
        },
    };
    let params = facts.params.iter().zip(declaration.types);
    rules::Declaration {
        name: facts.name.to_owned(),
        entry: facts.entry.to_owned(),
        safe: declaration.safe,
        params: params
            .enumerate()
            .map(|(index, (param, ty))| rules::Param {
                name: param.name.to_owned(),
                ty: ty.text.to_owned(),
                kind: kind(index, param, ty.size, ty.align),
            })
            .collect(),
    }
}

/// The accesses that a parameter allows; `size` is the size of an element of [`Atomic`](crate::Atomic) or
/// [`Mapped`](crate::Mapped) memory.
fn access(mode: Mode, size: usize) -> BufferAccess {
    match mode {
        Mode::Read => BufferAccess::Read,
        Mode::ReadWrite => BufferAccess::Write,
        Mode::Write => BufferAccess::Overwrite,
        Mode::Atomic => BufferAccess::Atomic {
            size: Some(size as u64),
        },
        Mode::Mapped => BufferAccess::Mapped { size: size as u64 },
    }
}

/// The facts that the macro would have recorded if it had read the PTX.
fn with_summary(facts: &KernelFacts, summary: &KernelSummary, ptx: &'static Ptx) -> KernelFacts {
    let Cluster {
        required: required_cluster,
        max_blocks: max_cluster,
        explicit: explicit_cluster,
        counts_grid: grid_of_clusters,
    } = summary.cluster;
    let uses_old = |param: &Param| {
        let ParamKind::Buffer { mode, .. } = param.kind else {
            return false;
        };
        mode == Mode::ReadWrite
    };
    let params = facts.params.iter().enumerate();
    let loads = params.filter(|(_, param)| uses_old(param));
    let variables = summary.variables.iter().map(variable);
    let constants = summary.constants.iter().map(|name| (forever(name), Mode::Read));
    KernelFacts {
        source: Source::Ptx(ptx),
        limits: KernelLimits {
            required_block: summary.required_block,
            max_block: summary.max_block,
            required_cluster,
            max_cluster,
            explicit_cluster,
            grid_of_clusters,
        },
        static_shared: summary.static_shared,
        target: forever(&summary.target),
        variables: variables.chain(constants).collect::<Vec<_>>().leak(),
        loads: loads
            .filter_map(|(index, _)| Some((index, summary.load_through(index)?)))
            .collect::<Vec<_>>()
            .leak(),
        dependency: GridDependency {
            triggers: summary.launch_dependents,
            waits: summary.dependency_wait,
            early_exit: summary.early_exit,
            early: touched(&summary.early()),
            noncoherent: touched(&summary.noncoherent()),
        },
        textures: textures(facts, summary),
        ..*facts
    }
}

/// The textures among the parameters, with the memory that the PTX asks for.
fn textures(facts: &KernelFacts, summary: &KernelSummary) -> &'static [Texture] {
    let texture = |texture: &Texture| {
        let array = summary.params.get(texture.param).and_then(|param| param.access.array());
        array.map_or(*texture, |array| texture.array(array))
    };
    facts.textures.iter().map(texture).collect::<Vec<_>>().leak()
}

/// A copy of a text that is kept as long as the program runs.
pub(crate) fn forever(text: &str) -> &'static str {
    text.to_owned().leak()
}

fn variable(variable: &VariableAccess) -> (&'static str, Mode) {
    let Access {
        loaded, stored, atomic, ..
    } = variable.access;
    let mode = match (loaded.or(atomic), stored) {
        (_, None) => Mode::Read,
        (None, Some(_)) => Mode::Write,
        (Some(_), Some(_)) => Mode::ReadWrite,
    };
    (forever(&variable.name), mode)
}

fn touched(accesses: &[(graph_ptx::Touched<'_>, u32)]) -> &'static [(Touched, u32)] {
    let touched = accesses.iter().map(|&(memory, line)| match memory {
        graph_ptx::Touched::Param(index) => (Touched::Param(index), line),
        graph_ptx::Touched::Variable(name) => (Touched::Variable(forever(name)), line),
        graph_ptx::Touched::Unknown => (Touched::Unknown, line),
    });
    touched.collect::<Vec<_>>().leak()
}
