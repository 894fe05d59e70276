//! Builds graphs of work that is recorded from a stream.

use super::GraphBuilder;
use crate::error::{Error, Result, Site};
use crate::graph::captured::CapturedGraph;
use crate::program::Op;
use crate::program::capture::{BoxError, CaptureCall, CaptureOptions, CaptureStream};
use crate::program::pointer::NodeArguments;
use graph_plan::NodeKind;
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
    ///   [debug mode](crate::Device::with_debug) the work is one node, `recorded`, and cannot have allocations.
    ///
    /// Whatever happens in the closure, its stream is gone afterwards, and other streams that took part are usable.
    ///
    /// # Errors
    /// [`Error::Node`](crate::Error::Node) with the error of `calls` or of CUDA; if a forked stream was not joined; if
    /// nothing was recorded, as when all work went to another stream; if the work allocates memory that it does not
    /// free. [`Error::Unsupported`](crate::Error::Unsupported) on the emulator, which has no streams, and if the
    /// builder has nodes or an `rng`. [`Error::InUse`](crate::Error::InUse) if memory is lent by a guard while the
    /// closure warms up. And those of [`GraphBuilder::build`].
    pub fn build_captured<A, F>(mut self, options: CaptureOptions, arguments: A, calls: F) -> Result<CapturedGraph>
    where
        A: NodeArguments,
        F: for<'n> FnMut(&CaptureStream<'n, A::Kept>) -> Result<(), BoxError> + Send + 'static,
    {
        if !self.draft.nodes.is_empty() || !self.memory.rngs.is_empty() {
            return Err(Error::Unsupported {
                site: Site::graph(&self.draft.name).at_node(NODE),
                message: "the work of a captured graph is all of it: the builder must have no nodes of its own, nor an `rng`, which \
                          needs some; `GraphBuilder::capture` adds recorded work as a node",
            });
        }
        let (declared, kept) = arguments.keep();
        self.foreign_node(NODE.into(), NodeKind::Capture, declared);
        let call = CaptureCall::new(kept, calls).of_graph(options);
        self.push(Op::Capture(Arc::new(call)));
        self.build().map(CapturedGraph::new)
    }
}
