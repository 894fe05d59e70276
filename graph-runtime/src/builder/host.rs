//! Nodes that reach out of the GPU's work: host functions, and events of other streams.

use super::GraphBuilder;
use crate::graph::node::NodeId;
use crate::program::Op;
use crate::program::event::Event;
use crate::program::host::{HostArguments, HostCall};
use graph_plan::NodeKind;
use std::borrow::Cow;
use std::sync::Arc;

impl GraphBuilder {
    /// Adds a node that calls a function on the host, with references into host memory: `&` for a place given as
    /// `&place`, `&mut` for one given as `&mut place`, in a tuple.
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
    /// The function runs on a thread of CUDA's, once in each launch, and never twice at once. The graph keeps it, and
    /// drops it when no launch is in flight any more.
    ///
    /// * It must not use CUDA (CUDA's rule), which also means: no graph, and nothing whose `drop` frees device memory.
    /// * It must not wait for the GPU, nor for another host function: while it runs, CUDA may hold back other work.
    /// * A panic in it is caught. The nodes after it run as if it had returned, the graph can be launched again, and
    ///   the next wait ([`Graph::synchronize`](crate::Graph::synchronize), or any accessor) returns the first panic
    ///   since the last wait as [`Error::Panicked`](crate::Error::Panicked). (Where panics abort, they do.)
    pub fn call<A, F>(&mut self, name: impl Into<Cow<'static, str>>, arguments: A, function: F) -> NodeId
    where
        A: HostArguments,
        F: for<'a> FnMut(A::References<'a>) + Send + 'static,
    {
        let node = self.node(name, NodeKind::Call);
        for declared in arguments.declared() {
            self.touch(node, declared.span, declared.mode);
        }
        self.push(Op::Call(Arc::new(HostCall::new(&arguments, function))))
    }

    /// Adds a node that records an event once the nodes before it have ended: other streams, and other graphs, can wait
    /// for it.
    pub fn record(&mut self, name: impl Into<Cow<'static, str>>, event: impl Into<Event>) -> NodeId {
        let event = event.into(); // the caller's code, which may panic
        self.node(name, NodeKind::Record);
        self.push(Op::Record(event))
    }

    /// Adds a node that ends when all is done that was recorded with the event before the launch.
    pub fn wait(&mut self, name: impl Into<Cow<'static, str>>, event: impl Into<Event>) -> NodeId {
        let event = event.into(); // as in `record`
        self.node(name, NodeKind::Wait);
        self.push(Op::Wait(event))
    }
}
