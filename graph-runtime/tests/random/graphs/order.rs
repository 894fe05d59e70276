//! The pairs of nodes that must be ordered, and edges that order them.

use super::program::{Action, Body, Edge, MEMORIES, Node};
use crate::common::random::Random;

/// The bytes of each memory that a node reads, writes and atomically updates, with all that is in its bodies.
#[derive(Clone)]
struct Touched {
    reads: [u128; MEMORIES.len()],
    writes: [u128; MEMORIES.len()],
    updates: [u128; MEMORIES.len()],
}

impl Touched {
    fn by(node: &Node) -> Self {
        let mut touched = Self {
            reads: [0; MEMORIES.len()],
            writes: [0; MEMORIES.len()],
            updates: [0; MEMORIES.len()],
        };
        touched.add(node);
        touched
    }

    fn add(&mut self, node: &Node) {
        if let Action::Update { to, .. } = &node.action {
            self.updates[to.memory] |= to.mask();
            return;
        }
        let (reads, write) = node.action.areas();
        reads.iter().for_each(|area| self.reads[area.memory] |= area.mask());
        let writes = write.into_iter().chain(node.action.hidden());
        writes.for_each(|area| self.writes[area.memory] |= area.mask());
        for body in node.action.bodies() {
            body.nodes.iter().for_each(|node| self.add(node));
        }
    }

    /// Whether it matters which of the two runs first.
    fn conflicts(&self, other: &Self) -> bool {
        (0..MEMORIES.len()).any(|memory| {
            let plain = |touched: &Self| touched.reads[memory] | touched.writes[memory];
            self.writes[memory] & plain(other) != 0
                || self.reads[memory] & other.writes[memory] != 0
                || self.updates[memory] & plain(other) != 0
                || plain(self) & other.updates[memory] != 0
        })
    }
}

/// Pairs of nodes of a body, the earlier first, whose order matters.
pub(crate) fn conflicts(body: &Body) -> Vec<(usize, usize)> {
    let touched: Vec<Touched> = body.nodes.iter().map(Touched::by).collect();
    let pairs = (0..touched.len()).flat_map(|to| (0..to).rev().map(move |from| (from, to)));
    pairs
        .filter(|&(from, to)| touched[from].conflicts(&touched[to]))
        .collect()
}

/// Whether each iteration of a `for` ends before that of the other begins.
fn in_turn(from: &Node, to: &Node) -> bool {
    let mut places = from.place.iter().zip(&to.place);
    let different = places.find(|(from, to)| from != to);
    different.is_some_and(|(from, to)| from.of == to.of && !from.parallel)
}

/// Whether the two are in different iterations of one `each`.
pub(crate) fn are_in_iterations(from: &Node, to: &Node) -> bool {
    let mut places = from.place.iter().zip(&to.place);
    let different = places.find(|(from, to)| from != to);
    different.is_some_and(|(from, to)| from.of == to.of && from.parallel)
}

/// The nodes before each, as bits, by `edges` and `for`s.
pub(crate) fn before(body: &Body, edges: &[Edge]) -> Vec<u128> {
    let mut before = vec![0; body.nodes.len()];
    let mut direct = vec![0_u128; body.nodes.len()];
    edges.iter().for_each(|edge| direct[edge.to] |= 1 << edge.from);
    for to in 0..body.nodes.len() {
        for from in 0..to {
            if direct[to] >> from & 1 == 1 || in_turn(&body.nodes[from], &body.nodes[to]) {
                before[to] |= before[from] | 1 << from;
            }
        }
    }
    before
}

/// Whether all pairs are ordered.
pub(crate) fn all_ordered(body: &Body, edges: &[Edge], conflicts: &[(usize, usize)]) -> bool {
    let before = before(body, edges);
    conflicts.iter().all(|&(from, to)| before[to] >> from & 1 == 1)
}

/// Gives a body edges that order all that must be, and some more: from each node to the next, `chained` of a hundred.
pub(crate) fn add_edges(random: &mut Random, body: &mut Body, chained: usize) {
    let idle = |node: &Node| matches!(node.action, Action::Join | Action::Record | Action::Wait);
    for to in 0..body.nodes.len() {
        for from in 0..to {
            let percent = match to - from {
                1 => chained,
                _ if idle(&body.nodes[from]) || idle(&body.nodes[to]) => 25,
                _ => 2,
            };
            if random.chance(percent) {
                push(random, body, from, to);
            }
        }
    }
    for (from, to) in conflicts(body) {
        if before(body, &body.edges)[to] >> from & 1 == 0 {
            push(random, body, from, to);
        }
    }
}

fn push(random: &mut Random, body: &mut Body, from: usize, to: usize) {
    let (earlier, later) = (&body.nodes[from].action, &body.nodes[to].action);
    let may_be = earlier.is_kernel() && later.waits_by_itself();
    body.edges.push(Edge {
        from,
        to,
        programmatic: may_be && random.chance(60),
    });
}
