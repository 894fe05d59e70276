//! Graphs as nodes of others. The nodes of a child are nodes of the whole graph, in a body of the node that stands for
//! it: so the analysis and both backends see through it.

use super::GraphBuilder;
use super::repeat::Repeats;
use crate::error::Result;
use crate::graph::node::NodeId;
use crate::program::Op;
use graph_plan::{NodeKind, Role};
use std::borrow::Cow;

/// The most children in each other. More is a graph that holds itself.
const MAX_DEPTH: usize = 64;

/// The graph around a child that nodes are being added to.
pub(super) struct Outer {
    /// The node that the child is.
    child: usize,
    body: usize,
    prefix: String,
    repeats: Option<Box<Repeats>>,
}

impl GraphBuilder {
    /// Adds a node that runs what `add` adds: on CUDA a child graph, or, if conditionals are among it, its nodes
    /// between two empty ones.
    ///
    /// Names of nodes and of memory that `add` declares have that of the node before them: `step.scale`. Its nodes may
    /// run after each other, not after nodes outside: those go before or after the whole.
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
        self.close_child();
        node
    }

    /// Begins a child that `cuda_graph!` has declared: from now on the graph is the child, whose declarations are
    /// counted from 0. False, and nothing is begun, where children stand in each other without end.
    pub(crate) fn declare_child(&mut self, name: &'static str) -> bool {
        let nodes = self.draft.nodes.len();
        self.repeats.get_or_insert_default().declare_all(nodes);
        if self.outer.len() < MAX_DEPTH {
            let mut repeats = Box::<Repeats>::default();
            repeats.declare_all(0);
            self.open_child(name.into(), Some(repeats));
            return true;
        }
        let node = self.join(name).index();
        self.fail(
            node,
            "more than 64 child graphs stand in each other: does a graph hold itself?",
        );
        false
    }

    /// Ends the child that was begun last, which could be added or not.
    pub(crate) fn close_declared_child(&mut self, added: Result<()>) {
        self.close_child();
        if let Err(error) = added {
            self.end_early(error);
        }
    }

    /// The body that the nodes of the current child are in, other than in bodies of their own; 0 for the graph itself.
    pub(super) fn body_of_child(&self) -> usize {
        let child = self.outer.last().and_then(|outer| self.program.ops.get(outer.child));
        if let Some(&Op::Child(body)) = child { body } else { 0 }
    }

    fn open_child(&mut self, name: Cow<'static, str>, repeats: Option<Box<Repeats>>) -> NodeId {
        let node = self.node(name, NodeKind::Graph);
        let body = self.draft.body(node, Role::Child);
        let prefix = format!("{}.", self.draft.nodes[node].name);
        let id = self.push(Op::Child(body));
        self.outer.push(Outer {
            child: node,
            body: std::mem::replace(&mut self.body, body),
            prefix: std::mem::replace(&mut self.prefix, prefix),
            repeats: std::mem::replace(&mut self.repeats, repeats),
        });
        id
    }

    fn close_child(&mut self) {
        let Some(Outer {
            child,
            body,
            prefix,
            repeats,
        }) = self.outer.pop()
        else {
            return;
        };
        (self.body, self.prefix) = (body, prefix);
        if let Some(inner) = std::mem::replace(&mut self.repeats, repeats) {
            let declared = inner.end_in(&mut self.repeats);
            self.children.extend(declared.map(|instances| (child, instances)));
        }
    }

    /// The name as one of the current child.
    pub(super) fn named(&self, name: Cow<'static, str>) -> Cow<'static, str> {
        if self.prefix.is_empty() {
            return name;
        }
        format!("{}{name}", self.prefix).into()
    }
}
