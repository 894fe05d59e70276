//! Programmatic edges: declaring them, and checking that the kernels make them an order.

use super::GraphBuilder;
use crate::graph::node::NodeId;
use crate::kernel::source::Source;
use crate::program::Program;
use crate::program::edge_proofs::EdgeProofs;
use graph_plan::{Diagnostic, Draft, Edge, Nest};

impl GraphBuilder {
    /// Makes the kernel node `node` run after the kernel nodes `before`, by programmatic edges: `node` starts as soon
    /// as each of them has executed `griddepcontrol.launch_dependents` (`cudaTriggerProgrammaticLaunchCompletion`) or
    /// ended, and waits for their ends in its own code, by `griddepcontrol.wait` (`cudaGridDependencySynchronize`).
    /// Collectives are kernel nodes in this: they wait, and let nodes start when all ranks have come.
    ///
    /// `build` refuses the edge (`programmatic-edge`) unless the PTX makes it an order: on every path, the kernel of
    /// `node` waits before it ends, and before it touches memory that some node writes; and it does not load memory
    /// that an earlier node writes by `ld.global.nc`.
    ///
    /// Before compute capability 9.0, before CUDA 12.3, and on the emulator, they are plain edges.
    pub fn after_programmatic(&mut self, node: NodeId, before: &[NodeId]) {
        for &before in before {
            if let Some((from, to)) = self.ends_of_edge(before, node) {
                self.draft.programmatic_edge(from, to);
            }
        }
    }

    /// Reports programmatic edges that the kernels do not make an order. Kernels that could not be resolved, and edges
    /// of nodes of other kinds, have been reported before.
    pub(super) fn check_programmatic(&mut self, order: &Nest) {
        if self.draft.programmatic.is_empty() || !self.kernels.unresolved.is_empty() || self.findings.has_failed() {
            return;
        }
        let found = mistakes(&self.draft, &self.program, order);
        self.findings.mistakes(found);
    }
}

fn mistakes(draft: &Draft, program: &Program, order: &Nest) -> Vec<Diagnostic> {
    let proofs = EdgeProofs::new(draft, program, order);
    let mistake = |&index: &usize| {
        let Edge { from, to } = draft.edges[index];
        let proof = proofs.edge(from, to)?;
        let upstream = proof
            .upstream
            .filter(|upstream| !matches!(upstream.source, Source::Loaded | Source::Cubin(_)));
        if let Some(text) = upstream.and_then(|upstream| proof.edge.never_triggers(upstream)) {
            tracing::debug!(target: "graph_runtime", graph = %draft.name, "{}", text.as_str());
        }
        proof.mistake
    };
    draft.programmatic.iter().filter_map(mistake).collect()
}
