//! Nodes that are made by calls of CUDA or of libraries: captured, or added by hand.

use super::GraphBuilder;
use crate::graph::node::NodeId;
use crate::program::Op;
use crate::program::capture::{BoxError, CaptureCall, CaptureStream};
use crate::program::pointer::NodeArguments;
use crate::program::raw::{RawCall, RawNode};
use crate::shape::place::DeclaredAccess;
use cudarc::driver::sys::CUgraphNode;
use graph_plan::NodeKind;
use std::borrow::Cow;
use std::sync::Arc;

impl GraphBuilder {
    /// Adds a node that runs what `calls` queues on a stream: cuBLAS, cuDNN, cuFFT, NCCL and whatever else takes a
    /// stream. `calls` runs once, when the graph is built; CUDA records ("captures") what it queues instead of running
    /// it, and every launch repeats that.
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
    /// * Each node has a stream of its own, so that nodes which the graph leaves unordered run in parallel; the graph
    ///   keeps it, and `calls` with whatever it owns.
    /// * The memory is that of `stream.memory()`, in order. The calls must touch only that, as it is declared: they are
    ///   `unsafe`, and this is what their `unsafe` promises. Races are found by what is declared.
    /// * Nothing runs beforehand (some call that warming up): device memory is zeroed when a graph is built, and
    ///   running the calls on it would change that. What a library must do once, and must not do in a capture, goes
    ///   into [`CaptureStream::prepare`]; the memory that it would otherwise allocate when it is called comes from
    ///   [`CaptureStream::workspace`].
    /// * CUDA's rules for captures are thread-local: those on other threads go on.
    /// * In the body of an `if`, a `while` or a `switch`, the calls must not queue what CUDA runs in no body: host
    ///   functions, events, semaphores, batch memory operations. If they do, [`GraphBuilder::build`] returns
    ///   [`Error::Invalid`](crate::Error::Invalid) with [`conditional-body`](graph_plan::Code::ConditionalBody).
    ///
    /// [`GraphBuilder::build`] returns [`Error::Node`](crate::Error::Node) with what `calls` returned or with what CUDA
    /// said, and on the emulator [`Error::Unsupported`](crate::Error::Unsupported): library calls need a CUDA device.
    pub fn capture<A, F>(&mut self, name: impl Into<Cow<'static, str>>, arguments: A, calls: F) -> NodeId
    where
        A: NodeArguments,
        F: for<'n> FnMut(&CaptureStream<'n, A::Kept>) -> Result<(), BoxError> + Send + 'static,
    {
        let (declared, kept) = arguments.keep();
        self.foreign_node(name.into(), NodeKind::Capture, declared);
        self.push(Op::Capture(Arc::new(CaptureCall::new(kept, calls))))
    }

    /// Adds a node by calls of the driver: external semaphores, batch memory operations, and what else this crate has
    /// no words for. `add` gets the graph and the nodes that it must come after, and returns the node that others come
    /// after; with several nodes, the first must come after all that is given and the last is returned. It runs once,
    /// when the graph is built.
    ///
    /// The context is current, and memory is had as in [`GraphBuilder::capture`]. The graph keeps `add` with whatever
    /// it owns. On the emulator building returns [`Error::Unsupported`](crate::Error::Unsupported); an error of `add`
    /// comes back as [`Error::Node`](crate::Error::Node).
    ///
    /// # Safety
    ///
    /// * The nodes that `add` adds come after all that it is given, and the node it returns comes after all of them and
    ///   is of that graph.
    /// * In every launch they touch only the memory in `arguments`, as it is declared, and memory that nothing else
    ///   uses and that lives as long as the graph.
    /// * `add` does nothing else to the graph.
    pub unsafe fn raw<A, F>(&mut self, name: impl Into<Cow<'static, str>>, arguments: A, add: F) -> NodeId
    where
        A: NodeArguments,
        F: for<'n> FnMut(&RawNode<'n, A::Kept>, &[CUgraphNode]) -> Result<CUgraphNode, BoxError> + Send + 'static,
    {
        let (declared, kept) = arguments.keep();
        self.foreign_node(name.into(), NodeKind::Raw, declared);
        self.push(Op::Raw(Arc::new(RawCall::new(kept, add))))
    }

    /// Declares a node that may do more than its accesses tell.
    fn foreign_node(&mut self, name: Cow<'static, str>, kind: NodeKind, declared: Vec<DeclaredAccess>) {
        let node = self.node(name, kind);
        self.draft.nodes[node].opaque = true;
        for DeclaredAccess { span, mode } in declared {
            self.touch(node, span, mode);
        }
    }
}
