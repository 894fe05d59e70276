//! Kernels: what [`#[cuda_kernels]`](crate::cuda_kernels) records about each, and calls of them.
//!
//! Programs name what they need at the crate's root. This module has besides what an author of an `unsafe impl` of
//! [`Kernel`] writes: [`KernelFacts`] and the types of its fields.

pub(crate) mod source;
pub(crate) mod programmatic;
pub(crate) mod dimensions;
pub(crate) mod integer;

use crate::kernel::integer::Integer;
use crate::shape::Element;
use crate::shape::place::{OnDevice, Place, Span};
use cudarc::driver::CudaFunction;
use graph_plan::{Argument, Diagnostic, Draft, KernelCode, LaunchConfig, LaunchRequest, Mode, Subject};
use std::sync::Arc;

pub use crate::kernel::dimensions::Dimensions;
pub use crate::kernel::source::{Declaration, ParamType, Source};
pub use graph_plan::{Contract, GridDependency, KernelLimits, Param, ParamKind, Scalar, Touched};

/// The facts that are known of a kernel at compile time.
#[derive(Debug)]
pub struct KernelFacts {
    /// The name that the author gave it.
    pub name: &'static str,
    /// The name of its `.entry`.
    pub entry: &'static str,
    /// Where its code is. Of a CUDA source nobody knows at compile time what follows from `limits` on.
    pub source: Source,
    /// Its parameters.
    pub params: &'static [Param],
    /// The requirements of its author on arguments and launches.
    pub contracts: &'static [Contract],
    /// Its own limits on launches.
    pub limits: KernelLimits,
    /// Static shared memory of a block, in bytes.
    pub static_shared: u64,
    /// The architecture that the PTX needs: `sm_70`.
    pub target: &'static str,
    /// The module-scope variables it touches.
    pub variables: &'static [(&'static str, Mode)],
    /// The `&mut` parameters that it may load or atomically update through, by index, and the line of its PTX: all of
    /// them where a load may go anywhere. What it gets through the others it only writes.
    pub loads: &'static [(usize, u32)],
    /// Facts that decide whether it can be launched before the kernel that it waits for has ended.
    pub dependency: GridDependency,
}

impl KernelFacts {
    /// The facts that the rules of graphs need.
    pub(crate) const fn code(&self) -> KernelCode<'_> {
        KernelCode {
            name: self.name,
            file: match self.source {
                Source::Loaded => None,
                Source::Ptx(_) | Source::Cuda(..) => Some(self.source.path()),
            },
            params: self.params,
            contracts: self.contracts,
            limits: self.limits,
            variables: self.variables,
            loads: self.loads,
            dependency: &self.dependency,
        }
    }
}

/// A declared kernel. `#[cuda_kernels]` implements this for the type it makes of each declaration.
///
/// # Safety
///
/// `FACTS` describes the `.entry` in its PTX text truly: the parameters have these sizes, nothing but the module's
/// variables and the memory passed as `&mut` is written, nothing but these and the memory passed as `&` is read; the
/// loads and the `griddepcontrol` instructions are all of those that count. Of a CUDA source that is checked when a
/// graph is built, as far as a [`safe`](crate::kernel::Declaration::safe) declaration is concerned; for an unsafe one,
/// whoever launches it vouches.
pub unsafe trait Kernel {
    /// The facts that are known of it.
    const FACTS: &'static KernelFacts;
}

/// A call of a kernel: the kernel and its `N` arguments, checked by type. Of a declared kernel,
/// `name::call(arguments..)` makes it, and [`GraphBuilder::kernel`](crate::GraphBuilder::kernel) a node of it.
#[derive(Clone, Debug)]
pub struct KernelCall<const N: usize> {
    pub(crate) callee: Callee,
    pub(crate) arguments: [CallArgument; N],
}

/// The kernel that is called.
#[derive(Clone, Debug)]
pub(crate) enum Callee {
    Declared(&'static KernelFacts),
    Loaded(CudaFunction),
    /// The kernel that the node launched when it was built: for updates.
    Unchanged,
}

/// The facts of a function that somebody has loaded: none.
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
};

/// A loaded function, to launch in a graph: cudarc's [`CudaFunction`], or a reference to one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no loaded kernel",
    label = "expected a `CudaFunction`",
    note = "a kernel that `#[cuda_kernels]` declares is launched by its path, without parentheses"
)]
pub trait LoadedFunction {
    /// A handle of its own, which keeps the module loaded.
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

/// One argument of a [`KernelCall`].
#[derive(Clone, Debug)]
pub struct CallArgument(pub(crate) ArgumentKind);

#[derive(Clone, Debug)]
pub(crate) enum ArgumentKind {
    /// A buffer and how it is passed.
    Buffer(Span, Mode),
    /// A value, as it lies in memory.
    Value(Value),
    /// An integer that does not fit its parameter: no graph is built with it, and no node changed.
    Misfit(i128),
}

/// The bytes of a by-value argument; small ones need no allocation.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Small([u8; 16], u8),
    Large(Box<[u8]>),
}

impl Value {
    pub(crate) fn new<T: Element>(value: &T) -> Self {
        let bytes = bytemuck::bytes_of(value);
        let mut small = [0; 16];
        match small.get_mut(..bytes.len()) {
            Some(start) => {
                start.copy_from_slice(bytes);
                Value::Small(small, bytes.len() as u8)
            }
            None => Value::Large(bytes.into()),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Value::Small(bytes, len) => &bytes[..usize::from(*len)],
            Value::Large(bytes) => bytes,
        }
    }

    /// Whether the two values have one length.
    pub(crate) fn is_as_long_as(&self, other: &Self) -> bool {
        self.bytes().len() == other.bytes().len()
    }
}

impl<const N: usize> KernelCall<N> {
    /// A call of `K`. Only `#[cuda_kernels]` makes calls: it has checked the arguments' types against the PTX.
    ///
    /// # Safety
    ///
    /// The arguments are those of `K::FACTS`, in number, kind, element type and access.
    #[doc(hidden)]
    pub unsafe fn new<K: Kernel>(arguments: [CallArgument; N]) -> Self {
        Self {
            callee: Callee::Declared(K::FACTS),
            arguments,
        }
    }

    /// A call of a function that cudarc has loaded, in whose place no declaration vouches for anything. The graph keeps
    /// it loaded.
    ///
    /// When the graph is built on a CUDA device the arguments' number and sizes are checked, where the driver can tell
    /// (CUDA 12.4), and that the function belongs to the device's context. The emulator has no loaded functions. A
    /// graph that asks for more than 48 KiB of dynamic shared memory raises the function's own limit.
    ///
    /// # Safety
    ///
    /// The function takes these arguments. Launched with them it touches no memory but that of the places among them,
    /// within their bounds, and writes only to those passed by [`CallArgument::write`]; nothing else uses its module's
    /// variables while the graph runs.
    pub unsafe fn loaded(function: impl LoadedFunction, arguments: [CallArgument; N]) -> Self {
        Self {
            callee: Callee::Loaded(function.loaded()),
            arguments,
        }
    }

    /// A call of a loaded function for a node of the macro: `None` in an update, which keeps the function.
    ///
    /// # Safety
    ///
    /// As for [`KernelCall::loaded`].
    #[doc(hidden)]
    pub unsafe fn built_with(function: Option<CudaFunction>, arguments: [CallArgument; N]) -> Self {
        Self {
            callee: function.map_or(Callee::Unchanged, Callee::Loaded),
            arguments,
        }
    }

    /// The arguments, as contracts see them.
    pub(crate) fn contract_arguments(&self) -> [Argument; N] {
        self.arguments.each_ref().map(|argument| match &argument.0 {
            ArgumentKind::Buffer(span, _) => Argument::Buffer(span.bytes as u64),
            ArgumentKind::Value(Value::Small(bytes, len)) => Argument::Bytes(*bytes, usize::from(*len)),
            // A struct: no contract can use it, `#[cuda_kernels]` sees to that.
            ArgumentKind::Value(Value::Large(bytes)) => Argument::Bytes([0; 16], bytes.len()),
            ArgumentKind::Misfit(value) => Argument::Int(*value),
        })
    }
}

impl CallArgument {
    /// A buffer that the kernel only reads.
    pub fn read<S: ?Sized>(place: &Place<S, OnDevice>) -> Self {
        Self(ArgumentKind::Buffer(place.span, Mode::Read))
    }

    /// A buffer that the kernel may write.
    pub fn write<S: ?Sized>(place: &mut Place<S, OnDevice>) -> Self {
        Self(ArgumentKind::Buffer(place.span, Mode::ReadWrite))
    }

    /// A value.
    pub fn value<T: Element>(value: T) -> Self {
        Self(ArgumentKind::Value(Value::new(&value)))
    }

    /// An integer for a parameter of type `T`. One that does not fit is a mistake that building reports.
    #[inline]
    pub(crate) fn integer<T: Integer>(value: impl Integer) -> Self {
        let value = value.wide();
        match T::fitting(value) {
            Some(value) => Self::value(value),
            None => Self(ArgumentKind::Misfit(value)),
        }
    }
}

/// The dimensions of a launch, as they are written in `<<<grid, block, shared>>>`; checked when the graph is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    pub(crate) grid: [i128; 3],
    pub(crate) block: [i128; 3],
    pub(crate) shared: i128,
    pub(crate) cluster: Option<[i128; 3]>,
    pub(crate) cooperative: bool,
}

impl Launch {
    /// `grid` blocks of `block` threads each: an integer, or a tuple of up to three.
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

    /// Launches blocks in clusters of `blocks`, which are on the GPU at the same time and reach each other's shared
    /// memory. The grid is made of whole clusters; more than 8 blocks depend on the device.
    ///
    /// Clusters need compute capability 9.0. The emulator runs the blocks by themselves, and refuses kernels whose PTX
    /// asks for more.
    pub fn cluster(self, blocks: impl Dimensions) -> Self {
        Self {
            cluster: Some(blocks.dimensions()),
            ..self
        }
    }

    /// Launches all blocks at the same time, so that they may wait for each other. Building refuses more than the
    /// device has room for.
    pub fn cooperative(self) -> Self {
        Self {
            cooperative: true,
            ..self
        }
    }

    /// The dimensions, as the rule of launches takes them.
    pub(crate) const fn request(&self) -> LaunchRequest {
        LaunchRequest {
            grid: self.grid,
            block: self.block,
            shared: self.shared,
            cluster: self.cluster,
        }
    }
}

/// The checked dimensions of a launch, or why they are wrong.
pub(crate) fn launch_mistake<const N: usize>(
    draft: &Draft,
    node: usize,
    facts: &KernelFacts,
    launch: Launch,
    call: &KernelCall<N>,
) -> Result<LaunchConfig, Diagnostic> {
    let (code, request, arguments) = (facts.code(), launch.request(), call.contract_arguments());
    let names = [&*draft.nodes[node].name];
    let checked = code.check_launch(&names, &request, &arguments, &[], true);
    checked.map_err(|text| {
        let memory = call.arguments.each_ref().map(|argument| match &argument.0 {
            ArgumentKind::Buffer(span, _) => draft.resources.get(span.resource).map_or("", |resource| &resource.name),
            ArgumentKind::Value(_) | ArgumentKind::Misfit(_) => "",
        });
        let named = code.check_launch(&names, &request, &arguments, &memory, true);
        Diagnostic::parse(Subject::Node(node), named.err().unwrap_or(text).as_str())
    })
}
