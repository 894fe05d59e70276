//! The order in which the emulator runs nodes, and which of them it leaves open.

use super::Blueprint;
use graph_plan::Order;

/// The order of a graph's nodes.
pub(super) struct Sequence {
    nodes: Vec<usize>,
    /// The nodes right after each node, and how many are right before it; only where orders are drawn.
    after: Vec<Vec<u32>>,
    waits: Vec<u32>,
    random: Option<Random>,
    /// Only where unordered nodes are compared.
    order: Option<Order>,
}

impl Sequence {
    /// `seed` draws another order at each launch; `compare` keeps what [`Sequence::unordered`] needs.
    pub(super) fn new(blueprint: &Blueprint<'_>, seed: Option<u64>, compare: bool) -> Self {
        let nodes = blueprint.order.sequence().to_vec();
        let mut after = Vec::new();
        let mut waits = Vec::new();
        if seed.is_some() {
            after.resize(nodes.len(), Vec::new());
            waits.resize(nodes.len(), 0);
            for (node, waits) in waits.iter_mut().enumerate() {
                for &before in blueprint.after.of(node) {
                    after[before as usize].push(node as u32);
                    *waits += 1;
                }
            }
        }
        Self {
            nodes,
            after,
            waits,
            random: seed.map(Random::new),
            order: compare.then(|| blueprint.order.clone()),
        }
    }

    /// The nodes, in the order for the next launch.
    pub(super) fn next(&mut self) -> Vec<usize> {
        let Some(random) = &mut self.random else {
            return self.nodes.clone();
        };
        let mut waits = self.waits.clone();
        let mut ready: Vec<usize> = (0..waits.len()).filter(|&node| waits[node] == 0).collect();
        let mut drawn = Vec::with_capacity(waits.len());
        while !ready.is_empty() {
            let node = ready.swap_remove(random.below(ready.len()));
            drawn.push(node);
            for &next in &self.after[node] {
                let next = next as usize;
                waits[next] -= 1;
                if waits[next] == 0 {
                    ready.push(next);
                }
            }
        }
        drawn
    }

    /// May two nodes run in either order, or at once?
    pub(super) fn unordered(&self, first: usize, second: usize) -> bool {
        self.order.as_ref().is_some_and(|order| !order.ordered(first, second))
    }
}

/// Numbers that look random: `splitmix64`.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        ((u128::from(mixed) * end as u128) >> 64) as usize
    }
}
