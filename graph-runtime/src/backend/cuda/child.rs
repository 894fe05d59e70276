//! Child graphs as CUDA nodes.

use super::CudaExecutable;
use super::conditional::Turn;
use super::failure::Failure;
use super::forms::Forms;
use super::predicated::Entry;
use crate::driver::{CUgraph, CUgraphNode};
use crate::ownership::blueprint::Blueprint;
use crate::program::{Op, Structure};

impl CudaExecutable {
    /// Adds a child graph as a CUDA node. CUDA takes no conditionals in one: if it holds any, its nodes are added to
    /// `graph` itself, between two empty nodes.
    ///
    /// # Safety
    ///
    /// The graph and the nodes in `after` and `turn` live and belong together; the graph is of the context of `self`.
    pub(super) unsafe fn add_child(
        &mut self,
        blueprint: &Blueprint<'_>,
        graph: CUgraph,
        after: &[CUgraphNode],
        node: usize,
        body: usize,
        turn: &mut Turn,
    ) -> Result<CUgraphNode, Failure> {
        let at_node = |error| (node, error);
        let api = self.cuda.api();
        let sequence = blueprint.order.sequence(body);
        if holds_conditionals(blueprint, &self.adder.forms, body) {
            // SAFETY: by the caller's promise.
            let first = unsafe { api.add_empty_node(graph, after) }.map_err(at_node)?;
            let entry = Entry {
                roots: &[first],
                ..Entry::default()
            };
            // SAFETY: by the caller's promise; `first` was just added, and no node of the body was added before.
            unsafe { self.add_prefix(blueprint, graph, sequence, entry, turn) }?;
            let last = self.last_of_body(blueprint, body);
            // SAFETY: by the caller's promise; `last` are nodes of the graph.
            return Ok(unsafe { api.add_empty_node(graph, &last) }.map_err(at_node)?);
        }
        let name = &blueprint.draft.nodes[node].name;
        announce!(self.cuda, trace, node = %name, after = after.len(), "{}", api.names().add_child_node)
            .map_err(at_node)?;
        // SAFETY: the driver is initialised.
        let empty = unsafe { api.create() }.map_err(at_node)?;
        // SAFETY: by the caller's promise; `empty` was just made.
        let added = unsafe { api.add_child_node(graph, after, empty) };
        // SAFETY: it was made above, and the node has a copy.
        unsafe { api.destroy(empty) }.map_err(at_node)?;
        let added = added.map_err(at_node)?;
        // SAFETY: the node is a child graph's, and was just added.
        let child = unsafe { api.child(added) }.map_err(at_node)?;
        // SAFETY: the child lives as long as its node, and has no nodes yet.
        unsafe { self.add_prefix(blueprint, child, sequence, Entry::default(), &mut Turn::Free) }?;
        Ok(added)
    }
}

/// Whether a body has conditional nodes of CUDA, itself or in its child graphs.
fn holds_conditionals(blueprint: &Blueprint<'_>, forms: &Forms, body: usize) -> bool {
    let mut nodes = blueprint.order.sequence(body);
    nodes.any(|node| match &blueprint.program.ops[node] {
        Op::Structure(Structure::Conditional(_)) => !forms.is_predicated(node),
        Op::Structure(Structure::Child(inner)) => holds_conditionals(blueprint, forms, *inner),
        Op::Work(_) | Op::External(_) => false,
    })
}
