//! Nodes of a built graph.

use crate::error::{Error, Result, Site};
use crate::graph::Graph;
use graph_plan::{NodeKind, Role};

/// A node of one graph, by its index in order of declaration; each iteration of a `for` declares its nodes anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(usize);

impl NodeId {
    /// The node that was declared as number `index`, from 0. One that does not exist is an error where it is used.
    #[doc(hidden)]
    pub const fn new(index: usize) -> Self {
        Self(index)
    }

    /// The index, in order of declaration.
    pub const fn index(self) -> usize {
        self.0
    }
}

/// A node of a [`Graph`], borrowed from it.
#[derive(Debug)]
pub struct NodeHandle<'g> {
    pub(crate) graph: &'g mut Graph,
    pub(crate) node: NodeId,
    /// If the graph has no such node: the node that was asked for.
    pub(crate) missing: Option<Missing>,
}

/// A node of an iteration that there is none of.
#[derive(Debug)]
pub(crate) struct Missing {
    declared: usize,
    /// As it would be called: `scale[3]`.
    name: Box<str>,
    /// The number that was asked for, of the innermost `for`.
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
    /// The node's name; empty for one that the graph does not have.
    pub fn name(&self) -> &str {
        let node = self.graph.draft.nodes.get(self.node.index());
        node.map_or("", |node| &node.name)
    }

    /// Whether it runs in later launches: true, unless it was built [disabled](crate::GraphBuilder::disable), until
    /// [`NodeHandle::set_enabled`] says otherwise.
    pub fn is_enabled(&self) -> bool {
        let enabled = self.graph.program.enabled.get(self.node.index());
        enabled.copied().unwrap_or(false)
    }

    /// Makes later launches run, or skip, this node; its edges stay. Launches in flight are not touched. A skipped node
    /// costs next to nothing, but a memset about as much as a tiny one: CUDA's own way to skip those loses the order
    /// (seen with driver 580).
    ///
    /// # Errors
    /// [`Error::Unsupported`] for nodes other than kernels, copies and memsets (CUDA's rule), for the last node that
    /// writes the condition of a `while` around it, which would never end, and where a node would then read scratch
    /// memory that none has written; [`Error::UnknownNode`] for a node that the graph does not have, [`Error::Cuda`]
    /// where the driver refuses.
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

    /// The index of the node, if there is one.
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

/// Whether the node is the only enabled one in the body of some `while` that writes its condition.
fn ends_a_while_alone(graph: &Graph, node: usize) -> bool {
    let draft = &graph.draft;
    let alone = |body: usize| {
        let writers: Vec<usize> = graph_plan::condition_writers(draft, body).collect();
        let others = writers.iter().filter(|&&writer| writer != node);
        writers.contains(&node) && others.clone().all(|&other| !graph.program.enabled[other])
    };
    let whiles = |&body: &usize| draft.bodies[body].role == Role::While;
    draft.bodies_around(node).filter(whiles).any(alone)
}
