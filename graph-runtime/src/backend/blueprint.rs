//! What the backends make an executable graph from.

use crate::backend::shares::Shares;
use crate::program::Program;
use crate::program::scratch::Arena;
use crate::shape::part::Layout;
use graph_plan::{Draft, Edge, Nest};
use std::collections::HashSet;

/// All that an executable graph is made from. It has passed every check.
pub(crate) struct Blueprint<'a> {
    pub(crate) draft: &'a Draft,
    pub(crate) program: &'a Program,
    pub(crate) order: &'a Nest,
    /// The direct predecessors of each node, after transitive reduction.
    pub(crate) after: &'a After,
    /// Those of them from which the edge is programmatic.
    pub(crate) programmatic: &'a Programmatic,
    /// Size and alignment of each resource in bytes; `None` for those that the kernels' module owns.
    pub(crate) layouts: &'a [Option<Layout>],
    /// On CUDA: delay every node by a time that this draws.
    pub(crate) delays: Option<u64>,
    /// The newest CUDA version of a driver to build for, as `cuDriverGetVersion` counts.
    pub(crate) driver: u32,
    /// What it uses but does not own.
    pub(crate) shares: &'a Shares,
    /// Where its scratch memory lies.
    pub(crate) arena: &'a Arena,
}

/// The direct predecessors of each node, in compressed rows.
pub(crate) struct After {
    starts: Vec<u32>,
    nodes: Vec<u32>,
}

impl After {
    /// `edges` gives the same edges each time it is called.
    pub(crate) fn new<I: Iterator<Item = Edge>>(nodes: usize, edges: &dyn Fn() -> I) -> Self {
        let mut starts = vec![0_u32; nodes + 2];
        edges().for_each(|edge| starts[edge.to + 2] += 1);
        for node in 2..starts.len() {
            starts[node] += starts[node - 1];
        }
        // `starts[to + 1]` is now where the row of `to` begins; filling moves it to where the row ends.
        let mut from = vec![0; starts[nodes + 1] as usize];
        for edge in edges() {
            let next = &mut starts[edge.to + 1];
            from[*next as usize] = edge.from as u32;
            *next += 1;
        }
        Self { starts, nodes: from }
    }

    pub(crate) fn of(&self, node: usize) -> &[u32] {
        &self.nodes[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
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

    /// Is the edge between the two programmatic?
    pub(crate) fn contains(&self, from: u32, to: usize) -> bool {
        !self.0.is_empty()
            && self.0.contains(&Edge {
                from: from as usize,
                to,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predecessors_are_listed_by_node() {
        let edges = [(0, 2), (1, 2), (2, 3), (0, 4)].map(|(from, to)| Edge { from, to });
        let after = After::new(5, &|| edges.into_iter());
        let rows: Vec<&[u32]> = (0..5).map(|node| after.of(node)).collect();
        assert_eq!(rows, [&[][..], &[], &[0, 1], &[2], &[0]]);
        assert_eq!(After::new(0, &|| [].into_iter()).nodes.len(), 0);
    }
}
