//! The order of nodes: a topological order, all ancestors of every node, and the transitive reduction.

use crate::{Edge, Lists};
use petgraph::algo::toposort;
use petgraph::graph::DiGraph;
use std::mem;

/// The average number of nodes on a chain from which counts along chains are clearly cheaper than bits: rows of 32-bit
/// counts are then an eighth of rows of bits.
const CHAIN_NODES: usize = 512;

/// The order that the edges of an acyclic graph imply.
///
/// Each node has a row that says which nodes are its ancestors. Rows are filled by merging those of the direct
/// predecessors, nearest first; a predecessor that is already in the row when its turn comes is reached by a longer
/// path, which is the transitive reduction for free.
#[derive(Clone, Debug)]
pub struct Order {
    /// Nodes in a topological order.
    sequence: Vec<usize>,
    /// The position of each node in `sequence`.
    position: Vec<u32>,
    /// The length of the longest path that ends at each position, counted in edges.
    level: Vec<u32>,
    /// The ancestors of each position.
    ancestors: Ancestors,
    /// The indices of edges that a longer path or an equal earlier edge implies.
    redundant: Vec<usize>,
}

impl Order {
    /// Orders `nodes` nodes by `edges`; `None` if these form a cycle.
    pub fn new(nodes: usize, edges: &[Edge]) -> Option<Self> {
        Self::with(nodes, edges, |chains| CHAIN_NODES * chains <= nodes)
    }

    /// Orders `nodes` nodes; `few` decides from the number of chains whether to count along them.
    fn with(nodes: usize, edges: &[Edge], few: impl FnOnce(usize) -> bool) -> Option<Self> {
        let sequence = sequence(nodes, edges)?;
        let mut position = vec![0; nodes];
        for (&node, index) in sequence.iter().zip(0..) {
            position[node] = index;
        }
        let incoming = Lists::new(nodes, || {
            let indices = edges.iter().zip(0..);
            indices.map(|(edge, index)| (edge.to, (position[edge.from], index)))
        });
        let (chains, links) = chains(&sequence, &incoming);
        let ancestors = if few(chains) {
            let counts = vec![0; chains * nodes];
            Ancestors::Chains { chains, links, counts }
        } else {
            Ancestors::Bits(vec![0; row_start(nodes)])
        };
        let mut order = Self {
            sequence,
            position,
            level: vec![0; nodes],
            ancestors,
            redundant: Vec::new(),
        };
        order.fill(&incoming);
        Some(order)
    }

    /// Fills rows, levels and redundant edges, one node after the other in topological order.
    fn fill(&mut self, incoming: &Lists<Incoming>) {
        let Self {
            sequence,
            position: _,
            level,
            ancestors,
            redundant,
        } = self;
        let mut predecessors: Vec<Incoming> = Vec::new();
        for (place, &node) in sequence.iter().enumerate() {
            let incoming = incoming.of(node);
            if let &[(from, _)] = incoming {
                level[place] = level[from as usize] + 1;
                ancestors.begin(place, from as usize);
                continue;
            }
            let farthest = incoming.iter().map(|&(from, _)| level[from as usize] + 1).max();
            level[place] = farthest.unwrap_or(0);
            predecessors.clear();
            predecessors.extend_from_slice(incoming);
            // Nearest first. Of equal edges, the first written stays.
            predecessors.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            for &(from, edge) in &predecessors {
                if !ancestors.join(place, from as usize) {
                    redundant.push(edge as usize);
                }
            }
        }
        redundant.sort_unstable();
    }

    /// Whether a path leads from `first` to `second`.
    pub fn before(&self, first: usize, second: usize) -> bool {
        let (from, place) = (self.position[first] as usize, self.position[second] as usize);
        from < place && self.ancestors.contain(place, from)
    }

    /// Whether a path leads from one to the other, or they are the same.
    pub fn ordered(&self, first: usize, second: usize) -> bool {
        first == second || self.before(first, second) || self.before(second, first)
    }

    /// The nodes in a topological order.
    pub fn sequence(&self) -> &[usize] {
        &self.sequence
    }

    /// The length in edges of the longest path that ends at `node`.
    pub fn level(&self, node: usize) -> usize {
        self.level[self.position[node] as usize] as usize
    }

    /// The indices, ascending, of edges that others imply. Without them the edges are the transitive reduction.
    pub fn redundant(&self) -> &[usize] {
        &self.redundant
    }
}

/// An edge to a node: the position that it comes from, and its index.
type Incoming = (u32, u32);

/// The ancestors of every position; [`Order::new`] takes the smaller form.
#[derive(Clone, Debug)]
enum Ancestors {
    /// One bit for each earlier position: the row of position `p` has only bits below `p`, so the rows form a triangle
    /// of `nodes^2 / 2` bits (6 MB for 10,000 nodes).
    Bits(Vec<u64>),
    /// Nodes lie on few chains, along which all are ordered: how many of each chain's nodes are ancestors.
    Chains {
        /// The number of chains.
        chains: usize,
        /// The chain of each position, and its place there.
        links: Vec<(u32, u32)>,
        /// `chains` counts for each position.
        counts: Vec<u32>,
    },
}

impl Ancestors {
    /// Adds position `from` and its row to the row of `place`, which is empty.
    fn begin(&mut self, place: usize, from: usize) {
        match self {
            Ancestors::Bits(bits) => {
                let (earlier, row) = bits.split_at_mut(row_start(place));
                let source = &earlier[row_start(from)..row_start(from + 1)];
                row[..source.len()].copy_from_slice(source);
                row[from / 64] |= 1 << (from % 64);
            }
            Ancestors::Chains { chains, links, counts } => {
                let (earlier, row) = counts.split_at_mut(*chains * place);
                row[..*chains].copy_from_slice(&earlier[*chains * from..][..*chains]);
                let (chain, link) = links[from];
                row[chain as usize] = link + 1;
            }
        }
    }

    /// Adds position `from` and its row to the row of `place`; `false` if it was there already.
    fn join(&mut self, place: usize, from: usize) -> bool {
        if self.contain(place, from) {
            return false;
        }
        match self {
            Ancestors::Bits(bits) => {
                let (earlier, row) = bits.split_at_mut(row_start(place));
                for (target, source) in row.iter_mut().zip(&earlier[row_start(from)..row_start(from + 1)]) {
                    *target |= source;
                }
                row[from / 64] |= 1 << (from % 64);
            }
            Ancestors::Chains { chains, links, counts } => {
                let (earlier, row) = counts.split_at_mut(*chains * place);
                for (target, source) in row.iter_mut().zip(&earlier[*chains * from..][..*chains]) {
                    *target = (*target).max(*source);
                }
                let (chain, link) = links[from];
                row[chain as usize] = link + 1;
            }
        }
        true
    }

    /// Whether position `from` is in the row of the later position `place`.
    fn contain(&self, place: usize, from: usize) -> bool {
        match self {
            Ancestors::Bits(bits) => bits[row_start(place) + from / 64] & (1 << (from % 64)) != 0,
            Ancestors::Chains { chains, links, counts } => {
                let (chain, link) = links[from];
                counts[chains * place + chain as usize] > link
            }
        }
    }
}

/// Splits the positions into chains: each node continues the chain of a direct predecessor that has no successor on it
/// yet, or begins a chain. Returns the number of chains, and the chain of each position with its place there.
fn chains(sequence: &[usize], incoming: &Lists<Incoming>) -> (usize, Vec<(u32, u32)>) {
    let mut chains = 0;
    let mut links: Vec<(u32, u32)> = Vec::with_capacity(sequence.len());
    let mut continued = vec![false; sequence.len()];
    for &node in sequence {
        let mut predecessors = incoming.of(node).iter().map(|&(from, _)| from as usize);
        let free = predecessors.find(|&from| !mem::replace(&mut continued[from], true));
        links.push(match free {
            Some(from) => (links[from].0, links[from].1 + 1),
            None => {
                chains += 1;
                (chains as u32 - 1, 0)
            }
        });
    }
    (chains, links)
}

/// The start of the row of position `place`: all rows before it have one bit for each earlier position, rounded up to
/// words.
fn row_start(place: usize) -> usize {
    // Sum of ceil(p / 64) for p in 0..place: full groups of 64 positions use 1, 2, 3, ... words each.
    let (full, rest) = (place.saturating_sub(1) / 64, place.saturating_sub(1) % 64);
    64 * full * (full + 1) / 2 + rest * (full + 1)
}

/// A topological order; `None` if there is a cycle.
fn sequence(nodes: usize, edges: &[Edge]) -> Option<Vec<usize>> {
    if edges.iter().all(|edge| edge.from < edge.to) {
        return Some((0..nodes).collect()); // the usual case: declared in order
    }
    let order = toposort(&petgraph(nodes, edges), None).ok()?;
    Some(order.into_iter().map(|node| node.index()).collect())
}

/// The edges as a petgraph graph whose node indices are ours.
pub(crate) fn petgraph(nodes: usize, edges: &[Edge]) -> DiGraph<(), ()> {
    let mut graph = DiGraph::with_capacity(nodes, edges.len());
    for _ in 0..nodes {
        graph.add_node(());
    }
    for edge in edges {
        graph.add_edge((edge.from as u32).into(), (edge.to as u32).into(), ());
    }
    graph
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_start_where_the_rows_before_them_end() {
        let mut expected = 0;
        for place in 0..1000_usize {
            assert_eq!(row_start(place), expected, "row of position {place}");
            expected += place.div_ceil(64);
        }
    }

    /// Random edges, in any direction, so that some graphs are cyclic.
    pub(crate) fn graphs() -> impl Strategy<Value = (usize, Vec<Edge>)> {
        (1_usize..90, any::<bool>()).prop_flat_map(|(nodes, forward)| {
            let edge = (0..nodes, 0..nodes).prop_filter_map("no loop", move |(from, to)| match from.cmp(&to) {
                std::cmp::Ordering::Equal => None,
                std::cmp::Ordering::Greater if forward => Some(Edge { from: to, to: from }),
                _ => Some(Edge { from, to }),
            });
            (
                Just(nodes),
                prop::collection::vec(edge, if nodes == 1 { 0..1 } else { 0..2 * nodes }),
            )
                .prop_shuffle_nodes()
        })
    }

    trait Shuffle: Strategy<Value = (usize, Vec<Edge>)> + Sized {
        /// Renames the nodes at random, so that declaration order is not a topological order.
        fn prop_shuffle_nodes(self) -> impl Strategy<Value = (usize, Vec<Edge>)> {
            self.prop_flat_map(|(nodes, edges)| {
                Just((0..nodes).collect::<Vec<_>>())
                    .prop_shuffle()
                    .prop_map(move |names| {
                        let rename = |edge: &Edge| Edge {
                            from: names[edge.from],
                            to: names[edge.to],
                        };
                        (nodes, edges.iter().map(rename).collect())
                    })
            })
        }
    }
    impl<S: Strategy<Value = (usize, Vec<Edge>)>> Shuffle for S {}

    /// Reachability by Warshall's algorithm.
    pub(crate) fn reachable(nodes: usize, edges: &[Edge]) -> Vec<Vec<bool>> {
        let mut reach = vec![vec![false; nodes]; nodes];
        for edge in edges {
            reach[edge.from][edge.to] = true;
        }
        for middle in 0..nodes {
            let beyond = reach[middle].clone();
            for row in reach.iter_mut().filter(|row| row[middle]) {
                row.iter_mut()
                    .zip(&beyond)
                    .for_each(|(reached, further)| *reached |= further);
            }
        }
        reach
    }

    proptest! {
        #[test]
        fn order_equals_the_oracle((nodes, edges) in graphs(), chains: bool) {
            let reach = reachable(nodes, &edges);
            let cyclic = (0..nodes).any(|node| reach[node][node]);
            let Some(order) = Order::with(nodes, &edges, |_| chains) else {
                prop_assert!(cyclic);
                return Ok(());
            };
            prop_assert!(!cyclic);
            for (from, row) in reach.iter().enumerate() {
                for (to, &reached) in row.iter().enumerate() {
                    prop_assert_eq!(order.before(from, to), reached, "{} -> {}", from, to);
                }
            }
            let position = |node| order.sequence().iter().position(|&other| other == node).unwrap();
            prop_assert!(edges.iter().all(|edge| position(edge.from) < position(edge.to)));
            prop_assert!(edges.iter().all(|edge| order.level(edge.from) < order.level(edge.to)));
        }

        #[test]
        fn reduction_equals_the_oracle((nodes, edges) in graphs(), chains: bool) {
            let Some(order) = Order::with(nodes, &edges, |_| chains) else { return Ok(()) };
            let reach = reachable(nodes, &edges);
            for (index, edge) in edges.iter().enumerate() {
                let longer = (0..nodes).any(|middle| reach[edge.from][middle] && reach[middle][edge.to]);
                let repeated = edges[..index].contains(edge);
                prop_assert_eq!(order.redundant().contains(&index), longer || repeated, "{:?}", edge);
            }
        }
    }
}
