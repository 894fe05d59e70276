//! The rules of `graph-plan` about programmatic edges and first reads, applied to [`KernelFacts`].

use crate::kernel::{Kernel, KernelFacts};
use graph_plan::{Diagnostic, Exposed, KernelCode, SharedParam, Subject, Text};

/// A programmatic edge.
#[derive(Clone, Copy, Debug)]
pub struct ProgrammaticEdge<'a> {
    /// The name of the node before.
    pub upstream: &'a str,
    /// The name of the node after.
    pub downstream: &'a str,
}

impl ProgrammaticEdge<'_> {
    /// A message that says why the edge does not order its nodes; `None` if it does.
    ///
    /// Every file of the kernel counts that a device with programmatic launches may get.
    ///
    /// `kernel` is the kernel of the downstream node, and `memory` has the memory that its parameters point to. `all`
    /// are the kernels of all nodes, since one of them may write variables of the same module.
    pub const fn fault(&self, kernel: &KernelFacts, memory: &[SharedParam], all: &[&KernelFacts]) -> Option<Text> {
        let mut variant = 0;
        while variant < kernel.variants() {
            if kernel.may_be_programmatic(variant)
                && let Some(text) = self.fault_of(&kernel.variant(variant).code(), memory, all)
            {
                return Some(text);
            }
            variant += 1;
        }
        None
    }

    /// The fault if the downstream kernel is the one in this file.
    const fn fault_of(&self, code: &KernelCode<'_>, memory: &[SharedParam], all: &[&KernelFacts]) -> Option<Text> {
        let (mut exposed, mut index) = (Exposed::new(code, memory), 0);
        while index < all.len() {
            let mut variant = 0;
            while variant < all[index].variants() {
                exposed = exposed.with_writer(code, &all[index].variant(variant).code());
                variant += 1;
            }
            index += 1;
        }
        self.rule().fault(code, exposed)
    }

    /// The fault as a diagnostic about the downstream node, which has the index `node`.
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

    /// A warning that the edge gains nothing, since the upstream kernel never lets the next one start early.
    pub const fn never_triggers(&self, upstream: &KernelFacts) -> Option<Text> {
        match upstream.triggers() {
            true => None,
            false => self.rule().never_triggers(&upstream.code()),
        }
    }

    const fn rule(&self) -> graph_plan::ProgrammaticEdge<'_> {
        graph_plan::ProgrammaticEdge {
            upstream: self.upstream,
            downstream: self.downstream,
        }
    }
}

/// A message that says that `node`, which is the first to use the scratch memory `memory`, would read it
/// uninitialized: its kernel loads through parameter `param`, to which the memory is passed. `None` if the kernel only
/// writes there.
pub(crate) const fn reads_uninitialized(node: &str, memory: &str, kernel: &KernelFacts, param: usize) -> Option<Text> {
    let mut variant = 0;
    while variant < kernel.variants() {
        if let Some(text) = kernel.variant(variant).code().reads_uninitialized(node, memory, param) {
            return Some(text);
        }
        variant += 1;
    }
    None
}

/// Whether the kernel may let the kernels after it start before it has ended. (Always true of a CUDA source, whose PTX
/// is not known yet.)
pub const fn triggers<K: Kernel>() -> bool {
    K::FACTS.source.is_cuda() || K::FACTS.triggers()
}
