//! The order in which the emulator runs nodes, and which of them it leaves open.

use crate::backend::blueprint::Blueprint;
use graph_plan::Nest;
use std::collections::HashMap;

/// The order of a graph's nodes, body by body.
pub(super) struct Sequence {
    bodies: Vec<Body>,
    random: Option<Random>,
    /// Only where unordered nodes are compared.
    order: Option<Nest>,
}

/// The nodes of one body.
struct Body {
    /// In an order that the graph allows.
    nodes: Vec<usize>,
    /// For each of `nodes`, those right after it and how many are right before it, by their place in `nodes`; only
    /// where orders are drawn.
    after: Vec<Vec<u32>>,
    waits: Vec<u32>,
}

impl Body {
    fn new(blueprint: &Blueprint<'_>, body: usize, draw: bool) -> Self {
        let nodes: Vec<usize> = blueprint.order.sequence(body).collect();
        let (mut after, mut waits) = (Vec::new(), Vec::new());
        if draw {
            let place: HashMap<usize, u32> = nodes.iter().copied().zip(0..).collect();
            after.resize(nodes.len(), Vec::new());
            waits.resize(nodes.len(), 0);
            for (index, &node) in nodes.iter().enumerate() {
                for &before in blueprint.after.of(node) {
                    after[place[&(before as usize)] as usize].push(index as u32);
                    waits[index] += 1;
                }
            }
        }
        Self { nodes, after, waits }
    }

    fn draw(&self, random: &mut Random) -> Vec<usize> {
        let mut waits = self.waits.clone();
        let mut ready: Vec<usize> = (0..waits.len()).filter(|&node| waits[node] == 0).collect();
        let mut drawn = Vec::with_capacity(waits.len());
        while !ready.is_empty() {
            let place = ready.swap_remove(random.below(ready.len()));
            drawn.push(self.nodes[place]);
            for &next in &self.after[place] {
                let next = next as usize;
                waits[next] -= 1;
                if waits[next] == 0 {
                    ready.push(next);
                }
            }
        }
        drawn
    }
}

impl Sequence {
    /// `seed` draws another order each time; `compare` keeps what [`Sequence::unordered`] needs.
    pub(super) fn new(blueprint: &Blueprint<'_>, seed: Option<u64>, compare: bool) -> Self {
        let bodies = 0..blueprint.order.bodies();
        Self {
            bodies: bodies.map(|body| Body::new(blueprint, body, seed.is_some())).collect(),
            random: seed.map(Random::new),
            order: compare.then(|| blueprint.order.clone()),
        }
    }

    /// The nodes of a body, in the order for its next run.
    pub(super) fn next(&mut self, body: usize) -> Vec<usize> {
        let body = &self.bodies[body];
        match &mut self.random {
            Some(random) => body.draw(random),
            None => body.nodes.clone(),
        }
    }

    /// Whether two nodes may run in either order, or at once.
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
