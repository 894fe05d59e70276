//! `after auto`: the edges that accesses imply.

use super::GraphBuilder;
use crate::graph::node::NodeId;
use graph_plan::{Draft, Views};

/// The nodes for which edges are inferred.
#[derive(Default)]
pub(super) struct AutoNodes {
    /// Whether nodes that are added now are among them.
    all: bool,
    /// Whether there may be any.
    some: bool,
    /// The nodes for which it was asked alone.
    nodes: Vec<usize>,
}

impl GraphBuilder {
    /// Makes `node` run after each node that was added before it in its body and whose accesses to memory conflict with
    /// its own: a reader after the last writers, a writer after the last writers and all readers since. `cuda_graph!`
    /// writes `after auto`.
    ///
    /// Nodes of different iterations of one loop are not ordered by it. What a node touches is known when the graph is
    /// built, so this may be called before its memory is. [`GraphBuilder::after`] adds other edges.
    ///
    /// `build` fails (`unknown-node`) if the node accesses no memory and runs after no other node, and (`cycle`) if
    /// other edges make it run before a node that it must run after.
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder};
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Copies");
    /// let input = builder.host::<[f32; 4]>("input");
    /// let mut data = builder.device::<[f32; 4]>("data");
    /// let mut output = builder.host::<[f32; 4]>("output");
    /// builder.memcpy("upload", &input, &mut data);
    /// let download = builder.memcpy("download", &data, &mut output);
    /// builder.after_auto(download);
    ///
    /// let graph = builder.build()?;
    /// assert_eq!(graph.plan().nodes[1].inferred[..], [0]);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    pub fn after_auto(&mut self, node: NodeId) {
        if let Some((node, _)) = self.ends_of_edge(node, node) {
            self.auto.some = true;
            self.auto.nodes.push(node);
        }
    }

    /// Calls [`after_auto`](Self::after_auto) for each node that is added from now on and accesses memory, in bodies
    /// and children too. `cuda_graph!` writes `#![after(auto)]` as the first line of a graph.
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder};
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Copies");
    /// builder.after_auto_everywhere();
    /// let input = builder.host::<[f32; 4]>("input");
    /// let mut data = builder.device::<[f32; 4]>("data");
    /// let mut output = builder.host::<[f32; 4]>("output");
    /// builder.memcpy("upload", &input, &mut data);
    /// builder.memcpy("download", &data, &mut output);
    ///
    /// let mut graph = builder.build()?;
    /// *graph.host_mut(&input)? = [1.0, 2.0, 3.0, 4.0];
    /// graph.launch()?;
    /// assert_eq!(graph.host(&output)?, &[1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    pub fn after_auto_everywhere(&mut self) {
        self.auto.some = true;
        self.auto.all = true;
    }

    /// Whether edges are inferred for a node that is added now.
    pub(super) fn is_auto(&self) -> bool {
        self.auto.all
    }

    /// Adds the edges that accesses imply, where `views` are one memory. Nodes that are added later are the builder's
    /// own, and have their edges.
    pub(super) fn infer_edges(&mut self, views: &Views) {
        if !self.auto.some {
            return;
        }
        self.auto.all = false;
        for node in std::mem::take(&mut self.auto.nodes) {
            let Some(declared) = self.draft.nodes.get_mut(node) else {
                self.unknown_node(node);
                continue;
            };
            declared.auto = true;
            if !accesses_memory(&self.draft, node) && self.draft.edges.iter().all(|edge| edge.to != node) {
                self.findings.mistake(graph_plan::nothing_to_infer(&self.draft, node));
            }
        }
        let iterations = self.position.iterations(self.draft.nodes.len());
        views.through(&mut self.draft, |draft| graph_plan::infer(draft, &iterations));
    }
}

/// Whether a node, or a node in its bodies, may access memory.
fn accesses_memory(draft: &Draft, node: usize) -> bool {
    let mut accesses = draft.accesses.iter();
    accesses.any(|access| access.node == node) || draft.bodies.iter().any(|body| body.node == Some(node))
}
