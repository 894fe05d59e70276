//! The checked graph that the backends make an executable graph from.

use crate::devices::bodies::Bodies;
use crate::devices::options::DebugOptions;
use crate::devices::uploads::Uploads;
use crate::ownership::shared_resources::SharedResources;
use crate::program::array::ArrayForm;
use crate::program::communicator::seat::Seats;
use crate::program::scratch::Arena;
use crate::program::{ModuleMemory, Program};
use crate::shape::part::Layout;
use graph_plan::{Draft, Edge, Lists, Nest};
use std::collections::HashSet;
use std::sync::Arc;

/// The graph from which an executable one is made. It has passed every check that needs no device.
pub(crate) struct Blueprint<'a> {
    pub(crate) draft: &'a Draft,
    pub(crate) program: &'a Program,
    pub(crate) order: &'a Nest,
    /// The direct predecessors of each node, after transitive reduction.
    pub(crate) after: &'a Lists<u32>,
    /// The edges that are programmatic, a subset of `after`.
    pub(crate) programmatic: &'a Programmatic,
    /// The size and alignment of each resource in bytes; `None` for variables of the kernels' modules.
    pub(crate) layouts: &'a [Option<Layout>],
    /// If given, every node on CUDA is delayed by a random time; this is the seed.
    pub(crate) delays: Option<u64>,
    /// If given, the graph runs node by node on CUDA.
    pub(crate) debug: Option<DebugOptions>,
    /// The newest CUDA version of a driver to build for, as `cuDriverGetVersion` counts.
    pub(crate) driver: u32,
    /// The memory that the graph shares with others.
    pub(crate) shared: &'a SharedResources,
    /// The offsets of its scratch memory.
    pub(crate) arena: &'a Arena,
    /// The resources that are variables of the kernels' modules.
    pub(crate) variables: &'a [ModuleMemory],
    /// The form of each resource that is an array; empty if there are none.
    pub(crate) arrays: &'a [Option<ArrayForm>],
    /// The part of the graph in the meetings of its ranks.
    pub(crate) seats: &'a Arc<Seats>,
    /// Whether the user has changed the CUDA graph.
    pub(crate) changed: bool,
    /// The form that bodies are asked to have on CUDA.
    pub(crate) bodies: Bodies,
    /// The form that copies from the host are asked to have on CUDA.
    pub(crate) uploads: Uploads,
}

/// The programmatic edges of a graph.
#[derive(Default)]
pub(crate) struct Programmatic(HashSet<Edge>);

impl Programmatic {
    /// The programmatic edges of a graph. At collectives that NCCL carries, whose kernels know nothing of such edges,
    /// they become plain ones.
    pub(crate) fn of(draft: &Draft, program: &Program) -> Self {
        let is_by_nccl = |node: usize| {
            let call = program.ops[node].collective();
            call.is_some_and(|call| call.communicator.is_by_nccl())
        };
        let edges = draft.programmatic.iter().map(|&index| draft.edges[index]);
        Self(
            edges
                .filter(|edge| !is_by_nccl(edge.from) && !is_by_nccl(edge.to))
                .collect(),
        )
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The nodes at both ends of the edges, in no order, some of them several times.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = usize> {
        self.0.iter().flat_map(|edge| [edge.from, edge.to])
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
