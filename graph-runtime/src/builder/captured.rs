//! Builds graphs of work that is recorded from a stream.

use super::GraphBuilder;
use crate::devices::Backend;
use crate::devices::recording::Recording;
use crate::driver::CudaStream;
use crate::error::{At, Error, Result, Site};
use crate::graph::captured_graph::CapturedGraph;
use crate::ownership::storage::Storage;
use crate::program::External;
use crate::program::capture::{BoxError, CaptureCall, CaptureMode, CaptureOptions, CaptureStream};
use crate::program::pointer::{Addresses, Kept, Lend, NodeArguments};
use crate::shape::place::DeclaredAccess;
use graph_plan::NodeKind;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// The name of the only node of a captured graph.
const NODE: &str = "recorded";

impl GraphBuilder {
    /// Builds a graph of the work that `calls` queues on a stream: for code that cannot be declared, as
    /// `torch.cuda.graph` and `cudaStreamBeginCapture` record it. CUDA records ("captures") the work instead of running
    /// it; every launch of the graph runs it.
    ///
    /// ```no_run
    /// use graph_runtime::cudarc::driver::result::memcpy_dtod_async;
    /// use graph_runtime::{CaptureOptions, Device, GraphBuilder};
    ///
    /// let device = Device::cuda(0)?;
    /// let (x, y) = (device.alloc::<[f32; 4]>()?, device.alloc::<[f32; 4]>()?);
    ///
    /// let mut builder = GraphBuilder::new(&device, "Step");
    /// let from = builder.shared("x", &x, false);            // the work reads it
    /// let mut to = builder.shared("y", &y, true);           // and writes this
    /// let options = CaptureOptions { warm_up: 3, ..Default::default() };
    /// let mut step = builder.build_captured(options, (&from, &mut to), |stream| {
    ///     let (from, to) = stream.memory();
    ///     // SAFETY: it reads `from` and writes `to`, which have one length, as the graph says.
    ///     unsafe { memcpy_dtod_async(to.address(), from.address(), from.bytes(), stream.cu_stream()) }?;
    ///     Ok(())
    /// })?;
    ///
    /// x.copy_from(&[1.0; 4])?;
    /// step.launch()?;
    /// assert_eq!(*y.read()?, [1.0; 4]);
    /// step.rebind(&from, &device.alloc()?)?;                // records again, with another address
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// * *Memory.* `arguments` are places of the builder: of memory that it [shares](GraphBuilder::shared), or that the
    ///   graph owns. `stream.memory()` returns them in order. The graph keeps this memory alive, and its launches wait
    ///   for others that use it, and others for them. The work may touch only this memory, as it is declared: its calls
    ///   are `unsafe`, and this is the promise of that `unsafe`, as for [`GraphBuilder::capture`]. So what
    ///   [`CaptureStream`] says of nodes holds here as well.
    /// * *Other streams* take part if they are forked from the closure's stream by events, nested as deep as you like,
    ///   and joined again before the closure ends.
    /// * *Warm-up.* [`CaptureOptions::warm_up`] runs the closure as often before it is recorded, with its work, and
    ///   waits for that: libraries then load and choose what they need. That is a launch like others: it changes the
    ///   memory.
    /// * *Calls that CUDA forbids* meanwhile: [`CaptureOptions::mode`]. If one is made, `build_captured` says so.
    /// * *Allocations* by `cuMemAllocAsync` on the stream become nodes of the graph. Each must be freed on the stream
    ///   before the closure ends: then every launch allocates and frees again. Otherwise use
    ///   [`CaptureStream::workspace`].
    /// * *Changes.* [`CapturedGraph::record_again`] records again; [`Graph::rebind`](crate::Graph::rebind) does so with
    ///   other memory.
    /// * [`Device::with_delays`](crate::Device::with_delays) has no effect. In
    ///   [debug mode](crate::Device::with_debug) the work is one node, `recorded`.
    ///
    /// The closure's stream is gone afterwards, also after an error or a panic; other streams that took part are
    /// usable.
    ///
    /// # Errors
    /// [`Error::Node`](crate::Error::Node) with the error of `calls` or of CUDA; if a forked stream was not joined; if
    /// nothing was recorded, as when all work went to another stream; if the work allocates memory that it does not
    /// free. [`Error::Unsupported`](crate::Error::Unsupported) on the emulator, which has no streams, and if the
    /// builder has nodes or an `rng`. [`Error::InUse`](crate::Error::InUse) if memory is lent by a guard while the
    /// closure warms up. And those of [`GraphBuilder::build`].
    pub fn build_captured<A, F>(self, options: CaptureOptions, arguments: A, calls: F) -> Result<CapturedGraph>
    where
        A: NodeArguments,
        F: for<'n> FnMut(&CaptureStream<'n, A::Kept>) -> Result<(), BoxError> + Send + 'static,
    {
        let (declared, kept) = arguments.keep();
        self.captured(declared, CaptureCall::new(kept, calls).of_graph(options))
    }

    /// As [`GraphBuilder::build_captured`], with a host function that stands for the work where there is no CUDA: on
    /// the emulator, where it runs in each launch. There is no warm-up then, and [`CapturedGraph::record_again`] has no
    /// effect. See [`GraphBuilder::capture_or_else`].
    ///
    /// # Errors
    /// As [`GraphBuilder::build_captured`], but for that of the emulator.
    pub fn build_captured_or_else<A, F, G>(
        self,
        options: CaptureOptions,
        arguments: A,
        calls: F,
        otherwise: G,
    ) -> Result<CapturedGraph>
    where
        A: NodeArguments<Kept: Lend>,
        F: for<'n> FnMut(&CaptureStream<'n, A::Kept>) -> Result<(), BoxError> + Send + 'static,
        G: for<'a> FnMut(<A::Kept as Lend>::Lent<'a>) + Send + 'static,
    {
        let (declared, kept) = arguments.keep();
        let call = CaptureCall::new(kept.clone(), calls).or_else(&declared, kept, otherwise);
        self.captured(declared, call.of_graph(options))
    }

    fn captured(mut self, declared: Vec<DeclaredAccess>, call: CaptureCall) -> Result<CapturedGraph> {
        self.check_has_no_nodes()?;
        self.foreign_node(NODE.into(), NodeKind::Capture, declared);
        self.push(External::Capture(Arc::new(call)));
        self.build().map(CapturedGraph::new)
    }

    /// Begins to record the work of a stream of your own, until [`StreamCapture::end`]: as PyTorch's `capture_begin`
    /// and cudarc's `begin_capture` do. [`GraphBuilder::build_captured`] does that on a stream of its own, which nobody
    /// else has, and knows more: it warms up, prepares, and can record again. Prefer it.
    ///
    /// ```no_run
    /// use graph_runtime::cudarc::driver::result::memcpy_dtod_async;
    /// use graph_runtime::{CaptureMode, Device, GraphBuilder};
    ///
    /// let device = Device::cuda(0)?;
    /// let stream = device.context().expect("a CUDA device").new_stream().expect("a stream");
    /// let (x, y) = (device.alloc::<[f32; 4]>()?, device.alloc::<[f32; 4]>()?);
    ///
    /// let mut builder = GraphBuilder::new(&device, "Step");
    /// let (from, mut to) = (builder.shared("x", &x, false), builder.shared("y", &y, true));
    /// // SAFETY: until `end`, nothing is queued on the stream but the copy, from `x` to `y`, of their length.
    /// let capture = unsafe { builder.begin_capture(&stream, CaptureMode::ThreadLocal, (&from, &mut to)) }?;
    /// let (from, to) = capture.memory();
    /// // SAFETY: as above.
    /// unsafe { memcpy_dtod_async(to.address(), from.address(), from.bytes(), stream.cu_stream()) }.expect("it is queued");
    /// let mut step = capture.end()?;
    /// step.launch()?;
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// All work that anybody queues on the stream until it has ended, also by safe functions of cudarc, and on streams
    /// that are forked from it, touches only the memory in `arguments`, as it is declared, and memory that lives as
    /// long as the graph and that nothing else uses.
    ///
    /// # Errors
    /// * [`Error::Stream`] if the stream belongs to another context;
    /// * [`Error::Unsupported`] on the emulator, if the builder has nodes or an `rng`, and if it has memory that is not
    ///   [shared](GraphBuilder::shared): memory that the graph owns does not exist yet;
    /// * [`Error::Cuda`] if the driver refuses: the stream is being captured, or is the null stream.
    pub unsafe fn begin_capture<A: NodeArguments>(
        self,
        stream: &Arc<CudaStream>,
        mode: CaptureMode,
        arguments: A,
    ) -> Result<StreamCapture<A::Kept>> {
        self.check_has_no_nodes()?;
        let site = || Site::graph(&self.draft.name);
        let unsupported = |message| Err(Error::Unsupported { site: site(), message });
        let Backend::Cuda(cuda) = &self.device.backend else {
            return unsupported("the CPU emulator has no streams");
        };
        if stream.context().cu_ctx() != cuda.raw() {
            return Err(Error::Stream {
                site: site(),
                message: "the stream belongs to another context",
            });
        }
        if self.memory.shared.len() != self.draft.resources.len() {
            return unsupported(
                "work on a stream of your own can use shared memory only: other memory does not exist yet",
            );
        }
        // Resources are declared in order, and all of them are shared.
        let shared = self.memory.shared.iter();
        let addresses = Addresses::new(shared.map(|shared| Storage::Shared(shared.memory.clone()).first()));
        let (declared, kept) = arguments.keep();
        if declared.iter().any(|declared| declared.span.graph != self.id) {
            return Err(Error::ForeignPlace { site: site() });
        }
        let recording = Recording::begin(cuda, stream, mode).at(site)?;
        Ok(StreamCapture {
            recording,
            addresses,
            declared,
            kept,
            builder: self,
            not_send: PhantomData,
        })
    }

    /// Refuses a builder that has nodes, or will have.
    fn check_has_no_nodes(&self) -> Result<()> {
        if self.draft.nodes.is_empty() && self.memory.rngs.is_empty() {
            return Ok(());
        }
        Err(Error::Unsupported {
            site: Site::graph(&self.draft.name).at_node(NODE),
            message: "the work of a captured graph is all of it: the builder must have no nodes of its own, nor an `rng`, which \
                      needs some; `GraphBuilder::capture` adds recorded work as a node",
        })
    }
}

/// A stream of the user's that is being recorded: see [`GraphBuilder::begin_capture`].
///
/// Dropping it ends the capture without a graph, and leaves the stream usable. If it is forgotten (`mem::forget`), the
/// stream stays as it is: work that is queued on it does not run.
///
/// CUDA ends a capture on the thread that has begun it, so this stays there:
///
/// ```compile_fail,E0277
/// fn send<T: Send>() {}
/// send::<graph_runtime::StreamCapture<()>>();
/// ```
pub struct StreamCapture<K> {
    recording: Recording,
    builder: GraphBuilder,
    addresses: Addresses,
    declared: Vec<DeclaredAccess>,
    kept: K,
    not_send: PhantomData<*const ()>,
}

impl<K: Kept> StreamCapture<K> {
    /// The memory that the work may use, in order: a tuple of [`Pointer`](crate::Pointer)s and
    /// [`PointerMut`](crate::PointerMut)s.
    pub fn memory(&self) -> K::Given<'_> {
        self.kept.give(&self.addresses)
    }
}

impl<K> StreamCapture<K> {
    /// Ends the capture, and builds a graph of the recorded work. [`Graph::rebind`](crate::Graph::rebind) and
    /// [`CapturedGraph::record_again`] return [`Error::Unsupported`] for it.
    ///
    /// # Errors
    /// As [`GraphBuilder::build_captured`]. The stream is usable in any case.
    pub fn end(self) -> Result<CapturedGraph> {
        let Self {
            recording,
            mut builder,
            declared,
            ..
        } = self;
        let graph = recording.end().map_err(|message| Error::Node {
            site: Site::graph(&builder.draft.name).at_node(NODE),
            message,
        })?;
        builder.foreign_node(NODE.into(), NodeKind::Capture, declared);
        builder.push(External::Capture(Arc::new(CaptureCall::recorded(graph))));
        builder.build().map(CapturedGraph::new)
    }
}

impl<K> fmt::Debug for StreamCapture<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StreamCapture({:?})", self.builder)
    }
}
