//! The checked graph that the backends make an executable graph from.

use crate::backend::shared::SharedResources;
use crate::program::Program;
use crate::program::scratch::Arena;
use crate::shape::part::Layout;
use graph_plan::{Draft, Edge, Lists, Nest};
use std::collections::HashSet;

/// All that an executable graph is made from. The graph has passed every check.
pub(crate) struct Blueprint<'a> {
    pub(crate) draft: &'a Draft,
    pub(crate) program: &'a Program,
    pub(crate) order: &'a Nest,
    /// The direct predecessors of each node, after transitive reduction.
    pub(crate) after: &'a Lists<u32>,
    /// The edges that are programmatic.
    pub(crate) programmatic: &'a Programmatic,
    /// Size and alignment of each resource in bytes; `None` for those that the kernels' module owns.
    pub(crate) layouts: &'a [Option<Layout>],
    /// On CUDA: delay every node by a time that this draws.
    pub(crate) delays: Option<u64>,
    /// The newest CUDA version of a driver to build for, as `cuDriverGetVersion` counts.
    pub(crate) driver: u32,
    /// The memory that the graph shared.
    pub(crate) shared: &'a SharedResources,
    /// The offsets of its scratch memory.
    pub(crate) arena: &'a Arena,
}

/// The programmatic edges of a graph.
#[derive(Default)]
pub(crate) struct Programmatic(HashSet<Edge>);

impl Programmatic {
    pub(crate) fn of(draft: &Draft) -> Self {
        Self(draft.programmatic.iter().map(|&index| draft.edges[index]).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the edge between the two is programmatic.
    pub(crate) fn contains(&self, from: u32, to: usize) -> bool {
        !self.0.is_empty()
            && self.0.contains(&Edge {
                from: from as usize,
                to,
            })
    }
}
