//! Handles to the nodes of a built graph.

use crate::error::{Error, Result, Site};
use crate::graph::Graph;
use graph_plan::{NodeKind, Role};

/// A node of one graph, by its index in order of declaration. Each iteration of a `for` declares its own nodes.
///
/// The methods of [`GraphBuilder`](crate::GraphBuilder) that add nodes return it. Using it with another graph is an
/// error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId {
    /// The id of the builder that returned it, or [`ANY_GRAPH`].
    graph: u64,
    index: usize,
}

/// The graph of ids that were made of an index. No builder has this id.
const ANY_GRAPH: u64 = u64::MAX;

impl NodeId {
    /// The node with this index in order of declaration, from 0, in whatever graph the id is used with. If that graph
    /// has no such node, using the id is an error. The id is not equal to that which a builder returns.
    pub const fn new(index: usize) -> Self {
        Self::of(ANY_GRAPH, index)
    }

    /// The node with this index in the graph of a builder.
    pub(crate) const fn of(graph: u64, index: usize) -> Self {
        Self { graph, index }
    }

    /// The index of the node in order of declaration, from 0.
    pub const fn index(self) -> usize {
        self.index
    }

    /// Whether the id is of another graph than this one.
    pub(crate) const fn is_foreign_to(self, graph: u64) -> bool {
        self.graph != graph && self.graph != ANY_GRAPH
    }
}

/// A node of a [`Graph`], which it borrows: [`Graph::node`] returns it, and so do the methods of declared graphs that
/// are named like their nodes.
#[derive(Debug)]
pub struct NodeHandle<'g> {
    pub(crate) graph: &'g mut Graph,
    pub(crate) node: NodeId,
    /// If the graph has no such iteration, the node that was asked for.
    pub(crate) missing: Option<Missing>,
}

/// A node of an iteration that does not exist.
#[derive(Debug)]
pub(crate) struct Missing {
    declared: usize,
    /// The name that it would have: `scale[3]`.
    name: Box<str>,
    /// The number of the iteration of the innermost `for`.
    iteration: usize,
}

impl Missing {
    pub(crate) fn new(declared: usize, name: &str, values: &[usize]) -> Self {
        let numbers: String = values.iter().map(|value| format!("[{value}]")).collect();
        Self {
            declared,
            name: format!("{name}{numbers}").into(),
            iteration: values.last().copied().unwrap_or_default(),
        }
    }
}

impl NodeHandle<'_> {
    /// The node's name; empty if the graph has no such node.
    pub fn name(&self) -> &str {
        let node = self.graph.check_node(self.node);
        node.map_or("", |node| &self.graph.draft.nodes[node].name)
    }

    /// Whether the node runs in later launches. It does unless it was built [disabled](crate::GraphBuilder::disable);
    /// [`NodeHandle::set_enabled`] changes that. False if the graph has no such node.
    pub fn is_enabled(&self) -> bool {
        let node = self.graph.check_node(self.node);
        node.is_ok_and(|node| self.graph.program.enabled[node])
    }

    /// Makes later launches run this node, or skip it; its edges stay. Launches in flight do not change. A skipped node
    /// costs next to nothing; a skipped memset costs as much as a tiny one, since CUDA's own way to skip it loses the
    /// order of nodes (seen with driver 580).
    ///
    /// # Errors
    /// * [`Error::Unsupported`] for nodes other than kernels, copies and memsets (CUDA's rule); if it is the last
    ///   enabled node that writes the condition of a `while` around it, which would never end; and if a node would then
    ///   read scratch memory that no node has written;
    /// * [`Error::UnknownNode`] if the graph has no such node, [`Error::ForeignNode`] if it is another graph's;
    /// * [`Error::Cuda`] if the driver refuses.
    pub fn set_enabled(&mut self, enabled: bool) -> Result<()> {
        let index = self.check()?;
        let graph = &mut *self.graph;
        let refuse = |message| {
            let site = Site::graph(&graph.draft.name).at_node(&graph.draft.nodes[index].name);
            Err(Error::Unsupported { site, message })
        };
        if !matches!(
            graph.draft.nodes[index].kind,
            NodeKind::Kernel | NodeKind::Memcpy | NodeKind::Memset
        ) {
            return refuse("only kernel, memcpy and memset nodes can be disabled");
        }
        if !enabled && ends_a_while_alone(graph, index) {
            return refuse(
                "without this node nothing writes the condition of the `while` around it, which would never end",
            );
        }
        if let Some(message) = graph.scratch_fault(index, enabled) {
            return refuse(message);
        }
        graph
            .executable
            .set_enabled(&graph.draft, &graph.program, index, enabled)?;
        graph.program.enabled[index] = enabled;
        Ok(())
    }

    /// The index of the node, if the graph has it.
    fn check(&self) -> Result<usize> {
        let Some(missing) = &self.missing else {
            return self.graph.check_node(self.node);
        };
        let declared = self.graph.declared_nodes.own.as_ref();
        Err(Error::UnknownNode {
            site: Site::graph(&self.graph.draft.name).at_node(&missing.name),
            index: missing.iteration,
            nodes: declared.map_or(0, |declared| declared.each(missing.declared).count()),
        })
    }
}

/// Whether the node is the only enabled one that writes the condition of some `while` around it.
fn ends_a_while_alone(graph: &Graph, node: usize) -> bool {
    let draft = &graph.draft;
    let alone = |body: usize| {
        let writers: Vec<usize> = graph_plan::condition_writers(draft, body).collect();
        let others = writers.iter().filter(|&&writer| writer != node);
        let ends = |&other: &usize| graph.program.enabled[other] && !draft.nodes[other].partial;
        writers.contains(&node) && !others.clone().any(ends)
    };
    let whiles = |&body: &usize| draft.bodies[body].role == Role::While;
    draft.bodies_around(node).filter(whiles).any(alone)
}
