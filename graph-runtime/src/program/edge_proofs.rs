//! The proof that a programmatic edge orders its two kernels. A built-in kernel, of a collective, needs none.

use super::{Argument, Function, KernelOp, Program};
use crate::kernel::KernelFacts;
use crate::kernel::programmatic_edge::ProgrammaticEdge;
use graph_plan::{Access, Diagnostic, Draft, Nest, SharedParam, Writers};

/// The facts from which programmatic edges of a graph are proved.
pub(crate) struct EdgeProofs<'a> {
    draft: &'a Draft,
    program: &'a Program,
    writers: Writers<'a>,
    all: Vec<&'static KernelFacts>,
}

impl<'a> EdgeProofs<'a> {
    pub(crate) fn new(draft: &'a Draft, program: &'a Program, order: &'a Nest) -> Self {
        Self {
            draft,
            program,
            writers: Writers::new(draft, order),
            all: program.functions.iter().map(|function| function.facts).collect(),
        }
    }

    /// The programmatic edge between two nodes, with the facts about their kernels; `None` if the later one launches
    /// none of the author's.
    pub(crate) fn edge(&self, from: usize, to: usize) -> Option<EdgeProof<'_>> {
        let (op, function) = kernel(self.program, to)?;
        let edge = ProgrammaticEdge {
            upstream: &self.draft.nodes[from].name,
            downstream: &self.draft.nodes[to].name,
        };
        Some(EdgeProof {
            edge,
            upstream: kernel(self.program, from).map(|(_, function)| function.facts),
            mistake: edge.mistake(to, function.facts, &self.sharing(op, to), &self.all),
        })
    }

    /// The writes by other nodes to the memory of each buffer parameter of a kernel node.
    fn sharing(&self, kernel: &KernelOp, node: usize) -> Vec<SharedParam> {
        let arguments = self.program.arguments(kernel).iter().enumerate();
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
                written: self.writers.any(&access),
                written_before: self.writers.before(&access),
            })
        });
        shared.collect()
    }
}

/// A programmatic edge, and whether the kernels make it an order.
pub(crate) struct EdgeProof<'a> {
    pub(crate) edge: ProgrammaticEdge<'a>,
    /// The facts about the kernel of the earlier node, if it launches one of the author's.
    pub(crate) upstream: Option<&'static KernelFacts>,
    /// The reason why they do not make it an order.
    pub(crate) mistake: Option<Diagnostic>,
}

/// The kernel of a kernel node.
fn kernel(program: &Program, node: usize) -> Option<(&KernelOp, &Function)> {
    let kernel = program.ops[node].kernel()?;
    Some((kernel, program.functions.get(kernel.function as usize)?))
}
