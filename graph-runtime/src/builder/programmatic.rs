//! Programmatic edges: declaring them, and checking that the kernels make them an order.

use super::GraphBuilder;
use crate::graph::node::NodeId;
use crate::kernel::programmatic_edge::ProgrammaticEdge;
use crate::kernel::source::Source;
use crate::program::{Argument, Function, KernelOp, Program};
use graph_plan::{Access, Diagnostic, Draft, Edge, Nest, SharedParam, Writers};

impl GraphBuilder {
    /// Makes the kernel node `node` run after the kernel nodes `before`, by programmatic edges: `node` starts as soon
    /// as each of them has executed `griddepcontrol.launch_dependents` (`cudaTriggerProgrammaticLaunchCompletion`) or
    /// ended, and waits for their ends in its own code, by `griddepcontrol.wait` (`cudaGridDependencySynchronize`).
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
    let writers = Writers::new(draft, order);
    let all: Vec<_> = program.functions.iter().map(|function| function.facts).collect();
    let mistake = |&index: &usize| {
        let Edge { from, to } = draft.edges[index];
        let ((_, upstream), (kernel, function)) = (kernel(program, from)?, kernel(program, to)?);
        let edge = ProgrammaticEdge {
            upstream: &draft.nodes[from].name,
            downstream: &draft.nodes[to].name,
        };
        let never = edge.never_triggers(upstream.facts);
        if let Some(text) = never.filter(|_| !matches!(upstream.facts.source, Source::Loaded)) {
            tracing::debug!(target: "graph_runtime", graph = %draft.name, "{}", text.as_str());
        }
        let memory = sharing(program, kernel, to, &writers);
        edge.mistake(to, function.facts, &memory, &all)
    };
    draft.programmatic.iter().filter_map(mistake).collect()
}

/// The kernel of a kernel node.
fn kernel(program: &Program, node: usize) -> Option<(&KernelOp, &Function)> {
    let kernel = program.ops[node].kernel()?;
    Some((kernel, program.functions.get(kernel.function as usize)?))
}

/// The writes by other nodes to the memory of each buffer parameter of a kernel node.
fn sharing(program: &Program, kernel: &KernelOp, node: usize, writers: &Writers<'_>) -> Vec<SharedParam> {
    let arguments = program.arguments(kernel).iter().enumerate();
    let shared = arguments.filter_map(|(param, argument)| {
        let &Argument::Buffer {
            resource,
            mode,
            start,
            bytes,
        } = argument
        else {
            return None;
        };
        let access = Access {
            node,
            resource: resource as usize,
            region: graph_plan::Region::span(start as u64, (start + bytes) as u64),
            mode,
            by_name: false,
            line: None,
        };
        Some(SharedParam {
            param,
            written: writers.any(&access),
            written_before: writers.before(&access),
        })
    });
    shared.collect()
}
