//! CUDA graphs as checked Rust declarations.
//!
//! [`cuda_graph!`] declares a graph: its memory, its nodes, and the `after` edges between them. A graph that compiles
//! is acyclic, race-free, within its memory and well typed. It becomes explicit graph-building calls of the CUDA
//! driver; one call launches it. It runs on a [`Device`]: a CUDA device or, if there is none, the CPU emulator, which
//! executes the same PTX. [`cuda_kernels`] declares the kernels.
//!
//! ```
//! use graph_runtime::{Device, cuda_graph, cuda_kernels};
//!
//! #[cuda_kernels("../examples/kernels/forward_backward.ptx", prove)] // relative to the crate's manifest
//! unsafe extern "C" {
//!     /// `data[i] *= 2`, one thread for each element
//!     #[requires(threads <= data.len())]
//!     safe fn kernel_forward(data: &mut [f32]);
//! }
//!
//! cuda_graph! {
//!     /// Upload, double, download.
//!     pub graph Forward<const N: usize> {
//!         host   input:  [f32; N];
//!         device data:   [f32; N];
//!         host   output: [f32; N];
//!
//!         memcpy upload   = input -> data;
//!         kernel forward  = kernel_forward<<<1, N>>>(&mut data) after upload;
//!         memcpy download = data -> output                      after forward;
//!     }
//! }
//!
//! let device = Device::emulator();                 // or `Device::any()?`: the first CUDA device, if there is one
//! let mut graph = Forward::<64>::build(&device)?;
//! graph.input_mut()?.fill(21.0);                   // `&mut [f32; 64]`, page-locked
//! graph.launch()?;                                 // asynchronous
//! assert_eq!(graph.output()?, &[42.0; 64]);        // waits, then lends `&[f32; 64]`
//! # Ok::<(), graph_runtime::Error>(())
//! ```
//!
//! Graphs whose nodes are known only at run time are declared call by call, with a [`GraphBuilder`]; it runs the same
//! analysis.
//!
//! Every function that can fail returns an [`Error`], which names graph, node and memory; nothing panics. The
//! repository's `docs/language.md` has every statement with an example, `docs/diagnostics.md` every mistake.
//!
//! # Beside cudarc
//!
//! [`cudarc`] is re-exported, so that a program uses the version whose types this crate takes: that is what the default
//! feature `cudarc` is for. This crate loads and calls CUDA by itself. So it does not matter which features of cudarc
//! others ask for; if nobody names a version of CUDA, cudarc has its newest bindings. A program with other bindings to
//! CUDA, or without any, needs no cudarc: [`Device::from_raw_context`], [`Graph::launch_on_raw`], [`Graph::raw`],
//! [`Device::raw`] and [`Event::raw`] take and give pointers, whose types are in [`handles`]. (The other default
//! feature, `emulator`, is the CPU emulator: see [`Device::emulator`]. The feature `cudart` adds
//! `Device::with_runtime_api`: graphs by the calls of libcudart.)
//!
//! | cudarc | here |
//! | --- | --- |
//! | [`CudaContext`](cudarc::driver::CudaContext) | [`Device::from`] and [`Device::context`] |
//! | [`CudaStream`] | `launch_on(&stream)` of graphs: [`Graph::launch_on`] |
//! | [`CudaSlice`](cudarc::driver::CudaSlice) | `DeviceBuffer::from(slice)` takes it over, [`Device::scope`] borrows it, [`DeviceBuffer::as_cudarc`] lends one |
//! | [`CudaFunction`](cudarc::driver::CudaFunction) | `kernel k = unsafe (function)<<<..>>>(..)`: [`KernelCall::loaded`] |
//! | [`CudaEvent`](cudarc::driver::CudaEvent) | [`Event::from`] and [`Event::as_cudarc`] |
//! | its wrappers of cuBLAS and others | `capture` nodes: [`CaptureStream`] |
//! | `begin_capture` and `end_capture` of a stream | [`GraphBuilder::build_captured`]: a [`CapturedGraph`], which keeps alive what it uses |
//! | `CudaStream::capture_status` | [`is_capturing`] |
//!
//! # All items
//!
//! * Building: [`GraphBuilder`], the [`NodeId`] of a node, a [`Launch`] with its [`Dimensions`], and the [`Kernel`]
//!   that a [`KernelCall`] launches with [`CallArgument`]s and [`Integer`]s; memory of [`Atomic`] elements and of
//!   [`Mapped`] ones, each a [`Word`], and of [`Texel`]s and [`Surfel`]s, in declarations of kernels;
//!   [`LoadedFunction`], [`Ptx`], [`CudaSource`], [`CudaText`]; a [`Module`] of which a program learns while it runs,
//!   with each [`ModuleKernel`], and a [`Cubin`] of machine code, with each [`CubinKernel`]. A value that changes
//!   between launches is a [`Param`], which a [`ParamKey`] finds. Facts of kernels are in [`kernel`].
//! * All graphs are [`AnyGraph`]; a launch is a [`LaunchFuture`], for those who do not want to block. A built
//!   [`Graph`]: [`NodeHandle`], [`Update`], [`HostSplit`], [`RawGraph`].
//! * Memory in a graph: a [`Place`] in a [`Memory`], [`OnDevice`] or [`OnHost`], or [`OnMapped`] or [`OnArray`]; a
//!   [`Rectangle`] of one; the views that lend it, [`DeviceRef`] and [`DeviceMut`]; and a [`MappedHost`], to use while
//!   the graph runs.
//! * Memory outside of graphs, which is [`Shareable`]: [`DeviceBuffer`], [`HostBuffer`], [`SharedHost`], with the
//!   guards [`HostRef`] and [`HostMut`]; structs of these, which are [`Places`](trait@Places); [`CudarcSlice`],
//!   [`DeviceShare`], [`HostShare`]; memory of others, as [`DeviceMemory`] or in a [`Scope`] that can [`Lend`] it.
//! * Shapes: [`Element`] (plain data: `Pod` of the re-exported [`bytemuck`]), [`Rows`], [`Extent`], [`ArrayOf`],
//!   [`SameShape`]; a [`Tabular`] [`Table`], which the host sees as a [`TableRef`] or [`TableMut`]; and the
//!   [`Iterations`] of loops.
//! * Random numbers: a [`Generator`] that graphs share, the [`Seed`] of an [`Rng`], [`Philox`], [`RngHandle`].
//! * Host functions: [`HostArguments`] of [`HostArgument`]s. Library calls: [`CaptureStream`] with [`CaptureSlice`] and
//!   [`CaptureSliceMut`], [`RawNode`], and [`NodeArguments`] of [`NodeArgument`]s: [`Pointer`], [`PointerMut`],
//!   [`ByValue`]; [`BoxError`]. A [`CapturedGraph`] is all of such calls, by [`CaptureOptions`] with a [`CaptureMode`]
//!   or, on a stream of the user's, a [`StreamCapture`]. Other streams: [`Event`], [`is_capturing`],
//!   [`ThreadCaptureMode`].
//! * Graphs of one kind for several sizes: [`Buckets`].
//! * Two graphs as functions: [`Graphed`], over a [`GraphedMemory`] of [`GraphedBuffers`].
//! * Devices: [`Device`], [`EmulatorOptions`], [`DebugOptions`].
//! * Ranks: a [`Communicator`] with its [`CommunicatorOptions`] and its [`Transport`], a [`Reduction`] of [`Reducible`]
//!   memory, and the parts of an [`Exchange`].
//! * Errors: [`Error`], [`Result`], the [`Site`] of an error, [`CudaError`]; a [`Diagnostic`] with its [`Code`] and
//!   [`Subject`].
//! * The graph as data: a [`Plan`] of [`PlanNode`]s, [`PlanAccess`]es, [`PlanResource`]s, [`PlanBody`]s, [`PlanLoop`]s
//!   and [`PlanShift`]s, with [`NodeKind`], [`Mode`], [`Role`] and [`Space`]; what differs between two, a [`PlanDiff`];
//!   the [`UnneededEdges`]; and a [`PlanMark`] in a drawing.
//!
//! # Layers
//!
//! The modules are listed from the top; each uses only modules below it. `driver` has the CUDA calls, one `unsafe fn`
//! for each. `backend` makes graphs of them, or runs the nodes on the emulator. The safety argument is on
//! `backend::cuda::CudaExecutable` and, for memory that graphs share, on `in_flight::uses::Uses`. The assumptions about
//! the driver, about cudarc and about authors of `unsafe` are numbered in the repository's `docs/safety.md`.

extern crate self as graph_runtime; // expansions in this crate name it so

mod expansion;
mod any_graph;
mod builder;
mod graph;
mod device;
mod memory;
mod backend;
mod ownership;
mod devices;
mod in_flight;
mod program;
pub mod kernel;
mod driver;
mod shape;
mod error;

pub use any_graph::AnyGraph;
pub use any_graph::buckets::Buckets;
pub use any_graph::graphed::{Graphed, GraphedBuffers, GraphedMemory};
pub use any_graph::loaded::{Loaded, LoadedMemory};
pub use backend::executable::Updated;
pub use builder::GraphBuilder;
pub use builder::captured::StreamCapture;
pub use builder::collective::Exchange;
pub use builder::places::Places;
pub use bytemuck;
#[cfg(feature = "cudarc")]
pub use cudarc;
pub use device::Device;
pub use devices::adopted::DeviceMemory;
pub use devices::bodies::{Bodies, BodyForm};
#[cfg(feature = "cudarc")]
pub use devices::cudarc_slice::CudarcSlice;
pub use devices::options::{DebugOptions, EmulatorOptions, InstantiateOptions};
pub use devices::uploads::{UploadForm, Uploads};
pub use driver::objects::CudaStream;
#[cfg(not(feature = "cudarc"))]
pub use driver::objects::{CudaContext, CudaEvent, CudaFunction};
pub use error::{CudaError, Error, Result, Site};
pub use expansion::argument::{DeviceShare, HostShare};
pub use graph::captured_graph::{CapturedGraph, is_capturing};
pub use graph::change::edit::EditResult;
pub use graph::change::update::Update;
pub use graph::definition::Definition;
pub use graph::future::LaunchFuture;
pub use graph::handle::NodeHandle;
pub use graph::host_split::HostSplit;
pub use graph::node::NodeId;
pub use graph::rng::{Rng, RngHandle};
pub use graph::set_param::ParamKey;
pub use graph::tool_id::ToolId;
pub use graph::{Graph, RawGraph};
pub use ownership::block::Shareable;

/// The driver's handles, as `cuda.h` declares them: pointers, which `cast()` makes those of any bindings. With the
/// feature `cudarc`, they are cudarc's types.
pub mod handles {
    pub use crate::driver::types::{
        CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUmodule, CUstream,
    };
}

#[cfg(feature = "fault-injection")]
#[doc(hidden)]
pub mod fault_injection {
    pub use crate::driver::faults::*;
    pub use crate::driver::names;
}

pub use graph::advice::{Advice, Hint, Topic};
pub use graph::lift::{Finding, LiftOptions, Lifted, Verdict};
pub use graph::profile::{NodeProfile, Profile};
/// Implements [`Places`](trait@Places) for a struct of memory that graphs share: the trait has an example.
pub use graph_macros::Places;
/// Declares CUDA graphs as types, or builds one as an expression.
///
/// ```text
/// input     = runtime? ((graph | group)* | expression)
/// runtime   = "#![crate = " path "]"                  where another crate re-exports this one
/// graph     = attribute* visibility "graph" NAME generics? ("(" build-argument,* ")")? where-clause? "{" statement* "}"
/// group     = attribute* visibility "group" NAME "{" field,* "}"   memory that belongs together: a struct of [`DeviceBuffer`]s
/// field     = attribute* visibility NAME ":" "mut"? "device" shape
/// expression = device "=>" statement*                 a `&Device`; see below
/// build-argument = NAME ":" type                      a plain value, fixed when the graph is built
///           | NAME ":" "mut"? ("device" | "host") shape   memory that the graph shares
///           | NAME ":" "[" GROUP ";" length "]"       several groups of such memory
/// statement = attribute* visibility declaration      the visibility of its accessors and handles
/// declaration = "host" NAME ":" shape ("," "uniform")? ";"   page-locked host memory, owned by the graph; `uniform`: the same on all ranks
///           | "device" NAME ":" shape ("," "uniform")? ";"   device memory, zeroed at build, kept between launches
///           | "scratch" NAME ":" shape ";"            device memory whose contents last one launch at most
///           | "mapped" NAME ":" shape ";"             host memory that kernels and the host access while the graph runs
///           | "array" NAME ":" shape ";"              a CUDA array, which kernels take as texels
///           | "param" NAME ":" type "=" value ";"     a scalar that can change between launches
///           | "let" NAME (":" type)? "=" value ";"    a value computed of build arguments; the type, if the text does not tell it
///           | "constant" NAME ":" shape "=" TEXT ";"    a variable of the kernels' module, by its name in the PTX
///           | "rng" NAME "=" seed "," "draws" number ";"   random numbers: a [`Seed`]; draws for each thread and use
///           | "kernel" NAME "=" kernel "<<<" grid "," block ("," shared)? ">>>" "(" argument,* ")" after? ";"
///           | "memcpy" NAME "=" place "->" place after? ";"
///           | "memset" NAME "=" place "<-" value after? ";"
///           | "call" NAME "=" "|" ("&" "mut"? NAME),* "|" body after? ";"     a host function
///           | "graph" NAME "=" path "(" (NAME ":" argument),* ")" after? ";"     another declared graph, its memory bound by name
///           | "capture" NAME "=" "(" argument,* ")" "|" NAME "|" body ("else" "|" NAME,* "|" body)? after? ";"   library calls on a stream, captured
///           | "raw" NAME "=" "unsafe" "(" argument,* ")" "|" NAME "," NAME "|" body after? ";"   nodes added by the driver's calls
///           | "record" NAME "=" event after? ";"      records an [`Event`] for other streams
///           | "wait" NAME "=" event after? ";"        waits for one
///           | "join" NAME after? ";"                  does nothing; joins edges
///           | "all_reduce" NAME "=" reduced(place) over after? ";"           in place, on all ranks of a communicator
///           | "all_gather" NAME "=" place "->" place over after? ";"         row `r` of the second is the first of rank `r`
///           | "reduce_scatter" NAME "=" reduced(place "->" place) over after? ";"   each rank gets its row of the result
///           | "broadcast" NAME "=" place "from" rank over after? ";"
///           | "exchange" NAME "=" ("send" place "to" rank | "recv" place "from" rank),* over after? ";"
///           | "if" NAME "=" place "{" node* "}" ("else" "{" node* "}")? after? ";"
///           | "while" NAME "=" place "{" node* "}" after? ";"
///           | "switch" NAME "=" place "{" ("{" node* "}")+ "}" after? ";"
///           | "for" NAME "in" range "{" (node | loop)* "}"    the same nodes for each number, one iteration after the other
///           | "each" NAME "in" range "{" (node | loop)* "}"   the same nodes for each number, not ordered
/// loop      = a `for` or an `each`
/// over      = "over" NAME                             a [`Communicator`]
/// reduced(x) = x | ("sum" | "prod" | "min" | "max" | "avg") "(" x ")"   the sum, if no word says otherwise
/// kernel    = "unsafe"? path | "unsafe" "(" value ")" a declared kernel, or a `CudaFunction` or a reference to one
/// after     = "after" edge ("," edge)* ","?
/// edge      = "auto"                                  edges from all nodes before it whose accesses conflict
///           | NAME | NAME "(" number ("," number)* ")"    the second in loops: the node of another iteration, `k(i - 1)`
///           | "programmatic" "(" edge ")"             between kernels: the later one starts early, and waits in its own code
/// number    = VARIABLE (("+" | "-") literal)?         one for each loop around both nodes, from the outermost
/// argument  = "&" place | "&" "mut" place | value      `&` also of memory that a kernel updates atomically
/// place     = NAME ("[" index "]" "." FIELD)? ("[" index or range "]")*          two at most; columns of several rows, and ranges of params, are for copies and memsets
/// shape     = T | "[" shape ";" length "]"            up to four dimensions; lengths may be known only at build
/// ```
///
/// The order of statements means nothing but to `after auto`; only `after` orders nodes, and only nodes of the same
/// body. `#![after(auto)]` as the first line of a graph adds `auto` to all its nodes that access memory. A condition is
/// one `u32` in device memory. An `if` runs its first body if it is not 0, a `while` repeats its body until it is 0,
/// and a `switch` runs the body of that number, counted from 0, if there is one.
///
/// The closure of a `call` gets host memory as references. The closure of a `capture` or `raw` node gets a handle
/// ([`CaptureStream`], or [`RawNode`] and the nodes that come before) and addresses ([`Pointer`], [`PointerMut`]). Both
/// are bound to the names of the memory that the node borrows; if a name has several parts, `handle.memory()` returns
/// them in order. Closures move the locals that they use, and the graph keeps them: [`GraphBuilder::call`],
/// [`GraphBuilder::capture`] and [`GraphBuilder::raw`] say what they may do. A `call` returns nothing; the others may
/// end with nothing, with their value, or with a `Result` of any error. The closure after `else`, a host function,
/// stands for that of a `capture` on the emulator: [`GraphBuilder::capture_or_else`].
///
/// `unsafe` at a `kernel` or a `raw` node, and in the closure of a `capture`, promises that the node touches only the
/// memory that it names, within its bounds and as it declares it, in every launch that other code can bring about
/// without `unsafe`: for any contents of memory, any values of params and build arguments, any set of disabled nodes,
/// any memory that is given, rebound, or bound where the graph is a child. A visibility keeps what would break the
/// promise to the module: `pub(self) kernel fix = ..`. The documentation of the graph's type names such nodes, and the
/// methods that the promise must cover refer to it.
///
/// Attributes are written before nodes: `#[priority(n)]`, `#[cluster(x, y, z)]` and `#[cooperative]` on kernels,
/// `#[disabled]` on kernels, copies and memsets, `#[allow(rule)]` on all. See [`GraphBuilder::priority`],
/// [`Launch::cluster`], [`Launch::cooperative`], [`GraphBuilder::disable`] and, for `programmatic`,
/// [`GraphBuilder::after_programmatic`].
///
/// The nodes of a loop may use its variable in all their expressions. If a node outside the loop runs after one of
/// them, it runs after the last iteration of a `for`, or after all iterations of an `each`. If one of them runs after a
/// node outside the loop, that node runs before the first iteration of a `for`, or before all iterations of an `each`.
/// The type of a graph has
///
/// * `build(&Device, arguments..) -> Result<Self>`, `launch()`, `launch_on(&stream)`, `launch_async()`,
///   `synchronize()`, `raw()`;
/// * `define(&Device, arguments..) -> Result<Definition<Self>>`: see [`Definition`];
/// * for each `host x`: `x() -> Result<&Shape>` and `x_mut() -> Result<&mut Shape>`, which wait for launches in flight;
///   and `memory_mut()`, which lends all of them at once;
/// * for each `device x` and `constant x`: `x() -> Result<DeviceRef<Shape>>` and `x_mut() -> Result<DeviceMut<Shape>>`;
/// * for each memory argument `x`: `x()` and, if it is `mut`, `x_mut()`, which lend shared host memory by guards; and
///   `rebind_x(memory)`;
/// * for each `param x`: `x()` and `set_x(value) -> Result<()>`, which updates exactly the nodes that use it, in place;
/// * for each node `x`: a method `x()` that returns a [`NodeHandle`]; in a loop, it takes the number of the iteration,
///   `x(i)`;
/// * and `PLAN`, the graph as static data.
///
/// A shape whose outermost length is a build argument, or an expression of build arguments, is a slice:
/// `x() -> Result<&[Row]>`. If other lengths are too, it is a [`Table`]: `x() -> Result<TableRef<T, D>>`, and its rows
/// are slices or tables. Such lengths are checked when the graph is built. In the static `PLAN` the memory has 0 bytes.
///
/// An expression is a graph of a type without a name. Its value is a `Result` of that type, which has the same methods
/// except `build` and `PLAN` (`plan()` replaces it). Its statements may mention locals: in launches, values, parts,
/// initial values of params, and lengths (a name written like a constant, `N`, is taken for a constant). If a
/// place is not declared, it is a local that is moved into the graph, as by a `move` closure: a [`DeviceBuffer`],
/// [`SharedHost`] or [`HostBuffer`]. `into_parts()` waits, and gives them back as the fields of a struct.
///
/// ```
/// use graph_runtime::{Device, cuda_graph};
///
/// let device = Device::emulator();
/// let (n, step) = (4, 0.5);
/// let data = device.alloc_slice::<f32>(n)?;
/// let mut graph = cuda_graph! { &device =>
///     host   output: [f32; n];
///     param  start: f32 = 1.0;
///     memset set  = data <- start + step;
///     memcpy down = data -> output after set;
/// }?;
/// graph.launch()?;
/// assert_eq!(graph.output()?, [1.5; 4]);
/// graph.set_start(2.0)?;
/// graph.launch()?;
/// assert_eq!(graph.into_parts()?.data.read_vec()?, [2.5; 4]);
/// # Ok::<(), graph_runtime::Error>(())
/// ```
///
/// Every mistake has a code; `docs/diagnostics.md` explains each.
pub use graph_macros::cuda_graph;
/// Declares the kernels of a PTX file, or of a CUDA source, on an `unsafe extern "C"` block; see the crate's example.
///
/// Each declaration is compared with its `.entry`: the number, sizes and alignment of the parameters, and the stores
/// through them. `safe fn` asserts that the kernel is sound for every argument and launch for which its
/// `#[requires(..)]` hold, and for any contents of memory; any other `fn` is launched as
/// `kernel k = unsafe f<<<..>>>(..)`. `&[T]` and `&mut [T]` take any buffer of `T`s, and `&[[T; C]; R]` takes exactly
/// that shape. `T` is passed by value; an integer `T` takes an integer of any type if its value fits. `&[Atomic<T>]` is
/// memory that the kernel accesses only by atomic operations, so that unordered nodes may update it: see [`Atomic`].
/// `&[Texel<T>]` and `&[[Texel<T, S>; N]]` are memory that the kernel reads through a texture: see [`Texel`].
/// `&[[Surfel<T>; N]]` and `&mut [[Surfel<T>; N]]` are an array that it accesses through a surface: see [`Surfel`].
/// `&mut [MaybeUninit<T>]` is memory that the kernel initialises: if an element is read later, the kernel writes it
/// before it reads it. A contract is a boolean expression over `threads`, `grid`, `block`, `shared`, the scalar
/// arguments and the `.len()` of the others. It is checked at compile time if all of it is constant, else at build and
/// at each update.
///
/// Each declaration becomes a type of its name, which implements [`Kernel`]. Its function `name::call(arguments..)`
/// makes the [`KernelCall`] that [`GraphBuilder::kernel`] takes. The arguments are a `&Place` for `&[T]`, a
/// `&mut Place` for `&mut [T]`, and values. The function is `unsafe` unless the kernel is `safe`.
///
/// `crate = path`, after the other arguments, is the path of this crate where another one re-exports it.
///
/// # Kernels for several types
///
/// `#[for_each(T = f32 => "scale_f32", f64 => "scale_f64")] safe fn scale<T>(data: &mut [T], factor: T);` declares one
/// kernel for each listed type, by the name of its `.entry`. The declaration becomes a generic type: `scale::<f32>` is
/// a [`Kernel`], and code that is generic over the type says `where scale<T>: Kernel`.
///
/// # Files tuned for newer devices
///
/// `#[cuda_kernels("x.ptx", tuned = ["x.sm_90.ptx"])]` names more files with the same kernels, each for a higher
/// `.target`. Every declaration holds for all of them. When a graph is built, a GPU gets the file with the highest
/// target that it runs; the emulator gets the first one. See [`KernelFacts::tuned`](kernel::KernelFacts::tuned).
///
/// # CUDA sources
///
/// `#[cuda_kernels(cuda = "x.cu")]` takes CUDA C++, which NVRTC compiles when a graph first uses one of the kernels;
/// `options = ["--use_fast_math"]` are passed on to it. The rules that need the PTX are then checked when the graph is
/// built. The text of the file is part of the program, and so are headers beside it that it includes in quotes. Headers
/// of the CUDA toolkit are looked for in the folder that `CUDA_PATH`, `CUDA_HOME` or `CUDA_ROOT` names, or in
/// `/usr/local/cuda`; a folder of an option (`-Iinclude`) is relative to the crate's `Cargo.toml`. NVRTC itself, of any
/// version, is found where the system's loader looks, in these folders, or in Python packages. The file is compiled for
/// the device's compute capability unless the options name one.
///
/// The PTX is kept on disk, in `$CUDA_GRAPH_CACHE_DIR`, or else `$XDG_CACHE_HOME/cuda-graph`, or else
/// `$HOME/.cache/cuda-graph`. A machine without NVRTC can use PTX that another machine has put there; a machine with
/// NVRTC uses only PTX that its version has compiled. Whoever can write to that folder decides what runs. PTX is not
/// kept if options name headers (`-I`, `-include`), since these may change.
pub use graph_macros::cuda_kernels;
pub use graph_plan::Memory as MemoryKind;
pub use graph_plan::{
    ArenaSize, Changes, Code, Diagnostic, LaunchConfig, Mode, NodeKind, Plan, PlanAccess, PlanBody, PlanDiff,
    PlanLaunch, PlanLoop, PlanMark, PlanNode, PlanResource, PlanShift, Role, SaveError, Space, Subject, UnneededEdges,
};
pub use kernel::atomic::Atomic;
pub use kernel::cubin::{Cubin, CubinKernel};
#[doc(inline)]
pub use kernel::integer::Integer;
pub use kernel::mapped::{Mapped, Word};
pub use kernel::module::{Module, ModuleKernel};
pub use kernel::param::Param;
pub use kernel::source::{CudaSource, CudaText, Ptx};
pub use kernel::surface::Surfel;
pub use kernel::texels::{Layered, TexelFormat};
pub use kernel::texture::{Addressing, Filter, PointSampler, Sampler, Texel};
#[doc(inline)]
pub use kernel::{CallArgument, Dimensions, Kernel, KernelCall, Launch, LoadedFunction, NoMemory};
pub use memory::{
    DeviceBuffer, DeviceMut, DeviceRef, Generator, HostBuffer, HostMut, HostRef, Lend, MappedHost, MemoryReport,
    Philox, Pool, PoolReport, PoolUser, Scope, Seed, SharedHost,
};
pub use program::capture::{BoxError, CaptureMode, CaptureOptions, CaptureStream, ThreadCaptureMode};
#[cfg(feature = "cudarc")]
pub use program::capture_slice::{CaptureSlice, CaptureSliceMut};
pub use program::communicator::number::{Reducible, Reduction};
pub use program::communicator::{Communicator, CommunicatorOptions, Transport};
pub use program::event::Event;
pub use program::host_call::{HostArgument, HostArguments};
pub use program::pointer::{ByValue, NodeArgument, NodeArguments, Pointer, PointerMut};
pub use program::raw::RawNode;
pub use shape::iterations::Iterations;
pub use shape::place::{Copied, Memory, OnArray, OnDevice, OnHost, OnMapped, Place};
pub use shape::rectangle::Rectangle;
pub use shape::rows::{Rows, Tabular};
pub use shape::same_shape::SameShape;
pub use shape::table::{Table, TableMut, TableRef};
pub use shape::{ArrayOf, Element, Extent};

/// The items that expansions of the macros use besides the public ones. They are not part of the interface.
#[doc(hidden)]
pub mod private {
    pub use crate::any_graph::LentGraph;
    pub use crate::builder::memory::kind;
    pub use crate::builder::places::field_name;
    pub use crate::driver::objects::CudaFunction;
    pub use crate::driver::types::CUgraphNode;
    pub use crate::expansion::argument::{checked, memory_argument, rebind, rebind_all};
    pub use crate::expansion::assert::{
        Bounds, KernelChecks, buffer, check_atomic, check_clash, check_constant, check_dimensions, check_extent,
        check_launch, check_texture, constant, integer, overwrites, usage,
    };
    pub use crate::expansion::closure_value::{added, captured};
    pub use crate::expansion::declare::{Declare, Handles, Owner, child, node_handle, own, own_slice, own_table};
    pub use crate::expansion::expression::{
        AnyTarget, HostSlot, MappedSlot, Nodes, Numbers, Slot, changing, element_of, on_device, stub,
    };
    pub use crate::expansion::group::GroupField;
    pub use crate::expansion::interface::{BindTo, Bound, DeclaredGraph, Interface, NoGraph, graph_type};
    pub use crate::expansion::launch::{
        Instance, Lent, LentMapped, LentMut, LentSurface, LentSurfaceMut, LentTexels, SafeKernel, launch, literal,
        loaded_call,
    };
    pub use crate::expansion::moved::{Movable, MovedSlot, move_in};
    pub use crate::expansion::no_accessor::{ArrayHasNoAccessor, ScratchHasNoAccessor};
    pub use crate::expansion::node_target::{NodeTarget, inner_length, length};
    pub use crate::expansion::passed::Passed;
    pub use crate::expansion::plan::{PlanNodes, accesses as plan_accesses, resource as plan_resource};
    pub use crate::graph::change::direct_param::{DirectParam, direct_param};
    pub use crate::graph::change::edit::{Only, ParamGraph, edit, edit_nodes, set_param};
    pub use crate::kernel::dimensions::extent;
    pub use crate::kernel::programmatic_edge::{ProgrammaticEdge, triggers};
    pub use crate::program::transfer::{Memcpy, Memset};
    pub use crate::shape::Condition; // rustc names it to users
    pub use crate::shape::place::TexelMemory;
    pub use graph_plan as plan;

    /// The traits of [`Passed`], for `use` beside the user's tokens.
    pub mod constants {
        pub use crate::expansion::passed::{__IntegerConstant, __OtherConstant};
    }
}
