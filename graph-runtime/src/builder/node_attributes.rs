//! Attributes of single nodes: the priority, whether the node is disabled, and whether it will be updated.

use super::GraphBuilder;
use crate::error::{Error, Site};
use crate::graph::node::NodeId;
use crate::program::{Op, Work};

/// An attribute of a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Attribute {
    Priority(i32),
    Disabled,
    /// A memset whose value will be updated.
    WillUpdate,
}

impl GraphBuilder {
    /// Gives a kernel node a priority. Among kernels that could start, CUDA first starts blocks of the one with the
    /// least number. The device determines the range (-5 to 0 on current GPUs); `build` refuses other numbers. Nodes
    /// have priority 0 by default. The emulator runs nodes one after the other and ignores priorities.
    pub fn priority(&mut self, node: NodeId, priority: i32) {
        self.attributes.push((node, Attribute::Priority(priority)));
    }

    /// Builds a kernel, memcpy or memset node disabled: launches skip it, until its
    /// [handle](crate::NodeHandle::set_enabled) enables it. Order through it remains: nodes after it run after the
    /// nodes before it. For the analysis it is a node that may or may not run: it can race, but it does not initialise
    /// scratch memory and does not end a `while`.
    pub fn disable(&mut self, node: NodeId) {
        self.attributes.push((node, Attribute::Disabled));
    }

    /// Declares that [`Graph::update`](crate::Graph::update) will change the value of this memset node. A value of more
    /// than 4 bytes is then set in a way that fits every value of its size, instead of the fastest way for this one.
    pub fn will_update(&mut self, node: NodeId) {
        self.attributes.push((node, Attribute::WillUpdate));
    }

    /// The node that was added last.
    pub(crate) fn newest_node(&self) -> NodeId {
        NodeId::of(self.id, self.program.ops.len().saturating_sub(1))
    }

    /// Applies the attributes. All nodes have been added.
    pub(super) fn apply_attributes(&mut self) {
        for (node, attribute) in std::mem::take(&mut self.attributes) {
            if node.is_foreign_to(self.id) {
                let site = Site::graph(&self.draft.name);
                let node = node.words().map(Into::into);
                self.findings.fail(Error::ForeignNode { site, node });
                continue;
            }
            self.apply_attribute(node.index(), attribute);
        }
    }

    fn apply_attribute(&mut self, node: usize, attribute: Attribute) {
        let Some(op) = self.program.ops.get_mut(node) else {
            return match attribute {
                Attribute::Priority(_) | Attribute::Disabled => self.unknown_node(node),
                Attribute::WillUpdate => {}
            };
        };
        match attribute {
            Attribute::Priority(priority) => match op {
                Op::Work(Work::Kernel(kernel)) => kernel.attributes.get_or_insert_default().priority = Some(priority),
                Op::Work(_) | Op::Structure(_) | Op::External(_) => {
                    self.fail(node, "only kernel nodes have a priority")
                }
            },
            Attribute::Disabled => match op {
                Op::Work(Work::Kernel(_) | Work::Memcpy(_) | Work::Memset(_)) => self.draft.nodes[node].disabled = true,
                Op::Work(Work::Join) | Op::Structure(_) | Op::External(_) => {
                    self.fail(node, "only kernel, memcpy and memset nodes can be disabled");
                }
            },
            Attribute::WillUpdate => {
                if let Op::Work(Work::Memset(set)) = op {
                    set.will_update = true;
                }
            }
        }
    }
}
