//! Kernels: the facts that [`#[cuda_kernels]`](crate::cuda_kernels) records about each, and calls of them.
//!
//! Programs find all that they need at the crate's root. Only an author of an `unsafe impl` of [`Kernel`] needs this
//! module as well: it has [`KernelFacts`] and the types of its fields.

pub(crate) mod cubin;
pub(crate) mod module;
pub(crate) mod source;
pub(crate) mod programmatic_edge;
pub(crate) mod atomic;
pub(crate) mod mapped;
pub(crate) mod texture;
pub(crate) mod surface;
pub(crate) mod texels;
pub(crate) mod dimensions;
pub(crate) mod integer;
pub(crate) mod param;

use crate::driver::CudaFunction;
use crate::kernel::integer::Integer;
use crate::kernel::param::PassedParam;
use crate::shape::Element;
use crate::shape::place::{OnArray, OnDevice, OnMapped, Place, Span, TexelMemory};
use graph_plan::{Argument, Diagnostic, Draft, KernelCode, LaunchConfig, LaunchRequest, Mode, Subject, Target};
use graph_ptx::declaration::Mistake;
use std::sync::Arc;

pub use crate::kernel::dimensions::Dimensions;
pub use crate::kernel::source::{Declaration, ParamType, Source};
pub use crate::kernel::surface::Surface;
pub use crate::kernel::texels::{Channel, Geometry, Texels};
pub use crate::kernel::texture::Texture;
pub use graph_plan::{Contract, GridDependency, KernelLimits, ModuleVariable, Param, ParamKind, Scalar, Touched};

/// The facts about a kernel that are known at compile time.
#[derive(Debug)]
pub struct KernelFacts {
    /// The name of its declaration.
    pub name: &'static str,
    /// The name of its `.entry` in the PTX.
    pub entry: &'static str,
    /// The source of its code. If that is CUDA C++, the fields from `limits` on are not known at compile time; they
    /// have no effect, and are found in the PTX when a graph is built.
    pub source: Source,
    /// Its parameters.
    pub params: &'static [Param],
    /// The requirements of its author on arguments and launches.
    pub contracts: &'static [Contract],
    /// Its own limits on launches: threads of a block, blocks of a cluster.
    pub limits: KernelLimits,
    /// Static shared memory of a block, in bytes.
    pub static_shared: u64,
    /// The `.target` of the PTX: `sm_70`.
    pub target: &'static str,
    /// The module-scope variables that it touches, and how.
    pub variables: &'static [(&'static str, Mode)],
    /// The `&mut` parameters that it may load or atomically update through, by index, each with the line of the PTX. If
    /// a load may go anywhere, these are all `&mut` parameters. Through the others it only writes. Parameters of
    /// `MaybeUninit` are not among them.
    pub loads: &'static [(usize, u32)],
    /// The facts that decide whether a programmatic edge may start it before the previous kernel has ended.
    pub dependency: GridDependency,
    /// The places in the source of lines of the PTX that these facts name, by line, if its `.loc`s tell them. A place
    /// is written as in messages: `` `x.cu:12` ``.
    pub places: &'static [(u32, &'static str)],
    /// The parameters that are textures. Each is `&` in `params`; the kernel gets a handle and no address.
    pub textures: &'static [Texture],
    /// The parameters that are surfaces. Each is `&` or `&mut` in `params`; the kernel gets a handle and no address.
    pub surfaces: &'static [Surface],
    /// The memory, by parameter, whose address must be a multiple of some bytes, since the kernel is proved and
    /// accesses several elements at once.
    pub aligned: &'static [(usize, u32)],
    /// The same kernel in files that are tuned for newer devices, each with a `target` above those before it. A device
    /// gets the kernel with the highest target that it runs, and the emulator gets this one. They differ from it in the
    /// fields that PTX tells: `source`, `limits` and those after it but `contracts`, `textures`, `surfaces` and
    /// `aligned`. They have no tuned kernels of their own.
    pub tuned: &'static [&'static KernelFacts],
}

/// The first compute capability with programmatic launches: 9.0.
pub(crate) const PROGRAMMATIC_FROM: u32 = 90;

impl KernelFacts {
    /// Whether both are facts of one kernel as one declaration has it: launches of both need the same checks. The
    /// `static` of a kernel's code exists once.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.source.is(&other.source)
            && (self.entry, self.name, self.contracts, self.aligned)
                == (other.entry, other.name, other.contracts, other.aligned)
    }

    /// Whether a parameter is memory of this mode.
    pub(crate) const fn has_memory(&self, mode: Mode) -> bool {
        let mut index = 0;
        while index < self.params.len() {
            if let ParamKind::Buffer { mode: found, .. } = self.params[index].kind
                && found as u8 == mode as u8
            {
                return true;
            }
            index += 1;
        }
        false
    }

    /// The number of files that the kernel is in.
    pub(crate) const fn variants(&self) -> usize {
        1 + self.tuned.len()
    }

    /// The kernel in the file with this index: itself, then the tuned ones.
    pub(crate) const fn variant(&self, index: usize) -> &KernelFacts {
        match index {
            0 => self,
            _ => self.tuned[index - 1],
        }
    }

    /// Whether a device with programmatic launches may get this variant: not if each such device runs a higher one.
    pub(crate) const fn may_be_programmatic(&self, index: usize) -> bool {
        let Some(own) = Target::parse(self.variant(index).target) else {
            return true;
        };
        let mut higher = 0;
        while higher < self.tuned.len() {
            if let Some(target) = Target::parse(self.tuned[higher].target)
                && target.is_above(own)
                && target.runs_from(PROGRAMMATIC_FROM)
            {
                return false;
            }
            higher += 1;
        }
        true
    }

    /// Whether, in one of the files, it lets the kernels after it start before it has ended.
    pub(crate) const fn triggers(&self) -> bool {
        let mut variant = 0;
        while variant < self.variants() {
            if self.variant(variant).dependency.triggers.is_some() {
                return true;
            }
            variant += 1;
        }
        false
    }

    /// The form of a parameter that is a texture.
    pub(crate) fn texture(&self, param: usize) -> Option<&'static Texture> {
        self.textures.iter().find(|texture| texture.param == param)
    }

    /// The form of a parameter that is a surface.
    pub(crate) fn surface(&self, param: usize) -> Option<&'static Surface> {
        self.surfaces.iter().find(|surface| surface.param == param)
    }

    /// Whether a parameter is a texture or a surface.
    pub(crate) const fn takes_texels(&self) -> bool {
        !self.textures.is_empty() || !self.surfaces.is_empty()
    }

    /// The texels of a parameter that is a texture or a surface.
    pub(crate) fn texels(&self, param: usize) -> Option<&'static Texels> {
        let texture = self.texture(param).map(|texture| &texture.texels);
        texture.or_else(|| self.surface(param).map(|surface| &surface.texels))
    }

    /// The facts that the rules of graphs need.
    pub(crate) const fn code(&self) -> KernelCode<'_> {
        KernelCode {
            name: self.name,
            file: match self.source {
                Source::Loaded | Source::Cubin(_) => None,
                Source::Ptx(_) | Source::Compiled(..) | Source::Cuda(..) => Some(self.source.path()),
            },
            compiled: matches!(self.source, Source::Compiled(_)),
            places: self.places,
            params: self.params,
            contracts: self.contracts,
            limits: self.limits,
            variables: self.variables,
            loads: self.loads,
            dependency: &self.dependency,
        }
    }
}

/// A declared kernel. `#[cuda_kernels]` implements this for the type that it makes of each declaration. If a kernel is
/// declared with `#[for_each(T = f32 => "scale_f32", ..)]`, the type is generic, and is a kernel for the listed types:
/// code that is generic over them says `where scale<T>: Kernel`.
///
/// # Safety
///
/// `FACTS` truly describes the `.entry` in its PTX text:
///
/// * the parameters have these sizes;
/// * the kernel writes nothing but the module's variables and the memory passed as `&mut`, and reads nothing but these
///   and the memory passed as `&`;
/// * memory passed as `&` of [`Atomic`](crate::Atomic) is accessed only by `atom` and `red` with the scope of the whole
///   GPU;
/// * memory passed as `&` of [`Mapped`](crate::Mapped) is accessed only by `ld` and `st` of elements of this size that
///   are strong for the whole system;
/// * memory passed as `&` of [`Texel`](crate::Texel), which `textures` lists, is read through the texture alone, by the
///   `tex` or `tld4` of its [`Geometry`]; memory passed as `&` of [`Surfel`](crate::Surfel), which `surfaces` lists, is
///   accessed by `suld` of its geometry alone, and as `&mut` also by `sust`;
/// * in memory passed as `&mut` of `MaybeUninit`, each element that is read later is written before the kernel reads
///   it;
/// * `loads` and `dependency` leave out nothing that they must list;
/// * if [`Kernel::SAFE`], it is a `safe fn`, as the macro understands that.
///
/// The same holds for each of `tuned`, whose parameters and contracts are those of `FACTS`.
///
/// If the source is CUDA C++, a [`safe`](crate::kernel::Declaration::safe) declaration is checked against the compiled
/// PTX when a graph is built; for an unsafe one, whoever launches the kernel vouches.
#[diagnostic::on_unimplemented(
    message = "there is no kernel `{Self}`",
    label = "no kernel",
    note = "`#[for_each(..)]` lists the types that a generic kernel exists for",
    note = "a graph that is generic over them says which kernels it needs: `where {Self}: graph_runtime::Kernel`"
)]
pub unsafe trait Kernel {
    /// The facts about the kernel.
    const FACTS: &'static KernelFacts;

    /// The variables of its module, if its PTX is known at compile time: for messages about `constant`s that need not
    /// wait for [`GraphBuilder::build`](crate::GraphBuilder::build), which looks into the PTX itself.
    const VARIABLES: Option<&'static [ModuleVariable<'static>]> = None;

    /// Whether it is declared `safe fn`: it is sound for all arguments and launch dimensions that satisfy its
    /// contracts, and for any contents of memory. Only then may [handles](crate::NodeHandle::set_launch) change the
    /// dimensions.
    const SAFE: bool = false;

    /// Whether it is proved to stay within the memory of its arguments, and to read nothing of `&mut [MaybeUninit<T>]`
    /// that it has not written, for all arguments, dimensions and contents of memory as above.
    const PROOF: Proof = Proof::Trusted("it was not looked at");
}

/// The ground on which a kernel is taken to stay within the memory of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Its PTX proves it: see `docs/safety.md` for what that assumes.
    Proved,
    /// Whoever declares or launches it promises it. The text says why it is not proved.
    Trusted(&'static str),
}

/// A call of a kernel: the kernel and its `N` arguments, checked by type. `name::call(arguments..)` makes it, if
/// `#[cuda_kernels]` declares `name`; [`GraphBuilder::kernel`](crate::GraphBuilder::kernel) makes a node of it.
#[derive(Clone, Debug)]
pub struct KernelCall<const N: usize> {
    pub(crate) callee: Callee,
    pub(crate) arguments: [CallArgument; N],
}

/// The kernel that is called.
#[derive(Clone, Debug)]
pub(crate) enum Callee {
    /// A declared kernel, and whether it is declared `safe fn`.
    Declared(&'static KernelFacts, bool),
    Loaded(CudaFunction),
    /// A kernel of a module, called with arguments that it does not take.
    Refused(Arc<[Mistake]>),
    /// In an update: the kernel with which the node was built.
    Unchanged,
}

/// The facts of a function that somebody else has loaded: nothing is known.
pub(crate) static LOADED: KernelFacts = KernelFacts {
    name: "CudaFunction",
    entry: "",
    source: Source::Loaded,
    params: &[],
    contracts: &[],
    limits: KernelLimits::NONE,
    static_shared: 0,
    target: "",
    variables: &[],
    loads: &[],
    dependency: GridDependency::NONE,
    places: &[],
    textures: &[],
    surfaces: &[],
    aligned: &[],
    tuned: &[],
};

/// A loaded function, to launch in a graph: cudarc's [`CudaFunction`], or a reference or [`Arc`] to one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no loaded kernel",
    label = "expected a `CudaFunction`",
    note = "a kernel that `#[cuda_kernels]` declares is launched by its path, without parentheses"
)]
pub trait LoadedFunction {
    /// Returns another handle to the function, which keeps its module loaded.
    fn loaded(&self) -> CudaFunction;
}

impl LoadedFunction for CudaFunction {
    fn loaded(&self) -> CudaFunction {
        self.clone()
    }
}

impl<F: LoadedFunction + ?Sized> LoadedFunction for &F {
    fn loaded(&self) -> CudaFunction {
        F::loaded(self)
    }
}

impl<F: LoadedFunction + ?Sized> LoadedFunction for Arc<F> {
    fn loaded(&self) -> CudaFunction {
        F::loaded(self)
    }
}

/// The type in the `None` that calls take in place of memory, if the parameter is `Option<&[T]>` or `Option<&mut [T]>`;
/// kernels of a [`Module`](crate::Module) take it for each pointer. It has no values: memory is passed as it is,
/// without `Some`.
#[derive(Clone, Copy, Debug)]
pub enum NoMemory {}

/// One argument of a [`KernelCall`]: device memory, or a value.
#[derive(Clone, Debug)]
pub struct CallArgument(pub(crate) ArgumentKind);

#[derive(Clone, Debug)]
pub(crate) enum ArgumentKind {
    /// A buffer, and whether the kernel may write it.
    Buffer(Span, Mode),
    /// The bytes of a value.
    Value(Value),
    /// An integer that does not fit its parameter: no graph is built with it, and no node changed.
    Misfit(i128),
    /// A value that is a param, until the node is added or changed.
    Param(Box<PassedParam>),
}

/// The bytes of a by-value argument; small ones need no allocation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// Up to 16 bytes, with zeros after them, and their number.
    Small([u8; 16], u8),
    Large(Box<[u8]>),
}

impl Value {
    #[inline]
    pub(crate) fn new<T: Element>(value: &T) -> Self {
        Self::of_bytes(bytemuck::bytes_of(value))
    }

    /// The value whose bytes these are.
    #[inline]
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        let mut small = [0; 16];
        match small.get_mut(..bytes.len()) {
            Some(start) => {
                start.copy_from_slice(bytes);
                Value::Small(small, bytes.len() as u8)
            }
            None => Value::Large(bytes.into()),
        }
    }

    /// The bytes of a value of at most eight, with zeros after them; `None` for longer ones.
    #[inline]
    pub(crate) fn word(&self) -> Option<u64> {
        match self {
            Value::Small(bytes, 0..=8) => bytes.first_chunk().map(|word| u64::from_ne_bytes(*word)),
            Value::Small(..) | Value::Large(_) => None,
        }
    }

    /// Whether it may be a null pointer.
    pub(crate) fn is_null(&self) -> bool {
        self.bytes() == [0; size_of::<u64>()]
    }

    /// Replaces the bytes of a value of at most eight by others, which have zeros after them, too.
    #[inline]
    pub(crate) fn set_word(&mut self, word: u64) {
        if let Value::Small(bytes, 0..=8) = self
            && let Some(first) = bytes.first_chunk_mut()
        {
            *first = word.to_ne_bytes();
        }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Value::Small(bytes, len) => &bytes[..usize::from(*len)],
            Value::Large(bytes) => bytes,
        }
    }

    /// The value in the form that contracts are evaluated on.
    pub(crate) fn of_contract(&self) -> Argument {
        match self {
            Value::Small(bytes, len) => Argument::Bytes(*bytes, usize::from(*len)),
            // Only structs are so large, and `#[cuda_kernels]` lets no contract use one.
            Value::Large(bytes) => Argument::Bytes([0; 16], bytes.len()),
        }
    }

    /// Whether the two values have the same length.
    #[inline]
    pub(crate) fn is_as_long_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Small(_, len), Value::Small(_, other)) => len == other,
            (Value::Large(bytes), Value::Large(other)) => bytes.len() == other.len(),
            (Value::Small(..), Value::Large(_)) | (Value::Large(_), Value::Small(..)) => false,
        }
    }
}

impl<const N: usize> KernelCall<N> {
    /// A call of `K`. The calls that `#[cuda_kernels]` generates use it, after it has compared the arguments' types
    /// with the PTX. Otherwise only the author of an `unsafe impl` of [`Kernel`] needs it.
    ///
    /// # Safety
    ///
    /// The arguments are those of `K::FACTS`, in number, kind, element type and access.
    pub unsafe fn new<K: Kernel>(arguments: [CallArgument; N]) -> Self {
        Self {
            callee: Callee::Declared(K::FACTS, K::SAFE),
            arguments,
        }
    }

    /// A call of a function that cudarc has loaded. No declaration vouches for it, so the caller does. The graph keeps
    /// the function loaded.
    ///
    /// `build` checks that the function belongs to the device's context and, if the driver can tell (CUDA 12.4 and
    /// later), the number and sizes of the arguments. It fails on the emulator, which has no loaded functions. If the
    /// launch asks for more than 48 KiB of dynamic shared memory, `build` raises the function's own limit.
    ///
    /// # Safety
    ///
    /// The function takes these arguments. Launched with them it touches no memory but that of the places among them,
    /// within their bounds, writes only to those passed by [`CallArgument::write`], [`CallArgument::uninit`] and
    /// [`CallArgument::atomic`], and does what the last two say; nothing else uses its module's variables while the
    /// graph runs. This holds in every launch of the graph that safe code can bring about: for any contents of memory,
    /// whichever nodes are disabled, for any memory that is rebound, or bound where the graph is a child, and for all
    /// values of params among the arguments.
    pub unsafe fn loaded(function: impl LoadedFunction, arguments: [CallArgument; N]) -> Self {
        Self {
            callee: Callee::Loaded(function.loaded()),
            arguments,
        }
    }
}

impl CallArgument {
    /// Device memory that the kernel only reads. It gets the address of the first byte.
    pub fn read<S: ?Sized>(place: &Place<S, OnDevice>) -> Self {
        Self(ArgumentKind::Buffer(place.span, Mode::Read))
    }

    /// Device memory that the kernel reads and writes by atomic operations alone, which are atomic on the whole device.
    /// It gets the address of the first byte.
    pub fn atomic<S: ?Sized>(place: &Place<S, OnDevice>) -> Self {
        Self(ArgumentKind::Buffer(place.span, Mode::Atomic))
    }

    /// Mapped memory, which the kernel loads and stores as [`Mapped`](crate::Mapped) says. It gets the address of the
    /// first byte.
    pub fn mapped<S: ?Sized>(place: &Place<S, OnMapped>) -> Self {
        Self(ArgumentKind::Buffer(place.span, Mode::Mapped))
    }

    /// Device memory or an array that the kernel reads through a texture, as [`Texel`](crate::Texel) says. It gets the
    /// texture's handle.
    pub fn texture<S: ?Sized, M: TexelMemory>(place: &Place<S, M>) -> Self {
        Self(ArgumentKind::Buffer(place.span, Mode::Read))
    }

    /// An array that the kernel loads through a surface, as [`Surfel`](crate::Surfel) says. It gets the surface's
    /// handle.
    pub fn surface<S: ?Sized>(place: &Place<S, OnArray>) -> Self {
        Self(ArgumentKind::Buffer(place.span, Mode::Read))
    }

    /// An array that the kernel loads and stores through a surface, as [`Surfel`](crate::Surfel) says. It gets the
    /// surface's handle.
    pub fn surface_mut<S: ?Sized>(place: &mut Place<S, OnArray>) -> Self {
        Self(ArgumentKind::Buffer(place.span, Mode::ReadWrite))
    }

    /// Device memory that the kernel initialises: if an element is read later, the kernel writes it, and does so before
    /// it reads it. It gets the address of the first byte.
    pub fn uninit<S: ?Sized>(place: &mut Place<S, OnDevice>) -> Self {
        Self(ArgumentKind::Buffer(place.span, Mode::Write))
    }

    /// Device memory that the kernel may read and write. It gets the address of the first byte.
    pub fn write<S: ?Sized>(place: &mut Place<S, OnDevice>) -> Self {
        Self(ArgumentKind::Buffer(place.span, Mode::ReadWrite))
    }

    /// A null pointer, for a parameter that is `Option<&[T]>` and so on.
    pub(crate) fn none() -> Self {
        Self(ArgumentKind::Value(Value::of_bytes(&[0; size_of::<u64>()])))
    }

    /// The argument of a parameter that may be null: memory without elements is passed as `None` is, since a contract
    /// such as `n <= x.len() || x.len() == 0` holds for both.
    #[doc(hidden)]
    #[must_use]
    pub fn or_null(self) -> Self {
        match self.0 {
            ArgumentKind::Buffer(span, _) if span.bytes == 0 && !span.outside => Self::none(),
            _ => self,
        }
    }

    /// The argument in the form that contracts are evaluated on.
    fn of_contract(&self) -> Argument {
        match &self.0 {
            ArgumentKind::Buffer(span, _) => Argument::Buffer(span.bytes as u64),
            ArgumentKind::Value(value) => value.of_contract(),
            ArgumentKind::Misfit(value) => Argument::Int(*value),
            ArgumentKind::Param(_) => Argument::Unknown, // never: it has its value before the launch is checked
        }
    }

    /// A value, which the kernel gets as the bytes of `T`.
    pub fn value<T: Element>(value: T) -> Self {
        Self(ArgumentKind::Value(Value::new(&value)))
    }

    /// An integer for a parameter of type `T`. One that does not fit is a mistake that building reports.
    #[doc(hidden)]
    #[inline]
    pub fn integer<T: Integer + Element>(value: impl Integer) -> Self {
        value.argument::<T>()
    }
}

/// The dimensions of a launch, as they are written in `<<<grid, block, shared>>>`, and how its blocks run.
///
/// They are checked against the limits of CUDA, of the kernel and of the device when the graph is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    pub(crate) grid: [i128; 3],
    pub(crate) block: [i128; 3],
    pub(crate) shared: i128,
    pub(crate) cluster: Option<[i128; 3]>,
    pub(crate) cooperative: bool,
}

impl Launch {
    /// A launch of `grid` blocks of `block` threads each. Both are an integer, or a tuple of up to three: x, y and z.
    pub fn new(grid: impl Dimensions, block: impl Dimensions) -> Self {
        Self {
            grid: grid.dimensions(),
            block: block.dimensions(),
            shared: 0,
            cluster: None,
            cooperative: false,
        }
    }

    /// Sets the dynamic shared memory of each block, in bytes.
    pub fn shared(self, bytes: impl Dimensions) -> Self {
        Self {
            shared: bytes.dimensions()[0],
            ..self
        }
    }

    /// Launches the blocks in clusters of `blocks` blocks. The blocks of a cluster are on the GPU at the same time and
    /// reach each other's shared memory. `blocks` must divide the grid in x, y and z; whether a cluster may have more
    /// than 8 blocks depends on the device.
    ///
    /// Clusters of several blocks need compute capability 9.0. On the emulator, the blocks of a cluster take turns.
    pub fn cluster(self, blocks: impl Dimensions) -> Self {
        Self {
            cluster: Some(blocks.dimensions()),
            ..self
        }
    }

    /// Launches all blocks at the same time, so that they may wait for each other. `build` refuses more blocks than the
    /// device has room for at once.
    pub fn cooperative(self) -> Self {
        Self {
            cooperative: true,
            ..self
        }
    }

    /// Whether it has the same grid, blocks and shared memory.
    pub(crate) fn has_dimensions_of(&self, other: &Self) -> bool {
        (self.grid, self.block, self.shared) == (other.grid, other.block, other.shared)
    }

    /// Whether it has this grid, these blocks and this shared memory.
    #[inline]
    pub(crate) fn is_of(&self, config: &LaunchConfig) -> bool {
        let same = |sides: &[i128; 3], known: &[u32; 3]| {
            sides.iter().zip(known).all(|(&side, &known)| side == i128::from(known))
        };
        same(&self.grid, &config.grid) && same(&self.block, &config.block) && self.shared == i128::from(config.shared)
    }

    /// The dimensions in the form that `graph-plan` checks.
    pub(crate) const fn request(&self) -> LaunchRequest {
        LaunchRequest {
            grid: self.grid,
            block: self.block,
            shared: self.shared,
            cluster: self.cluster,
        }
    }
}

/// Checks the dimensions of a launch with the arguments of a call.
pub(crate) fn launch_mistake(
    draft: &Draft,
    node: usize,
    facts: &KernelFacts,
    launch: Launch,
    arguments: &[CallArgument],
) -> Result<LaunchConfig, Diagnostic> {
    let memory = |index: usize| match &arguments[index].0 {
        ArgumentKind::Buffer(span, _) => Some(span.resource),
        ArgumentKind::Value(_) | ArgumentKind::Misfit(_) | ArgumentKind::Param(_) => None,
    };
    // Few kernels have more parameters than these, for which nothing is allocated.
    let mut few = [Argument::Unknown; 12];
    let many: Vec<Argument>;
    let known = match few.get_mut(..arguments.len()) {
        Some(few) => {
            few.iter_mut()
                .zip(arguments)
                .for_each(|(known, argument)| *known = argument.of_contract());
            &*few
        }
        None => {
            many = arguments.iter().map(CallArgument::of_contract).collect();
            &many
        }
    };
    check_dimensions(draft, node, facts, launch, known, memory)
}

/// Checks the dimensions of a launch. `memory` returns the resource of the argument with this index, if it is memory.
pub(crate) fn check_dimensions(
    draft: &Draft,
    node: usize,
    facts: &KernelFacts,
    launch: Launch,
    arguments: &[Argument],
    memory: impl Fn(usize) -> Option<usize>,
) -> Result<LaunchConfig, Diagnostic> {
    let (code, request) = (facts.code(), launch.request());
    let names = [&*draft.nodes[node].name];
    let checked = code.check_launch(&names, &request, arguments, &[], true);
    checked.map_err(|text| {
        let name = |index| memory(index).and_then(|resource| draft.resources.get(resource));
        let memory = (0..arguments.len()).map(|index| name(index).map_or("", |resource| &*resource.name));
        let memory: Vec<&str> = memory.collect();
        let named = code.check_launch(&names, &request, arguments, &memory, true);
        Diagnostic::parse(Subject::Node(node), named.err().unwrap_or(text).as_str())
    })
}
