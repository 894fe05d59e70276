//! Declares a graph at run time, call by call. `cuda_graph!` expands to these calls.
//!
//! This file has the methods with trait bounds that users can violate: rustc's messages name such a method as
//! `GraphBuilder::memcpy` only if it is in the module of the type. All others are in a file for each subject.

pub(crate) mod captured;
pub(crate) mod places;
mod build;
mod from_file;
mod kernel;
mod programmatic;
mod auto;
mod body;
mod child;
pub(crate) mod memory;
mod constant;
mod texel_arguments;
mod rng;
mod scratch;
mod shared;
mod copy_and_set;
mod declared_param;
pub(crate) mod collective;
mod node_attributes;
mod record;
mod position;
mod loops;
mod findings;

use crate::device::Device;
use crate::driver::CUgraphNode;
use crate::graph::node::NodeId;
use crate::graph::rng::Rng;
use crate::memory::Seed;
use crate::ownership::block::{Shareable, SharedMemory};
use crate::program::capture::{BoxError, CaptureCall, CaptureStream};
use crate::program::communicator::Communicator;
use crate::program::communicator::number::{Reducible, Reduction};
use crate::program::event::Event;
use crate::program::host_call::{HostArguments, HostCall};
use crate::program::params::DeclaredParam;
use crate::program::pointer::{Lend, NodeArguments};
use crate::program::raw::{RawCall, RawNode};
use crate::program::transfer::{Memcpy, Memset};
use crate::program::{External, Program, Work};
use crate::shape::builders::Named;
use crate::shape::iterations::Iterations;
use crate::shape::place::{Copied, Memory, OnDevice, Place};
use crate::shape::rectangle::Rectangle;
use crate::shape::rows::Rows;
use crate::shape::same_shape::SameShape;
use crate::shape::{ArrayOf, Element};
use auto::AutoNodes;
use collective::Moved;
use findings::Findings;
use graph_plan::{Draft, Mode, NodeKind};
use kernel::KernelChecks;
pub(crate) use loops::{EdgeKind, LoopKind};
use memory::DeclaredMemory;
use node_attributes::Attribute;
use position::Position;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A graph under construction: memory, nodes and edges are declared in any order; [`GraphBuilder::build`] checks the
/// graph and builds it.
///
/// It runs the same analysis as `cuda_graph!` at compile time. So graphs whose nodes are known only at run time are
/// just as surely acyclic, race-free and within their memory. No call before `build` fails: mistakes are collected, and
/// `build` returns all of them at once.
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
    /// The graph's id. Every place carries it, so that a place of another graph is refused. That makes using a place
    /// sound: only this graph's places have indices and ranges that were checked against its memory.
    id: u64,
    /// Tells other graphs the names of this one and of its nodes.
    named: Arc<Named>,
    draft: Draft,
    /// The build arguments by which reports tell graphs of one type apart: `(n = 4)`, or nothing.
    pub(crate) arguments: String,
    program: Program,
    memory: DeclaredMemory,
    params: Vec<DeclaredParam>,
    /// The body, the loops and the child graphs to which nodes are being added.
    position: Position,
    kernels: KernelChecks,
    /// The attributes of nodes, which may be given before the node is added.
    attributes: Vec<(NodeId, Attribute)>,
    auto: AutoNodes,
    findings: Findings,
    /// The communicators of the draft.
    communicators: Vec<Communicator>,
    /// The newest CUDA version of a driver to build for.
    driver: u32,
}

impl GraphBuilder {
    /// Begins an empty graph, to run on `device`. The name appears in messages and drawings.
    pub fn new(device: &Device, name: impl Into<Cow<'static, str>>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let (id, draft) = (NEXT.fetch_add(1, Relaxed), Draft::new(name));
        Self {
            device: device.clone(),
            id,
            named: Named::new(id, &draft.name),
            draft,
            arguments: String::new(),
            program: Program::default(),
            memory: DeclaredMemory::default(),
            params: Vec::new(),
            position: Position::default(),
            kernels: KernelChecks::default(),
            attributes: Vec::new(),
            auto: AutoNodes::default(),
            findings: Findings::default(),
            communicators: Vec::new(),
            driver: u32::MAX,
        }
    }

    /// Makes room for `nodes` more nodes, each with one edge, one access to memory and two arguments. This makes
    /// building large graphs faster.
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

    /// Adds a node that only joins edges: nodes after it run after all nodes before it.
    pub fn join(&mut self, name: impl Into<Cow<'static, str>>) -> NodeId {
        self.node(name, NodeKind::Join);
        self.push(Work::Join)
    }

    /// Makes `node` start after all nodes in `before` have ended. `build` fails if this makes a cycle (`cycle`), if a
    /// node does not exist or is another graph's (`unknown-node`), or if the nodes are in different bodies.
    pub fn after(&mut self, node: NodeId, before: &[NodeId]) {
        for &before in before {
            if let Some((from, to)) = self.ends_of_edge(before, node) {
                self.draft.edge(from, to);
            }
        }
    }

    /// Adds a node that copies `from` to `to`, which have the same shape. `build` compares outermost lengths that the
    /// types do not tell (`shape-mismatch`).
    pub fn memcpy<A, B, M1, M2>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        from: &Place<A, M1>,
        to: &mut Place<B, M2>,
    ) -> NodeId
    where
        A: ?Sized + SameShape<B>,
        B: ?Sized,
        M1: Copied,
        M2: Copied,
    {
        self.copy(name.into(), &Memcpy::new(from, to))
    }

    /// Adds a node that sets every element of `to` to `value`.
    pub fn memset<S: ?Sized + ArrayOf<T>, T: Element>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        to: &mut Place<S, OnDevice>,
        value: T,
    ) -> NodeId {
        self.set(name.into(), Memset::new(to, value))
    }

    /// Adds a node that copies one rectangle to another of the same shape. `build` compares numbers of rows and columns
    /// that the types do not tell (`shape-mismatch`).
    ///
    /// CUDA cannot change such a node in place: rebinding its memory instantiates the graph again, unless both
    /// rectangles are in one piece.
    pub fn memcpy_2d<A, B, M1, M2>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        from: &Rectangle<A, M1>,
        to: &mut Rectangle<B, M2>,
    ) -> NodeId
    where
        A: ?Sized + SameShape<B>,
        B: ?Sized,
        M1: Memory,
        M2: Memory,
    {
        self.copy(name.into(), &Memcpy::new(from, to))
    }

    /// Declares random numbers of a Philox generator. Each call of [`Rng::draw`] returns the state for one node. Each
    /// thread of the node draws at most `draws` numbers of 32 bits. `seed` is a [`Seed`]: a `u64` or a
    /// [`Philox`](crate::Philox), with which a generator of the graph's own begins, or a
    /// [`Generator`](crate::Generator), which graphs share.
    ///
    /// Each node, each launch and each iteration draws fresh numbers, and the same seed reproduces them. If the largest
    /// number of iterations of a `while` with uses is `n` (1, if a use is in none), a launch advances the generator by
    /// `n` times the draws of all uses. [`RngHandle::state`](crate::RngHandle::state) tells how far it is.
    ///
    /// Built-in kernels advance the generator after all uses, and the uses at the end of each iteration of a `while`. A
    /// shared generator needs one more kernel, before all uses; launches that share one wait for each other.
    pub fn rng(&mut self, name: impl Into<Cow<'static, str>>, seed: impl Seed, draws: u64) -> Rng {
        self.random(name.into(), seed.begin().0, draws)
    }

    /// Adds a node that sets every element of a rectangle to `value`.
    pub fn memset_2d<S: ?Sized + ArrayOf<T>, T: Element>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        to: &mut Rectangle<S, OnDevice>,
        value: T,
    ) -> NodeId {
        self.set(name.into(), Memset::new(to, value))
    }

    /// Adds a node that combines the memory of all ranks, and leaves the result on each.
    ///
    /// All ranks of the communicator take part in it, and all collectives of a graph are ordered with each other
    /// (`collective-order`). A node in the body of an `if`, a `while` or a `switch` runs on all ranks or on none:
    /// `build` refuses a condition that may differ between ranks (`rank-dependent`).
    pub fn all_reduce<S: ?Sized + Reducible>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        reduction: Reduction,
        memory: &mut Place<S, OnDevice>,
        over: &Communicator,
    ) -> NodeId {
        let moves = [Moved::new(memory.span, Mode::ReadWrite)];
        let reduction = Some((reduction, S::NUMBER));
        self.add_collective(name.into(), (NodeKind::AllReduce, reduction), &moves, over)
    }

    /// Adds a node that puts the parts of all ranks together, on each: row `r` of `whole` becomes the part of rank `r`.
    /// `build` fails unless `whole` has one row for each rank (`shape-mismatch`). See [`GraphBuilder::all_reduce`].
    pub fn all_gather<P, W>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        part: &Place<P, OnDevice>,
        whole: &mut Place<W, OnDevice>,
        over: &Communicator,
    ) -> NodeId
    where
        P: ?Sized + SameShape<W::Row>,
        W: ?Sized + Rows,
    {
        let moves = [Moved::new(part.span, Mode::Read), Moved::new(whole.span, Mode::Write)];
        self.add_collective(name.into(), (NodeKind::AllGather, None), &moves, over)
    }

    /// Adds a node that combines the memory of all ranks, and leaves each rank its row of the result. `build` fails
    /// unless `whole` has one row for each rank (`shape-mismatch`). See [`GraphBuilder::all_reduce`].
    pub fn reduce_scatter<W, P>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        reduction: Reduction,
        whole: &Place<W, OnDevice>,
        part: &mut Place<P, OnDevice>,
        over: &Communicator,
    ) -> NodeId
    where
        P: ?Sized + SameShape<W::Row> + Reducible,
        W: ?Sized + Rows,
    {
        let moves = [Moved::new(whole.span, Mode::Read), Moved::new(part.span, Mode::Write)];
        let reduction = Some((reduction, P::NUMBER));
        self.add_collective(name.into(), (NodeKind::ReduceScatter, reduction), &moves, over)
    }

    /// Adds a node that copies the memory of the rank `from` to all ranks. See [`GraphBuilder::all_reduce`].
    pub fn broadcast<S: ?Sized>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        memory: &mut Place<S, OnDevice>,
        from: usize,
        over: &Communicator,
    ) -> NodeId {
        let moves = [Moved {
            peer: from,
            ..Moved::new(memory.span, Mode::ReadWrite)
        }];
        self.add_collective(name.into(), (NodeKind::Broadcast, None), &moves, over)
    }

    /// Adds a node that calls a function on the host. Its argument is a tuple of references into host memory: `&S` for
    /// a place that is given as `&place`, and `&mut S` for one that is given as `&mut place`.
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder};
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Sum");
    /// let input = builder.host::<[f32; 4]>("input");
    /// let mut sum = builder.host::<f32>("sum");
    /// builder.call("add", (&input, &mut sum), |(input, sum)| *sum = input.iter().sum());
    ///
    /// let mut graph = builder.build()?;
    /// *graph.host_mut(&input)? = [1.0, 2.0, 3.0, 4.0];
    /// graph.launch()?;
    /// assert_eq!(graph.host(&sum)?, &10.0);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// The function runs on a thread of CUDA's, once in each launch, and never twice at the same time. The graph keeps
    /// it, and drops it when no launch is in flight any more.
    ///
    /// * It must not use CUDA (CUDA's rule). So it must not use a graph, nor drop a value that frees device memory.
    /// * It must not wait for the GPU, nor for another host function: while it runs, CUDA may hold back other work. Nor
    ///   must it wait for a thread that uses memory of graphs.
    /// * [`SharedHost::read`](crate::SharedHost::read), and on the emulator launches and copies, too, return
    ///   [`Error::InUse`](crate::Error::InUse) in it instead of waiting: while another thread uses the memory, or a
    ///   launch that has not ended.
    /// * A panic in it is caught. The nodes after it run as if it had returned, the graph can be launched again, and
    ///   the next wait ([`Graph::synchronize`](crate::Graph::synchronize), or any accessor) returns the first panic
    ///   since the last wait as [`Error::Panicked`](crate::Error::Panicked). (With `panic = "abort"`, it aborts.)
    pub fn call<A, F>(&mut self, name: impl Into<Cow<'static, str>>, arguments: A, function: F) -> NodeId
    where
        A: HostArguments,
        F: for<'a> FnMut(A::References<'a>) + Send + 'static,
    {
        let node = self.node(name, NodeKind::Call);
        for declared in arguments.declared() {
            self.touch(node, declared.span, declared.mode);
        }
        self.push(External::Call(Arc::new(HostCall::new(&arguments, function))))
    }

    /// Adds a node that records an event when the nodes before it have ended. Other streams, and other graphs, can wait
    /// for the event.
    pub fn record(&mut self, name: impl Into<Cow<'static, str>>, event: impl Into<Event>) -> NodeId {
        let event = event.into(); // the caller's code, which may panic
        self.node(name, NodeKind::Record);
        self.push(External::Record(event))
    }

    /// Adds a node that waits for an event: nodes after it start when the work has ended that the event has recorded
    /// before the launch.
    pub fn wait(&mut self, name: impl Into<Cow<'static, str>>, event: impl Into<Event>) -> NodeId {
        let event = event.into(); // as in `record`
        self.node(name, NodeKind::Wait);
        self.push(External::Wait(event))
    }

    /// Adds a node that runs library calls: cuBLAS, cuDNN, cuFFT, NCCL, or any other library that takes a stream.
    /// `calls` makes these calls on a stream, once, when the graph is built. CUDA records ("captures") the work that
    /// they queue instead of running it, and every launch runs the recorded work.
    ///
    /// ```no_run
    /// use graph_runtime::cudarc::driver::{result, sys::CUstream};
    /// use graph_runtime::{CaptureStream, Device, GraphBuilder};
    ///
    /// let mut builder = GraphBuilder::new(&Device::cuda(0)?, "Captured");
    /// let from = builder.device::<[f32; 4]>("from");
    /// let mut to = builder.device::<[f32; 4]>("to");
    /// builder.capture("copy", (&from, &mut to), |stream| {
    ///     let (from, to) = stream.memory();
    ///     // SAFETY: it reads `from` and writes `to`, which have one length, as the node declares.
    ///     unsafe { result::memcpy_dtod_async(to.address(), from.address(), from.bytes(), stream.cu_stream()) }?;
    ///     Ok(())
    /// });
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// * Each node has its own stream, so nodes that the graph leaves unordered run in parallel. The graph keeps the
    ///   stream, and `calls` with all that it owns.
    /// * `stream.memory()` returns the memory in `arguments`, in order. The calls may touch only this memory, as it is
    ///   declared: they are `unsafe`, and this is the promise of that `unsafe`. The race check relies on it.
    /// * The calls are not run beforehand ("warmed up"): they would change device memory, which is zeroed when a graph
    ///   is built. Work that a library must do once, outside a capture, goes into [`CaptureStream::prepare`]. Memory
    ///   that a library would allocate when it is called comes from [`CaptureStream::workspace`].
    /// * If a [definition](crate::Definition) makes several graphs, the calls run once for each of them, and the
    ///   promise holds for all of them together.
    /// * The capture is thread-local: captures on other threads are not affected.
    /// * In the body of an `if`, a `while` or a `switch`, the calls must not queue work that CUDA runs in no body: host
    ///   functions, events, semaphores, batch memory operations. If they do, [`GraphBuilder::build`] returns
    ///   [`Error::Invalid`](crate::Error::Invalid) with [`conditional-body`](graph_plan::Code::ConditionalBody).
    ///
    /// [`GraphBuilder::build`] returns [`Error::Node`](crate::Error::Node) with the error of `calls`, or with CUDA's
    /// error about the capture. On the emulator it returns [`Error::Unsupported`](crate::Error::Unsupported): library
    /// calls need a CUDA device. [`GraphBuilder::capture_or_else`] has what stands for them there.
    pub fn capture<A, F>(&mut self, name: impl Into<Cow<'static, str>>, arguments: A, calls: F) -> NodeId
    where
        A: NodeArguments,
        F: for<'n> FnMut(&CaptureStream<'n, A::Kept>) -> Result<(), BoxError> + Send + 'static,
    {
        let (declared, kept) = arguments.keep();
        self.foreign_node(name.into(), NodeKind::Capture, declared);
        self.push(External::Capture(Arc::new(CaptureCall::new(kept, calls))))
    }

    /// As [`GraphBuilder::capture`], with a host function that stands for the library calls where there is no CUDA: on
    /// the emulator. So programs that use a library are tested without a GPU.
    ///
    /// The function's argument is a tuple like `arguments`, as a [`call`](GraphBuilder::call) has it: `&S` for a place
    /// of shape `S` that is given as `&place`, `&mut S` for one that is given as `&mut place`, and values. It works on
    /// copies, and what it may write is copied back. On a CUDA device it is never called.
    ///
    /// ```
    /// use graph_runtime::cudarc::driver::result;
    /// use graph_runtime::{Device, GraphBuilder};
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Captured");
    /// let from = builder.device::<[f32; 4]>("from");
    /// let mut to = builder.device::<[f32; 4]>("to");
    /// builder.capture_or_else(
    ///     "copy",
    ///     (&from, &mut to),
    ///     |stream| {
    ///         let (from, to) = stream.memory();
    ///         // SAFETY: it reads `from` and writes `to`, which have one length, as the node declares.
    ///         unsafe { result::memcpy_dtod_async(to.address(), from.address(), from.bytes(), stream.cu_stream()) }?;
    ///         Ok(())
    ///     },
    ///     |(from, to)| *to = *from,
    /// );
    ///
    /// let mut graph = builder.build()?;
    /// graph.device_mut(&from)?.copy_from(&[2.0; 4])?;
    /// graph.launch()?;
    /// assert_eq!(*graph.device(&to)?.read()?, [2.0; 4]);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    pub fn capture_or_else<A, F, G>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        arguments: A,
        calls: F,
        otherwise: G,
    ) -> NodeId
    where
        A: NodeArguments<Kept: Lend>,
        F: for<'n> FnMut(&CaptureStream<'n, A::Kept>) -> Result<(), BoxError> + Send + 'static,
        G: for<'a> FnMut(<A::Kept as Lend>::Lent<'a>) + Send + 'static,
    {
        let (declared, kept) = arguments.keep();
        let call = CaptureCall::new(kept.clone(), calls).or_else(&declared, kept, otherwise);
        self.foreign_node(name.into(), NodeKind::Capture, declared);
        self.push(External::Capture(Arc::new(call)))
    }

    /// Adds a node by calls of the driver: for external semaphores, batch memory operations, and other features that
    /// this crate does not cover. `add` runs once, when the graph is built. It gets the graph, and the nodes that its
    /// node must come after, and returns its node. It may add several nodes: the first come after all nodes that it was
    /// given, and it returns the last, which comes after all others.
    ///
    /// The context is current, and `memory()` returns the memory as in [`GraphBuilder::capture`]. The graph keeps `add`
    /// with all that it owns. [`GraphBuilder::build`] returns an error of `add` as [`Error::Node`](crate::Error::Node),
    /// and on the emulator [`Error::Unsupported`](crate::Error::Unsupported).
    ///
    /// # Safety
    ///
    /// * The nodes that `add` adds come after all nodes that it is given. The node that it returns is one of the
    ///   graph's, and comes after all nodes that it adds.
    /// * In every launch, its nodes touch only the memory in `arguments`, as it is declared, and memory that nothing
    ///   else uses and that lives as long as the graph.
    /// * `add` does nothing else to the graph.
    pub unsafe fn raw<A, F>(&mut self, name: impl Into<Cow<'static, str>>, arguments: A, add: F) -> NodeId
    where
        A: NodeArguments,
        F: for<'n> FnMut(&RawNode<'n, A::Kept>, &[CUgraphNode]) -> Result<CUgraphNode, BoxError> + Send + 'static,
    {
        let (declared, kept) = arguments.keep();
        self.foreign_node(name.into(), NodeKind::Raw, declared);
        self.push(External::Raw(Arc::new(RawCall::new(kept, add))))
    }

    /// Adds a loop: for each number of the range, `iteration` adds the nodes of one iteration. The first nodes of each
    /// iteration run after the last nodes of the previous one, so each iteration ends before the next begins.
    ///
    /// The iteration's number follows the names of its nodes: `scale[3]`.
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder};
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Layers");
    /// let weights = builder.device::<[[f32; 4]; 3]>("weights");
    /// let mut layer = builder.device::<[f32; 4]>("layer");
    /// let mut history = builder.host::<[[f32; 4]; 3]>("history");
    /// builder.repeat(0..3, |builder, i| {
    ///     let load = builder.memcpy("load", &weights.row(i), &mut layer);
    ///     let save = builder.memcpy("save", &layer, &mut history.row(i));
    ///     builder.after(save, &[load]);
    /// });
    ///
    /// let mut graph = builder.build()?;
    /// graph.device_mut(&weights)?.copy_from(&[[1.0; 4], [2.0; 4], [3.0; 4]])?;
    /// graph.launch()?;
    /// assert_eq!(graph.host(&history)?, &[[1.0; 4], [2.0; 4], [3.0; 4]]);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// If loops make more than about a million nodes, `build` returns
    /// [`Error::TooManyNodes`](crate::Error::TooManyNodes).
    pub fn repeat(&mut self, range: impl Iterations, iteration: impl FnMut(&mut Self, usize)) {
        self.add_loop(LoopKind::For, range, iteration);
    }

    /// Adds a parallel loop: for each number of the range, `iteration` adds the nodes of one iteration, which is not
    /// ordered with the others. Returns the results of `iteration`, for example the nodes that others run after.
    ///
    /// [`GraphBuilder::after_iteration`] orders a node after a node of another iteration, for chains and wavefronts.
    /// Loops of both kinds nest. The iteration's number follows the names of its nodes: `scale[3]`.
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder, NodeId};
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Steps");
    /// let mut rows = builder.device::<[[f32; 4]; 3]>("rows");
    /// let mut output = builder.host::<[[f32; 4]; 3]>("output");
    /// let first = builder.memset("first", &mut rows.row(0), 1.0_f32);
    /// let steps: Vec<NodeId> = builder.each(1..3, |builder, i| {
    ///     let step = builder.memcpy("step", &rows.row(i - 1), &mut rows.row(i));
    ///     builder.after(step, &[first]);
    ///     builder.after_iteration(step, step, &[-1]); // after `step[i - 1]`
    ///     step
    /// });
    /// let download = builder.memcpy("download", &rows, &mut output);
    /// builder.after(download, &steps);
    ///
    /// let mut graph = builder.build()?;
    /// graph.launch()?;
    /// assert_eq!(graph.host(&output)?, &[[1.0; 4]; 3]);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// Iterations that touch the same memory, and that nothing orders, race:
    ///
    /// ```
    /// # use graph_runtime::{Device, GraphBuilder};
    /// # let mut builder = GraphBuilder::new(&Device::emulator(), "Rows");
    /// # let mut rows = builder.device::<[[f32; 4]; 3]>("rows");
    /// builder.each(0..2, |builder, i| {
    ///     builder.memset("set", &mut rows.rows(i..i + 2), 0.0_f32);
    /// });
    /// let error = builder.build().unwrap_err();
    /// assert_eq!(
    ///     error.to_string().lines().nth(1),
    ///     Some("iterations 0 and 1 of `set` both access `rows` and can run at the same time [race]")
    /// );
    /// ```
    ///
    /// If loops make more than about a million nodes, `build` returns
    /// [`Error::TooManyNodes`](crate::Error::TooManyNodes).
    pub fn each<T>(&mut self, range: impl Iterations, mut iteration: impl FnMut(&mut Self, usize) -> T) -> Vec<T> {
        let mut results = Vec::new();
        self.add_loop(LoopKind::Each, range, |builder, number| {
            results.push(iteration(builder, number));
        });
        results
    }

    /// Declares memory that is outside the graph, and that other graphs may share: a
    /// [`DeviceBuffer`](crate::DeviceBuffer) or a [`SharedHost`](crate::SharedHost). Nodes may write it only if it is
    /// `mutable` (`access`). The graph keeps it alive.
    ///
    /// If graphs share memory and one of them writes it, their launches run one after the other, on whatever streams
    /// and threads they are.
    pub fn shared<B: Shareable>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        buffer: &B,
        mutable: bool,
    ) -> Place<B::Shape, B::Memory> {
        let memory = SharedMemory::of(buffer);
        let lengths = *memory.lengths();
        self.share(name.into(), memory, lengths, mutable)
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
