//! The edges of declarations, and those from each iteration of a `for` to the next.

use super::{EdgeKind, LoopKind};
use crate::builder::GraphBuilder;
use crate::program::declared_nodes::DeclaredNodes;
use crate::program::{Op, Work};
use graph_plan::{Draft, Lists, NodeKind};
use std::ops::Range;

/// The maximum number of edges that make each of some nodes run after each of some others. If there would be more, a
/// join is put between.
const MAX_DIRECT_EDGES: usize = 256;

impl GraphBuilder {
    /// Adds edges between declarations: `[from, to]`, or `[from, to, common]` where `common` loops are around both.
    /// Programmatic edges of joins, which stand in for kernels or are put between many, become plain ones.
    pub(crate) fn add_edges<const K: usize>(&mut self, edges: &[[usize; K]], kind: EdgeKind) {
        let edges = edges.iter().filter_map(|edge| {
            let (&[from, to], common) = edge.split_first_chunk()?;
            Some((from, to, common.first().copied().unwrap_or(0)))
        });
        self.with_declared(|builder, nodes| {
            for (from, to, common) in edges {
                match nodes {
                    // Without loops and children, each declaration is one node.
                    None => builder.order_all(&[from], &[to], kind),
                    Some(nodes) => nodes.edges(from, to, common, |before, after| {
                        builder.order_all(before, after, kind);
                    }),
                }
            }
        });
    }

    /// Adds edges between iterations: see [`DeclaredNodes::shifted_edges`]. Programmatic ones are as in
    /// [`add_edges`](Self::add_edges).
    pub(crate) fn add_shifted_edges<const K: usize>(&mut self, edges: &[(usize, usize, [isize; K])], kind: EdgeKind) {
        self.with_declared(|builder, nodes| {
            let edges = nodes
                .into_iter()
                .flat_map(|nodes| edges.iter().map(move |edge| (nodes, edge)));
            for (nodes, &(from, to, steps)) in edges {
                nodes.shifted_edges(from, to, &steps, |before, after| {
                    builder.order_all(before, after, kind);
                });
            }
        });
    }

    /// Runs `f` with the nodes of each declaration, if the graph has loops or children.
    fn with_declared(&mut self, f: impl FnOnce(&mut Self, Option<&DeclaredNodes>)) {
        let loops = self.position.loops.take();
        let declarations = loops.as_ref().and_then(|loops| loops.declarations.as_ref());
        f(self, declarations.map(|declarations| &declarations.nodes));
        self.position.loops = loops;
    }

    /// Makes all of `after` run after all of `before`.
    fn order_all(&mut self, before: &[usize], after: &[usize], kind: EdgeKind) {
        if before.len() * after.len() > MAX_DIRECT_EDGES && before.len().min(after.len()) > 1 {
            let [from, to] = [before[0], after[0]].map(|node| &self.draft.nodes[node]);
            // No statement can have this name, since it has spaces, and no other edge joins these two.
            let (name, body) = (format!("{} before {}", from.name, to.name), to.body);
            self.join_between(body, name, before, after, kind);
            return;
        }
        let is_join = |ops: &[Op], node: usize| ops.get(node).is_some_and(Op::is_join);
        for &from in before {
            for &to in after {
                let ops = &self.program.ops;
                match kind {
                    EdgeKind::Programmatic if !is_join(ops, from) && !is_join(ops, to) => {
                        self.draft.programmatic_edge(from, to)
                    }
                    EdgeKind::Plain | EdgeKind::Programmatic => self.draft.edge(from, to),
                    EdgeKind::Inferred => self.draft.inferred_edge(from, to),
                };
            }
        }
    }

    /// Adds a join that runs after all of `before` and before all of `after`.
    fn join_between(&mut self, body: usize, name: String, before: &[usize], after: &[usize], kind: EdgeKind) {
        let join = self.draft.node_in(body, name, NodeKind::Join);
        self.push(Work::Join);
        let before = before.iter().map(|&from| (from, join));
        let after = after.iter().map(|&to| (join, to));
        for (from, to) in before.chain(after) {
            match kind {
                EdgeKind::Inferred => self.draft.inferred_edge(from, to),
                EdgeKind::Plain | EdgeKind::Programmatic => self.draft.edge(from, to),
            };
        }
    }

    /// Adds the edges from each iteration to the next. All other edges have been added.
    pub(in crate::builder) fn order_iterations(&mut self) {
        let Some(loops) = &mut self.position.loops else { return };
        let mut ended = std::mem::take(&mut loops.ended);
        ended.retain(|ended| ended.kind == LoopKind::For);
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

    /// Makes an iteration that begins with the nodes `after` run after one that ends with the nodes `before`.
    fn order(&mut self, body: usize, before: &[usize], after: &[usize], ends: &Ends) {
        if before.len() * after.len() > MAX_DIRECT_EDGES {
            let name = format!("before {}", self.draft.nodes[after[0]].name);
            self.join_between(body, name, before, after, EdgeKind::Plain);
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

#[cfg(all(test, feature = "emulator"))]
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
