//! The accesses of a kernel: the parameters that it reads, those that it writes, and accesses that remain unknown.
//!
//! # How addresses are followed
//!
//! The analysis is a fixpoint over the kernel and the functions that it calls. For every register it computes a set of
//! alternatives for its value: an address inside the memory of some parameter, variable or window (its *base*), the
//! value of a by-value parameter, or a number. Registers are split into independent webs first, so that a register
//! used for two things becomes two.
//!
//! * **Joins** (`selp`, `min`, `max`, several writers of a web) take the union of the alternatives.
//! * **Pointer plus index** is that pointer: a correct program does not reach memory outside the object, and the
//!   emulator checks that. So a by-value `n`, or a number that was loaded, may be added to a pointer without becoming
//!   an address.
//! * **Everything else** (products, differences, shifts, halves, conversions) gives a number with the *taint* of all
//!   addresses whose bits are in it. A number is no address: an access through it is of unknown provenance, and counts
//!   for the parameters of its taint too. A pointer plus a tainted index may be an address elsewhere (`p + (q - p)`),
//!   so it is both. So a pointer cannot be taken apart and put together again unseen. There are two exceptions: the
//!   lowest 12 bits of an address (`p & 15`), which locate nothing by themselves, and bits sent through branches and
//!   comparisons.
//! * **Shared and device memory** are one value each: every load finds everything that is stored. An address loaded
//!   from device memory is unknown, and tainted by every pointer that the kernel stores there. `.param` variables are
//!   followed one by one.
//! * **Local memory** is followed in steps of eight bytes, which is how compilers without optimisation keep pointers.
//!   An address is known if it is a variable's, plus literals, within the variable. A load from there finds what is
//!   stored there, and what is stored at addresses that are not known; every other load finds everything. A load right
//!   after a store to the same place finds that value alone.
//! * **The workspace of a cooperative launch**, which `%envreg1` and `%envreg2` name, is memory that no graph knows:
//!   accesses of it count for nothing.
//! * **Textures and surfaces** whose handle is a parameter (a number, as `cudaTextureObject_t` is) are the memory of
//!   that parameter, which is accessed through them. All others are memory that no graph knows.
//! * **Calls** are followed with their arguments; a call through a register may reach every function of the module
//!   whose address is taken and that has as many parameters. External functions may do anything with their arguments,
//!   except for a few that are known (`vprintf`, `malloc`).
//!
//! An instruction that is not known here is taken to do everything: to read and write through each of its operands.
//!
//! # Programmatic launches
//!
//! A kernel may be launched before an earlier kernel has ended. It may then touch the memory that the earlier kernel
//! writes only after `griddepcontrol.wait`. An instruction is *early* if some path from the kernel's beginning to it
//! passes no such wait. If there is one wait, the early instructions are those that it does not dominate. Waits in both
//! branches of a condition count together. A guarded wait (`@p`) does not count. Calls are followed: an access in a
//! function is early if it is early on some path through the calls that lead there, and a wait that is on all paths
//! through a function counts for its callers.
//!
//! The earlier kernel of the two signals by `griddepcontrol.launch_dependents` that the later one may start. Only time
//! depends on that, since the later one waits for its end: the fewer writes come before the signal, the more overlaps.

mod report;
mod shared;
mod dependency;
mod call;
mod transfer;
mod workspace;
mod flow;
mod program;
mod forward;
mod webs;
mod blocks;
mod opcode;
mod value;
mod sets;
mod source;

use crate::Geometry;
use crate::ast::{Cluster, Function, Module, PointerAttribute, Space, Type, Variable};
use flow::Flow;
use program::Program;
use report::Report;

/// The facts about a kernel that its PTX shows. Lines are lines of the PTX text. An access that occurs on several lines
/// has the first.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelSummary {
    /// Its (mangled) name.
    pub name: String,
    /// The line of its `.entry`.
    pub line: u32,
    /// Its parameters, in order.
    pub params: Vec<ParamSummary>,
    /// `.reqntid`: the only block it may be launched with.
    pub required_block: Option<[u32; 3]>,
    /// `.maxntid`: the product is the largest number of threads in a block.
    pub max_block: Option<[u32; 3]>,
    /// The demands on the clusters that it is launched in.
    pub cluster: Cluster,
    /// `.target` of the module, for example `sm_70`.
    pub target: String,
    /// Bytes of shared memory declared with a size, by the kernel and what it calls.
    pub static_shared: u64,
    /// The line of a load through an address that may come from anything but the pointer parameters and the module's
    /// variables.
    pub unknown_load: Option<u32>,
    /// The line of a store or an atomic operation through such an address. Accesses through a by-value parameter count
    /// in [`ParamSummary::address`] instead.
    pub unknown_store: Option<u32>,
    /// The different sets of parameters that stores may go through, by line.
    pub stores: Vec<Store>,
    /// The module's `.global` variables that it or a function that it calls touches, in order of declaration.
    pub variables: Vec<VariableAccess>,
    /// The module's `.const` variables that it or a function that it calls may read, in order of declaration: those
    /// that the code mentions. If an address may come from anywhere, all of them.
    pub constants: Vec<String>,
    /// The line of `griddepcontrol.launch_dependents`.
    pub launch_dependents: Option<u32>,
    /// The line of `griddepcontrol.wait`.
    pub dependency_wait: Option<u32>,
    /// The line of an early exit (`ret`, `exit` or the end of the code); a trap does not count.
    pub early_exit: Option<u32>,
    /// The line of an early access through an address that may come from anything but the pointer parameters and the
    /// module's variables; accesses through by-value parameters count here.
    pub unknown_early: Option<u32>,
    /// The line of an [`Access::noncoherent`] load through such an address, early or not.
    pub unknown_noncoherent: Option<u32>,
    /// The last line, in the text, of a write of global memory.
    pub last_write: Option<u32>,
    /// The last line, in the text, of a write of global memory that may come after `griddepcontrol.launch_dependents`.
    pub last_triggered_write: Option<u32>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamSummary {
    /// Its name in the PTX, usually the name of the kernel and a number.
    pub name: String,
    /// Its type; `B8` for arrays, which is how structs are passed.
    pub ty: Type,
    /// Its size in bytes.
    pub size: u64,
    /// Its alignment in bytes.
    pub align: u32,
    /// Whether it is declared as an array, `.b8 name[24]`.
    pub array: bool,
    /// The `.ptr` attribute, if the compiler wrote it.
    pub pointer: Option<PointerAttribute>,
    /// The accesses of the memory that it points to; none unless the caller says that it is a pointer.
    pub access: Access,
    /// The line where its value is used as an address, or as part of one. For a by-value parameter: as the only pointer
    /// in an address (the pointer in a struct, a tensor map), not as an index.
    pub address: Option<u32>,
}

/// The lines of accesses through a pointer, or of a variable. An access counts if its address *may* derive from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// A plain load. Atomic operations are not counted here.
    pub loaded: Option<u32>,
    /// A store of any kind, atomic operations included.
    pub stored: Option<u32>,
    /// An atomic operation or reduction, which reads too.
    pub atomic: Option<u32>,
    /// An access that is no `atom` or `red`, and goes through no handle: a load, a store, a copy, or one that is not
    /// known.
    pub plain: Option<u32>,
    /// An `atom` or `red` of a narrower scope than the GPU (`.cta`, `.cluster`), which is not atomic for other kernels.
    pub narrow: Option<u32>,
    /// The `atom`s and `red`s of elements of 2, 4, 8 and 16 bytes.
    pub atomic_sizes: [Option<u32>; 4],
    /// The loads and stores of elements of 4 and 8 bytes that are strong for the whole system: `volatile`, or
    /// `relaxed`, `acquire` or `release` with `.sys`.
    pub word_sizes: [Option<u32>; 2],
    /// An access of any other kind, which may disturb those of the host to memory that is mapped.
    pub unmapped: Option<u32>,
    /// An access of any kind that can come before `griddepcontrol.wait`, or without it.
    pub early: Option<u32>,
    /// A load through caches that do not see what other kernels write meanwhile (`ld.global.nc`, `ldu`, textures,
    /// surfaces, tensor maps).
    pub noncoherent: Option<u32>,
    /// The accesses through handles of textures and surfaces: a line for each [`Way`] and [`Geometry`], and the last
    /// for all accesses of other forms. They count as loads or stores, but not as plain accesses.
    through: [Option<u32>; WAYS * GEOMETRIES + 1],
    /// The type of the elements.
    pub elements: Elements,
    /// The bytes of the widest access, which begins at a multiple of them: 16 for `ld.v4.f32`, and
    /// for instructions that do not say; 0 without one.
    pub widest: u32,
}

/// The ways to access memory through the handle of a texture or a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// `tex`
    Fetch,
    /// `tld4`: one channel of each of the four texels that a linear filter reads (`tex2Dgather`).
    Gather,
    /// `suld`
    Load,
    /// `sust`
    Store,
}

/// The form of an access through the handle of a texture or a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Through {
    /// The way.
    pub way: Way,
    /// The geometry; `None` if graphs do not have this form: cubes, levels of detail, offsets.
    pub geometry: Option<Geometry>,
}

const WAYS: usize = 4;
const GEOMETRIES: usize = Geometry::ALL.len();

impl Through {
    /// All forms that graphs have.
    pub fn all() -> impl Iterator<Item = Self> {
        let ways = [Way::Fetch, Way::Gather, Way::Load, Way::Store].into_iter();
        ways.flat_map(|way| {
            Geometry::ALL.map(|geometry| Self {
                way,
                geometry: Some(geometry),
            })
        })
    }

    /// Whether the handle is one of a surface.
    pub const fn is_surface(self) -> bool {
        match self.way {
            Way::Fetch | Way::Gather => false,
            Way::Load | Way::Store => true,
        }
    }

    fn index(self) -> usize {
        match self.geometry {
            Some(geometry) => self.way as usize * GEOMETRIES + geometry as usize,
            None => WAYS * GEOMETRIES,
        }
    }
}

impl Access {
    /// The forms of accesses through handles, each with the line of the first. An unknown form may be one of any way.
    pub fn through(&self) -> impl Iterator<Item = (Through, u32)> {
        let other = Through {
            way: Way::Fetch,
            geometry: None,
        };
        let forms = Through::all().chain([other]);
        forms.filter_map(|form| Some((form, self.through[form.index()]?)))
    }

    /// The line of the first access through a handle in one of these forms.
    pub fn any_through(&self, wanted: impl Fn(Through) -> bool) -> Option<u32> {
        let wanted = self.through().filter(|(form, _)| wanted(*form));
        wanted.map(|(_, line)| line).min()
    }

    /// The line of the first access that memory in a CUDA array alone permits: all through handles but `tex1Dfetch` and
    /// `tex2D`.
    pub fn needs_array(&self) -> Option<u32> {
        self.any_through(|form| {
            let is_linear = matches!(form.geometry, Some(Geometry::Linear | Geometry::Plane));
            form.way != Way::Fetch || !is_linear
        })
    }

    /// Whether the memory must be a CUDA array, if it is accessed as texels and not every kind of memory will do.
    pub fn array(&self) -> Option<bool> {
        let numbered = self.any_through(|form| form.geometry == Some(Geometry::Linear));
        self.needs_array().map(|_| true).or(numbered.map(|_| false))
    }

    /// The place of the line of the first access of this form.
    fn place(&mut self, form: Through) -> &mut Option<u32> {
        &mut self.through[form.index()]
    }
}

/// The type of the elements of memory, as its accesses tell it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Elements {
    /// No access tells.
    #[default]
    Unknown,
    /// All accesses that tell agree. Compilers write `u32` and `b32` for anything of 4 bytes.
    One(Type),
    /// Accesses differ.
    Mixed,
}

impl Elements {
    /// The type after one more access, of elements of type `ty`.
    fn with(self, ty: Type) -> Self {
        match self {
            Self::Unknown => Self::One(ty),
            Self::One(known) if known == ty || (known.size() == ty.size() && ty.is_untyped()) => self,
            Self::One(known) if known.size() == ty.size() && known.is_untyped() => Self::One(ty),
            Self::One(_) | Self::Mixed => Self::Mixed,
        }
    }
}

/// The parameters that one or more stores may go through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// The first such store.
    pub line: u32,
    /// Indices of pointer parameters, ascending.
    pub params: Vec<usize>,
    /// Whether the address may come from anything else.
    pub unknown: bool,
}

/// A kernel's accesses of a module-scope variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableAccess {
    /// The variable's name.
    pub name: String,
    /// The accesses.
    pub access: Access,
}

/// Memory that a kernel touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touched<'s> {
    /// The memory of a pointer parameter, by index.
    Param(usize),
    /// A module-scope variable.
    Variable(&'s str),
    /// Unknown memory.
    Unknown,
}

impl KernelSummary {
    /// The memory that it may touch early, each with a line. The list is empty if the kernel never waits: everything is
    /// early then.
    pub fn early(&self) -> Vec<(Touched<'_>, u32)> {
        self.touched(self.unknown_early, |access| access.early)
    }

    /// The memory that it loads through caches that are not coherent, each with a line. The list is empty if the kernel
    /// never waits.
    pub fn noncoherent(&self) -> Vec<(Touched<'_>, u32)> {
        self.touched(self.unknown_noncoherent, |access| access.noncoherent)
    }

    /// The line where it may load or atomically update the memory of a pointer parameter. A load through an unknown
    /// address counts.
    pub fn load_through(&self, param: usize) -> Option<u32> {
        let access = self.params.get(param)?.access;
        access.loaded.or(access.atomic).or(self.unknown_load)
    }

    /// The bytes that it accesses at once of the memory of a pointer parameter, if they are more than those that the
    /// memory is known to be aligned to. A proof that it stays within the memory assumes that this begins at a
    /// multiple.
    pub fn at_once(&self, param: usize, known: u64) -> Option<u32> {
        let widest = self.params.get(param)?.access.widest;
        (u64::from(widest) > known).then_some(widest)
    }

    fn touched(&self, unknown: Option<u32>, line: impl Fn(&Access) -> Option<u32>) -> Vec<(Touched<'_>, u32)> {
        if self.dependency_wait.is_none() {
            return Vec::new();
        }
        let params = self.params.iter().map(|param| line(&param.access)).enumerate();
        let params = params.filter_map(|(index, line)| Some((Touched::Param(index), line?)));
        let variables = self.variables.iter();
        let variables = variables.filter_map(|known| Some((Touched::Variable(&known.name), line(&known.access)?)));
        let unknown = unknown.map(|line| (Touched::Unknown, line));
        unknown.into_iter().chain(params).chain(variables).collect()
    }
}

/// Returns the summary of the kernel `name`; `None` if the module defines no such kernel.
///
/// `pointers` says by parameter which are pointers to memory that the caller accounts for (`&[T]`, `&mut [T]` in Rust);
/// the others, and those beyond its end, are passed by value.
pub fn summarize(module: &Module, name: &str, pointers: &[bool]) -> Option<KernelSummary> {
    let mut program = Program::new(module);
    let index = kernel(&program, name)?;
    summarize_at(&mut program, index, pointers)
}

/// Returns the summaries of all kernels of a module, in order. A parameter of 64 bits counts as a pointer if it is used
/// as an address. If an address is the plain sum of two parameters, neither is known to be the pointer, and the access
/// is unknown. If the declaration of a kernel is known, use [`summarize`].
pub fn kernel_summaries(module: &Module) -> Vec<KernelSummary> {
    let mut program = Program::new(module);
    let mut summaries = Vec::new();
    for (index, function) in module.functions.iter().enumerate() {
        if !function.entry || kernel(&program, &function.name) != Some(index) {
            continue;
        }
        let pointers = infer_at(&mut program, index);
        summaries.extend(summarize_at(&mut program, index, &pointers));
    }
    summaries
}

/// Returns which parameters of the kernel `name` look like pointers, as [`kernel_summaries`] takes them; `None` if the
/// module defines no such kernel.
pub fn infer_pointers(module: &Module, name: &str) -> Option<Vec<bool>> {
    let mut program = Program::new(module);
    let index = kernel(&program, name)?;
    Some(infer_at(&mut program, index))
}

/// The kernel of that name, if it has code.
fn kernel(program: &Program<'_>, name: &str) -> Option<usize> {
    let index = program.function(name)?;
    let function = &program.module.functions[index];
    (function.entry && function.code().is_some()).then_some(index)
}

/// The parameters of a kernel that look like pointers.
fn infer_at(program: &mut Program<'_>, index: usize) -> Vec<bool> {
    let bytes = u64::from(program.module.address_size / 8);
    let Some(summary) = summarize_at(program, index, &[]) else {
        return Vec::new();
    };
    let is_pointer = |param: &ParamSummary| {
        param.pointer.is_some() || (param.size == bytes && !param.array && param.address.is_some())
    };
    summary.params.iter().map(is_pointer).collect()
}

fn summarize_at(program: &mut Program<'_>, index: usize, pointers: &[bool]) -> Option<KernelSummary> {
    let function = &program.module.functions[index];
    let mut summary = header(function, &program.module.target);
    let mut flow = Flow::run(program, index, pointers)?;
    Report::fill(&mut summary, &mut flow);
    summary.static_shared = shared::static_shared(&flow);
    Some(summary)
}

/// The summary of the declaration alone, without accesses.
fn header(function: &Function, target: &str) -> KernelSummary {
    KernelSummary {
        name: function.name.clone(),
        line: function.line,
        params: function.params.iter().map(param).collect(),
        required_block: function.required_block,
        max_block: function.max_block,
        cluster: function.cluster,
        target: target.to_owned(),
        static_shared: 0,
        unknown_load: None,
        unknown_store: None,
        stores: Vec::new(),
        variables: Vec::new(),
        constants: Vec::new(),
        launch_dependents: None,
        dependency_wait: None,
        early_exit: None,
        unknown_early: None,
        unknown_noncoherent: None,
        last_write: None,
        last_triggered_write: None,
    }
}

fn param(variable: &Variable) -> ParamSummary {
    ParamSummary {
        name: variable.name.clone(),
        ty: variable.ty,
        size: variable.size,
        align: variable.align,
        // No compiler passes a scalar as `.b8`.
        array: variable.space == Space::Param && (variable.ty == Type::B8 || variable.size != variable.element_size()),
        pointer: variable.pointer,
        access: Access::default(),
        address: None,
    }
}
