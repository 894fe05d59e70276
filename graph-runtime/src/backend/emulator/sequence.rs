//! The order in which the emulator runs nodes.

use crate::backend::random::Random;
use crate::in_flight::lock::Lock;
use crate::ownership::blueprint::Blueprint;
use graph_plan::Nest;
use std::collections::HashMap;

/// The order of a graph's nodes, body by body.
pub(super) struct Sequence {
    bodies: Vec<Body>,
    random: Option<Lock<Random>>,
    /// The order that the graph demands; given if unordered nodes are compared.
    order: Option<Nest>,
}

/// The nodes of one body.
struct Body {
    /// The nodes, in an order that the graph allows.
    nodes: Vec<usize>,
    /// The direct successors of each of `nodes`, as positions in `nodes`. Empty unless orders are drawn at random.
    after: Vec<Vec<u32>>,
    /// The number of direct predecessors of each of `nodes`. Empty unless orders are drawn at random.
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
    /// The order of a graph. With a `seed`, each run draws another one. [`Sequence::unordered`] needs `compare`.
    pub(super) fn new(blueprint: &Blueprint<'_>, seed: Option<u64>, compare: bool) -> Self {
        let bodies = 0..blueprint.order.bodies();
        Self {
            bodies: bodies.map(|body| Body::new(blueprint, body, seed.is_some())).collect(),
            random: seed.map(|seed| Lock::new(Random::new(seed, 0))),
            order: compare.then(|| blueprint.order.clone()),
        }
    }

    /// The nodes of a body, in the order for its next run.
    pub(super) fn next(&self, body: usize) -> Vec<usize> {
        let body = &self.bodies[body];
        match &self.random {
            Some(random) => body.draw(&mut random.lock()),
            None => body.nodes.clone(),
        }
    }

    /// Whether the graph leaves the order of two nodes open.
    pub(super) fn unordered(&self, first: usize, second: usize) -> bool {
        self.order.as_ref().is_some_and(|order| !order.ordered(first, second))
    }
}
