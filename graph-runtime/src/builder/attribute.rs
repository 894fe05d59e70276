//! Attributes of single nodes: their priority, and whether they run at all.

use super::GraphBuilder;
use crate::graph::node::NodeId;
use crate::program::Op;
use graph_plan::NodeKind;

/// An attribute of a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Attribute {
    Priority(i32),
    Disabled,
}

impl GraphBuilder {
    /// Gives a kernel node a priority. Of kernels that could start, CUDA starts blocks of those with the least number
    /// first. What numbers there are the device says (on today's GPUs, -5 to 0); building refuses others. Nodes without
    /// have the priority 0. The emulator runs nodes one after the other, whatever their priorities.
    pub fn priority(&mut self, node: NodeId, priority: i32) {
        self.attributes.push((node, Attribute::Priority(priority)));
    }

    /// Builds a kernel, memcpy or memset node disabled: launches skip it, until its
    /// [handle](crate::NodeHandle::set_enabled) enables it. What runs after it runs after all that it runs after. It
    /// counts as a node that may run, other than where one must have run: it initialises no scratch memory and ends no
    /// `while`.
    pub fn disable(&mut self, node: NodeId) {
        self.attributes.push((node, Attribute::Disabled));
    }

    /// The node that was added last.
    pub(crate) fn newest_node(&self) -> NodeId {
        NodeId::new(self.program.ops.len().saturating_sub(1))
    }

    /// Puts attributes where they belong, once all nodes are there.
    pub(super) fn apply_attributes(&mut self) {
        for (node, attribute) in std::mem::take(&mut self.attributes) {
            self.apply_attribute(node.index(), attribute);
        }
    }

    fn apply_attribute(&mut self, node: usize, attribute: Attribute) {
        match (attribute, self.program.ops.get_mut(node)) {
            (_, None) => self.unknown_node(node),
            (Attribute::Priority(priority), Some(Op::Kernel(kernel))) => {
                kernel.attributes.get_or_insert_default().priority = Some(priority);
            }
            (Attribute::Priority(_), Some(_)) => self.fail(node, "only kernel nodes have a priority"),
            (Attribute::Disabled, Some(_)) => match self.draft.nodes[node].kind {
                NodeKind::Kernel | NodeKind::Memcpy | NodeKind::Memset => self.draft.nodes[node].disabled = true,
                _ => self.fail(node, "only kernel, memcpy and memset nodes can be disabled"),
            },
        }
    }
}
