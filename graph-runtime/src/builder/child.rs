//! Child graphs: graphs that are nodes of other graphs. The nodes of a child are nodes of the whole graph, in a body of
//! the child's node, so the analysis and both backends see them.

use super::GraphBuilder;
use super::loops::Loops;
use crate::error::Result;
use crate::graph::node::NodeId;
use crate::program::Structure;
use graph_plan::{NodeKind, Role};
use std::borrow::Cow;

impl GraphBuilder {
    /// Adds a node that runs the nodes that `add` adds. On CUDA it is a child graph; if it holds conditionals, its
    /// nodes are put between two empty ones instead.
    ///
    /// The name of the node becomes a prefix of the names of nodes and memory that `add` declares: `step.scale`. Nodes
    /// of the child may run after each other. Nodes outside run before or after the whole child.
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder};
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Parent");
    /// let mut data = builder.device::<[f32; 4]>("data");
    /// let mut output = builder.host::<[f32; 4]>("output");
    /// let step = builder.child("step", |child| {
    ///     child.memset("set", &mut data, 1.0_f32);
    /// });
    /// let download = builder.memcpy("download", &data, &mut output);
    /// builder.after(download, &[step]);
    ///
    /// let mut graph = builder.build()?;
    /// graph.launch()?;
    /// assert_eq!(graph.host(&output)?, &[1.0; 4]);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    pub fn child(&mut self, name: impl Into<Cow<'static, str>>, add: impl FnOnce(&mut Self)) -> NodeId {
        let node = self.open_child(name.into(), None);
        add(self);
        self.position.close_child();
        node
    }

    /// Begins a child that `cuda_graph!` has declared: nodes are added to the child from now on, and its declarations
    /// are counted from 0. If children are nested too deeply, begins nothing and returns false.
    pub(crate) fn declare_child(&mut self, name: &'static str) -> bool {
        let nodes = self.draft.nodes.len();
        self.position.loops_mut().record_declarations(nodes);
        if self.position.can_open_child() {
            let mut loops = Box::<Loops>::default();
            loops.record_declarations(0);
            self.open_child(name.into(), Some(loops));
            return true;
        }
        let node = self.join(name).index();
        self.fail(
            node,
            "more than 64 child graphs stand in each other: does a graph hold itself?",
        );
        false
    }

    /// Ends the child that was begun last, with the result of declaring it.
    pub(crate) fn close_declared_child(&mut self, declared: Result<()>) {
        if let Err(error) = declared {
            self.findings.incomplete(error);
        }
        self.position.close_child();
    }

    fn open_child(&mut self, name: Cow<'static, str>, loops: Option<Box<Loops>>) -> NodeId {
        let node = self.node(name, NodeKind::Graph);
        let body = self.draft.body(node, Role::Child);
        let prefix = format!("{}.", self.draft.nodes[node].name);
        self.position.open_child(node, body, prefix, loops);
        self.push(Structure::Child(body))
    }
}
