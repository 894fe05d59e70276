//! The edges between iterations.

use super::EndedLoop;
use crate::builder::GraphBuilder;
use crate::program::Op;
use graph_plan::{Draft, Edge, Lists, NodeKind};
use std::ops::Range;

/// The maximum number of edges from one iteration to the next. If there were more, a join replaces them.
const MAX_DIRECT_EDGES: usize = 256;

impl GraphBuilder {
    /// Adds the edges from each iteration to the next. All other edges have been added.
    pub(in crate::builder) fn order_iterations(&mut self) {
        let Some(loops) = &mut self.position.loops else { return };
        let ended = std::mem::take(&mut loops.ended);
        if ended.iter().all(|ended| ended.starts.len() < 2) {
            return;
        }
        let mut ends = Ends::new(&self.draft);
        for ended in ended {
            let mut before = Vec::new();
            for iteration in ended.iterations() {
                let (first, last) = ends.of(&self.draft, ended.body, iteration);
                if first.is_empty() {
                    continue; // no nodes, or a cycle
                }
                if !before.is_empty() {
                    self.order(ended.body, &before, &first, &ends);
                    first.iter().for_each(|&node| ends.follows[node] = true);
                    before.iter().for_each(|&node: &usize| ends.leads[node] = true);
                }
                before = last;
            }
        }
    }

    /// Makes all of `after` run after all of `before`.
    fn order(&mut self, body: usize, before: &[usize], after: &[usize], ends: &Ends) {
        if before.len() * after.len() > MAX_DIRECT_EDGES {
            let name = format!("before {}", self.draft.nodes[after[0]].name);
            let join = self.draft.node_in(body, name, NodeKind::Join);
            self.push(Op::Join);
            let before = before.iter().map(|&from| Edge { from, to: join });
            let after = after.iter().map(|&to| Edge { from: join, to });
            self.draft.edges.extend(before.chain(after));
            return;
        }
        for &from in before {
            for &to in after {
                if !ends.before.of(to).contains(&from) {
                    self.draft.edge(from, to);
                }
            }
        }
    }
}

impl EndedLoop {
    /// The nodes of each iteration, including those of loops and bodies in it.
    fn iterations(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let ends = self.starts.iter().skip(1).copied().chain([self.end]);
        self.starts.iter().copied().zip(ends).map(|(start, end)| start..end)
    }
}

/// The edges that decide which nodes of an iteration are its first and last.
struct Ends {
    /// The nodes that each node was declared to run after.
    before: Lists<usize>,
    /// The nodes that were declared to run after each node.
    after: Lists<usize>,
    /// Whether each node has been put after an earlier iteration of some loop.
    follows: Vec<bool>,
    /// Whether each node has been put before a later iteration of some loop.
    leads: Vec<bool>,
}

impl Ends {
    fn new(draft: &Draft) -> Self {
        let nodes = draft.nodes.len();
        let edges = || draft.edges.iter().filter(|edge| edge.from.max(edge.to) < nodes);
        Self {
            before: Lists::new(nodes, || edges().map(|edge| (edge.to, edge.from))),
            after: Lists::new(nodes, || edges().map(|edge| (edge.from, edge.to))),
            follows: vec![false; nodes],
            leads: vec![false; nodes],
        }
    }

    /// The first nodes of an iteration, which run after no other of it, and the last nodes, which run before no other.
    fn of(&self, draft: &Draft, body: usize, iteration: Range<usize>) -> (Vec<usize>, Vec<usize>) {
        let alone = |neighbours: &[usize]| !neighbours.iter().any(|neighbour| iteration.contains(neighbour));
        let own = || iteration.clone().filter(|&node| draft.nodes[node].body == body);
        let first = own().filter(|&node| !self.follows[node] && alone(self.before.of(node)));
        let last = own().filter(|&node| !self.leads[node] && alone(self.after.of(node)));
        (first.collect(), last.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;

    #[test]
    fn loops_in_loops_are_one_chain() {
        let mut builder = GraphBuilder::new(&Device::emulator(), "Chain");
        builder.repeat(0..3, |builder, _| {
            builder.repeat(0..10, |builder, _| {
                builder.join("node");
            });
        });
        builder.order_iterations();
        let mut edges: Vec<(usize, usize)> = builder.draft.edges.iter().map(|edge| (edge.from, edge.to)).collect();
        edges.sort_unstable();
        assert_eq!(edges, (0..29).map(|node| (node, node + 1)).collect::<Vec<_>>());
    }
}
