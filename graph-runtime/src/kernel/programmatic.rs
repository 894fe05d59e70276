//! The rules of `graph-plan` about programmatic edges and first reads, asked with the facts of kernels.

use crate::kernel::{Kernel, KernelFacts};
use graph_plan::{Diagnostic, Exposed, SharedParam, Subject, Text};

/// A programmatic edge.
#[derive(Clone, Copy, Debug)]
pub struct ProgrammaticEdge<'a> {
    /// The name of the node before.
    pub upstream: &'a str,
    /// The name of the node after.
    pub downstream: &'a str,
}

impl ProgrammaticEdge<'_> {
    /// Why the edge is no order of its nodes, in words; `None` if it is one. `kernel` is the kernel of the node after,
    /// `memory` what its parameters point to, and `all` the kernels of all nodes: those that write variables of its
    /// module count.
    pub const fn fault(&self, kernel: &KernelFacts, memory: &[SharedParam], all: &[&KernelFacts]) -> Option<Text> {
        let code = kernel.code();
        let (mut exposed, mut index) = (Exposed::new(&code, memory), 0);
        while index < all.len() {
            exposed = exposed.with_writer(&code, &all[index].code());
            index += 1;
        }
        self.rule().fault(&code, exposed)
    }

    /// The fault as a mistake of the node after, which is given by its index.
    pub fn mistake(
        &self,
        node: usize,
        kernel: &KernelFacts,
        memory: &[SharedParam],
        all: &[&KernelFacts],
    ) -> Option<Diagnostic> {
        let text = self.fault(kernel, memory, all)?;
        Some(Diagnostic::parse(Subject::Node(node), text.as_str()))
    }

    /// A warning that the edge is a plain one, since the kernel before never lets the one after start early.
    pub const fn never_triggers(&self, upstream: &KernelFacts) -> Option<Text> {
        self.rule().never_triggers(&upstream.code())
    }

    const fn rule(&self) -> graph_plan::ProgrammaticEdge<'_> {
        graph_plan::ProgrammaticEdge {
            upstream: self.upstream,
            downstream: self.downstream,
        }
    }
}

/// Why node `node`, the first to get the scratch memory `memory`, must not: its kernel loads through the parameter that
/// the memory is passed as. `None` if it only writes there.
pub const fn reads_uninitialized(node: &str, memory: &str, kernel: &KernelFacts, param: usize) -> Option<Text> {
    kernel.code().reads_uninitialized(node, memory, param)
}

/// Whether the kernel lets those after it start before it has ended.
pub const fn triggers<K: Kernel>() -> bool {
    K::FACTS.source.is_cuda() || K::FACTS.dependency.triggers.is_some()
}
