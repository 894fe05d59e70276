//! Declaring a graph at run time, call by call. `cuda_graph!` expands to these calls.

mod attribute;
mod body;
mod child;
mod host;
mod library;
mod copy;
mod programmatic;
mod record;
mod repeat;
mod rng;
mod scratch;
mod shared;

use crate::backend::blueprint::{Blueprint, Programmatic};
use crate::backend::executable::Executable;
use crate::backend::shares::Shares;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::node::NodeId;
use crate::kernel::{ArgumentKind, KernelCall, KernelFacts, Launch};
use crate::program::declared::{AllDeclaredNodes, DeclaredNodes};
use crate::program::scratch::{Arena, Packed, first_reads};
use crate::program::{Argument, KernelAttributes, KernelOp, Op, Program};
use crate::shape::Element;
use crate::shape::part::Layout;
use crate::shape::place::{OnDevice, OnHost, Place, Span};
use attribute::Attribute;
use child::Outer;
use graph_plan::{Diagnostic, Draft, LaunchConfig, Lists, NodeKind, Sharing, Space};
use record::Checked;
use repeat::Repeats;
use shared::Shared;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A graph under construction: memory, nodes and edges are declared in any order, [`GraphBuilder::build`] checks and
/// makes it.
///
/// It runs the analysis that `cuda_graph!` runs at compile time, so that graphs whose nodes are known only at run time
/// are just as sure to be acyclic, race-free and within their memory. No call before `build` fails: what is wrong is
/// noted, and `build` returns all of it at once.
///
/// ```
/// use graph_runtime::{Device, GraphBuilder};
///
/// let mut builder = GraphBuilder::new(&Device::emulator(), "Copies");
/// let input = builder.host::<[f32; 4]>("input");
/// let mut data = builder.device::<[f32; 4]>("data");
/// let mut output = builder.host::<[f32; 4]>("output");
/// let upload = builder.memcpy("upload", &input, &mut data);
/// let download = builder.memcpy("download", &data, &mut output);
/// builder.after(download, &[upload]);
///
/// let mut graph = builder.build()?;
/// *graph.host_mut(&input)? = [1.0, 2.0, 3.0, 4.0];
/// graph.launch()?;
/// assert_eq!(graph.host(&output)?, &[1.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), graph_runtime::Error>(())
/// ```
///
/// Without the edge the two copies could run at the same time:
///
/// ```
/// # use graph_runtime::{Device, GraphBuilder};
/// # let mut builder = GraphBuilder::new(&Device::emulator(), "Copies");
/// # let input = builder.host::<[f32; 4]>("input");
/// # let mut data = builder.device::<[f32; 4]>("data");
/// # let mut output = builder.host::<[f32; 4]>("output");
/// # builder.memcpy("upload", &input, &mut data);
/// # builder.memcpy("download", &data, &mut output);
/// let error = builder.build().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "graph `Copies` has 1 mistake\n\
///      nodes `upload` and `download` can run at the same time and both access `data` [race]\n\
///      note: `upload` writes `data`, `download` reads it\n\
///      help: add `upload` to the `after` list of `download`"
/// );
/// ```
pub struct GraphBuilder {
    device: Device,
    /// Every place carries it. A graph takes no places but its own: theirs are the only indices and ranges that were
    /// checked against its memory, which is what makes using a place sound.
    id: u64,
    draft: Draft,
    layouts: Vec<Option<Layout>>,
    /// In order of declaration.
    shared: Vec<Shared>,
    rngs: Vec<rng::Declared>,
    program: Program,
    mistakes: Vec<Diagnostic>,
    /// Memset nodes whose values will be updated.
    updated: Vec<NodeId>,
    attributes: Vec<(NodeId, Attribute)>,
    /// The body that nodes are being added to, as an index into the draft's.
    body: usize,
    /// The prefix of names: the names of the child graphs around, each with a dot.
    prefix: String,
    /// The graphs around the current child, from the outermost.
    outer: Vec<Outer>,
    /// The nodes of the declarations of children, by the node that each child is.
    children: HashMap<usize, DeclaredNodes>,
    /// The packing of scratch memory, if it is known before building.
    packed: Option<Packed>,
    /// Whether every scratch resource gets memory of its own.
    apart: bool,
    /// The loops of a graph that has some.
    repeats: Option<Box<Repeats>>,
    /// The newest CUDA version of a driver to build for.
    driver: u32,
    /// Kernels of CUDA sources whose mistakes have been reported.
    unresolved: Vec<&'static KernelFacts>,
    /// The first error that is no mistake of the graph.
    failure: Option<Error>,
    /// The last launch, if it was right. Its arguments are the last of the program's.
    checked: Option<Checked>,
}

impl GraphBuilder {
    /// An empty graph, to run on `device`. The name appears in messages and drawings.
    pub fn new(device: &Device, name: impl Into<Cow<'static, str>>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            device: device.clone(),
            id: NEXT.fetch_add(1, Relaxed),
            draft: Draft::new(name),
            layouts: Vec::new(),
            shared: Vec::new(),
            rngs: Vec::new(),
            program: Program::default(),
            mistakes: Vec::new(),
            updated: Vec::new(),
            attributes: Vec::new(),
            body: 0,
            prefix: String::new(),
            outer: Vec::new(),
            children: HashMap::new(),
            packed: None,
            apart: false,
            repeats: None,
            driver: u32::MAX,
            unresolved: Vec::new(),
            failure: None,
            checked: None,
        }
    }

    /// Makes room for `nodes` more nodes, each with one edge, one piece of memory and two arguments. Building large
    /// graphs is faster then.
    pub fn reserve(&mut self, nodes: usize) {
        self.draft.nodes.reserve(nodes);
        self.draft.accesses.reserve(nodes);
        self.draft.edges.reserve(nodes);
        self.program.ops.reserve(nodes);
        self.program.arguments.reserve(2 * nodes);
    }

    /// The graph's name.
    pub(crate) fn name(&self) -> &str {
        &self.draft.name
    }

    /// Declares host memory of shape `S`, zeroed when the graph is built; page-locked on CUDA.
    pub fn host<S: Element>(&mut self, name: impl Into<Cow<'static, str>>) -> Place<S, OnHost> {
        self.resource(name.into(), Space::Host, size_of::<S>(), align_of::<S>())
    }

    /// Declares device memory of shape `S`, zeroed when the graph is built and kept between launches.
    pub fn device<S: Element>(&mut self, name: impl Into<Cow<'static, str>>) -> Place<S, OnDevice> {
        self.resource(name.into(), Space::Device, size_of::<S>(), align_of::<S>())
    }

    /// Declares host memory of `len` elements.
    pub fn host_slice<T: Element>(&mut self, name: impl Into<Cow<'static, str>>, len: usize) -> Place<[T], OnHost> {
        let bytes = len.saturating_mul(size_of::<T>());
        self.resource(name.into(), Space::Host, bytes, align_of::<T>())
    }

    /// Declares device memory of `len` elements.
    pub fn device_slice<T: Element>(&mut self, name: impl Into<Cow<'static, str>>, len: usize) -> Place<[T], OnDevice> {
        let bytes = len.saturating_mul(size_of::<T>());
        self.resource(name.into(), Space::Device, bytes, align_of::<T>())
    }

    fn resource<S: ?Sized, M>(
        &mut self,
        name: Cow<'static, str>,
        space: Space,
        bytes: usize,
        align: usize,
    ) -> Place<S, M> {
        let name = self.named(name);
        self.layouts.push(Some(Layout { bytes, align }));
        Place::new(Span {
            graph: self.id,
            resource: self.draft.resource(name, space),
            start: 0,
            bytes,
            outside: false,
        })
    }

    /// Adds a node that launches a kernel: `call` is `name::call(arguments..)` of a kernel that
    /// [`cuda_kernels`](crate::cuda_kernels) declares, or [`KernelCall::loaded`].
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder, Launch, cuda_kernels};
    ///
    /// #[cuda_kernels("../examples/kernels/forward_backward.ptx")] // relative to the crate's manifest
    /// unsafe extern "C" {
    ///     /// `data[i] *= 2`, one thread for each element
    ///     #[requires(threads <= data.len())]
    ///     safe fn kernel_forward(data: &mut [f32]);
    /// }
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Forward");
    /// let mut data = builder.device::<[f32; 64]>("data");
    /// let forward = builder.kernel("forward", Launch::new(1, 64), kernel_forward::call(&mut data));
    ///
    /// let mut graph = builder.build()?;
    /// graph.device_mut(&data)?.copy_from(&[1.0; 64])?;
    /// graph.launch()?;
    /// graph.update("half", |update| update.kernel(forward, Launch::new(1, 32), kernel_forward::call(&mut data)))?;
    /// graph.launch()?;
    /// let data = graph.device(&data)?.read()?;
    /// assert_eq!((data[31], data[32]), (4.0, 2.0));
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    pub fn kernel<const N: usize>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        launch: Launch,
        mut call: KernelCall<N>,
    ) -> NodeId {
        let node = self.node(name, NodeKind::Kernel);
        let mut places = true;
        for argument in &call.arguments {
            if let ArgumentKind::Buffer(span, mode) = &argument.0 {
                places &= self.touch(node, *span, *mode);
            }
        }
        let (function, facts) = self.function(node, &call.callee);
        // With arguments that are wrong already, a contract about their lengths would only add to the noise.
        let config = if places {
            self.check_launch(node, facts, launch, &call)
        } else {
            self.checked = None;
            None
        };
        let config = config.unwrap_or(LaunchConfig {
            grid: [1; 3],
            block: [1; 3],
            shared: 0,
        });
        let start = self.program.arguments.len() as u32;
        let arguments = start..start + N as u32;
        for argument in &mut call.arguments {
            Argument::put(argument, &mut self.program.arguments);
        }
        self.push(Op::Kernel(KernelOp {
            function,
            config,
            arguments,
            attributes: KernelAttributes::of(&launch),
        }))
    }

    /// Adds a node that does nothing: whatever runs after it runs after all that it runs after.
    pub fn join(&mut self, name: impl Into<Cow<'static, str>>) -> NodeId {
        self.node(name, NodeKind::Join);
        self.push(Op::Join)
    }

    /// Makes `node` run after all of `before`. Nodes may be named before they are added.
    pub fn after(&mut self, node: NodeId, before: &[NodeId]) {
        for before in before {
            self.draft.edge(before.index(), node.index());
        }
    }

    /// Says that [`Graph::update`] will change the value of this memset node. A value of more than 4 bytes is then set
    /// in a way that fits every other value too, instead of the way that is best for this one.
    pub fn will_update(&mut self, node: NodeId) {
        self.updated.push(node);
    }

    /// Checks the graph and makes it: allocates its memory, loads its kernels and hands it to the device.
    ///
    /// # Errors
    /// [`Error::Invalid`] with every mistake there is; [`Error::ForeignMemory`] where it shares memory of another
    /// device. [`Error::NoNvrtc`] and [`Error::Compile`] for CUDA sources; [`Error::TooManyNodes`] where a `for` makes
    /// more than a million or so. Then, by what the device says: [`Error::Module`] and [`Error::Kernel`] for PTX or
    /// launches it does not take, [`Error::OutOfMemory`], [`Error::Unsupported`], [`Error::Cuda`].
    pub fn build(mut self) -> Result<Graph> {
        if let Some(failure) = self.repeats.as_mut().and_then(|repeats| repeats.failure.take()) {
            return Err(failure);
        }
        self.order_iterations();
        let rngs = self.advance_rngs();
        self.check_names_and_edges();
        self.apply_attributes();
        let outcome = graph_plan::check_errors(&self.draft);
        self.check_programmatic(&outcome.order);
        let Self {
            device,
            id,
            mut draft,
            layouts,
            shared,
            mut program,
            mut mistakes,
            packed,
            apart,
            driver,
            failure,
            repeats,
            children,
            ..
        } = self;
        let shared = shared.into_iter().map(|shared| (shared.resource, shared.memory));
        let shares = Shares::new(&draft, shared.collect());
        mistakes.extend(outcome.errors.iter().cloned());
        mistakes.extend(shares.overlaps(&draft));
        mistakes.extend(first_reads(&draft, &outcome, &program));
        if !mistakes.is_empty() {
            return Err(Error::Invalid {
                graph: draft.name.as_ref().into(),
                diagnostics: mistakes,
            });
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        if tracing::enabled!(target: "graph_runtime", tracing::Level::DEBUG) {
            for warning in graph_plan::warnings(&draft, &outcome) {
                tracing::debug!(target: "graph_runtime", graph = %draft.name, "{warning}");
            }
        }
        shares.check_device(&draft, &device.backend)?;
        program.enabled = draft.nodes.iter().map(|node| !node.disabled).collect();
        let sharing = if apart {
            Sharing::none(&draft)
        } else {
            Sharing::of(&draft, &outcome.order)
        };
        let arena = Arena::new(&draft, &layouts, &sharing, packed);
        let blueprint = Blueprint {
            draft: &draft,
            program: &program,
            order: &outcome.order,
            after: &Lists::new(draft.nodes.len(), || {
                outcome.reduced(&draft).map(|edge| (edge.to, edge.from as u32))
            }),
            programmatic: &Programmatic::of(&draft),
            layouts: &layouts,
            delays: device.delays,
            driver,
            shares: &shares,
            arena: &arena,
        };
        let instances = AllDeclaredNodes {
            own: repeats.and_then(|repeats| repeats.into_instances()),
            children,
        };
        let executable = Executable::build(&device.backend, &blueprint)?;
        if program.enabled.contains(&false) {
            draft.nodes.iter_mut().for_each(|node| node.disabled = false); // `program.enabled` says so from now on
        }
        let graph = Graph::new(device, id, draft, layouts, shares, program, executable);
        graph.with_arena(arena).with_instances(instances).with_rngs(rngs)
    }
}

impl fmt::Debug for GraphBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (nodes, resources) = (self.draft.nodes.len(), self.draft.resources.len());
        write!(
            f,
            "GraphBuilder({}, {nodes} nodes, {resources} resources)",
            self.draft.name
        )
    }
}
