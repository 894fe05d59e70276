//! Nodes of a built graph.

use crate::error::{Error, Result, Site};
use crate::graph::Graph;
use graph_plan::NodeKind;

/// A node of one graph, by its index in order of declaration.
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
}

impl NodeHandle<'_> {
    /// The node's name; empty for one that the graph does not have.
    pub fn name(&self) -> &str {
        let node = self.graph.draft.nodes.get(self.node.index());
        node.map_or("", |node| &node.name)
    }

    /// Does it run in later launches? True until [`NodeHandle::set_enabled`] says otherwise.
    pub fn is_enabled(&self) -> bool {
        let enabled = self.graph.program.enabled.get(self.node.index());
        enabled.copied().unwrap_or(false)
    }

    /// Makes later launches run, or skip, this node; its edges stay. Launches in flight are not touched.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for joins (CUDA's rule), [`Error::UnknownNode`] for a node that the graph does not have,
    /// [`Error::Cuda`] where the driver refuses.
    pub fn set_enabled(&mut self, enabled: bool) -> Result<()> {
        let index = self.node.index();
        self.graph.check_node(self.node)?;
        let graph = &mut *self.graph;
        if graph.draft.nodes[index].kind == NodeKind::Join {
            return Err(Error::Unsupported {
                site: Site::graph(&graph.draft.name).at_node(&graph.draft.nodes[index].name),
                message: "only kernel, memcpy and memset nodes can be disabled",
            });
        }
        graph
            .executable
            .set_enabled(&graph.draft, &graph.program, index, enabled)?;
        graph.program.enabled[index] = enabled;
        Ok(())
    }
}
