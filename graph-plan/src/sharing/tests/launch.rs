//! One simulated launch of a graph: the nodes that ran, in order.

use super::random::Random;
use crate::{Access, Bound, Draft, Mode, NodeKind, Region};
use std::collections::HashMap;

/// Bytes of every buffer.
const BYTES: usize = 2;

/// A node that ran, or read its condition: for each of its accesses, the bytes it wrote.
pub(super) struct Step {
    node: usize,
    written: Vec<[bool; BYTES]>,
}

/// The runs of nodes, and the runs that each waits for.
struct Instances<'a> {
    draft: &'a Draft,
    random: &'a mut Random,
    /// The node and the instances before it. The end of a node with bodies has no node.
    all: Vec<(Option<usize>, Vec<usize>)>,
    /// For each node, in the current iteration or those just ended: the first instance to start and the last to end.
    ends: HashMap<usize, (usize, usize)>,
}

/// Runs a graph, in a random order that it allows, with random conditions and counts.
pub(super) fn launch(draft: &Draft, random: &mut Random) -> Vec<Step> {
    let mut instances = Instances {
        draft,
        random,
        all: Vec::new(),
        ends: HashMap::new(),
    };
    instances.level(0, None, &[]);
    let mut left: Vec<usize> = (0..instances.all.len()).collect();
    let mut done = vec![false; left.len()];
    let mut steps = Vec::new();
    while !left.is_empty() {
        let is_ready = |&place: &usize| instances.all[left[place]].1.iter().all(|&before| done[before]);
        let ready: Vec<usize> = (0..left.len()).filter(is_ready).collect();
        let instance = left.swap_remove(ready[instances.random.below(ready.len())]);
        done[instance] = true;
        if let Some(node) = instances.all[instance].0 {
            let accesses = draft.accesses.iter().filter(|access| access.node == node);
            let written = accesses.map(|access| written(access, instances.random)).collect();
            steps.push(Step { node, written });
        }
    }
    steps
}

/// The bytes that an access writes: all of its part, or any of them.
fn written(access: &Access, random: &mut Random) -> [bool; BYTES] {
    let part = part(&access.region);
    std::array::from_fn(|byte| {
        part.contains(&byte)
            && match access.mode {
                Mode::Read => false,
                Mode::Write => true,
                Mode::ReadWrite | Mode::Atomic | Mode::Mapped => random.chance(50),
            }
    })
}

fn part(region: &Region) -> std::ops::Range<usize> {
    match region {
        Region::Range(Bound::Known(start), Bound::Known(end)) => *start as usize..*end as usize,
        _ => 0..BYTES,
    }
}

impl Instances<'_> {
    fn push(&mut self, node: Option<usize>, before: &[usize]) -> usize {
        self.all.push((node, before.to_vec()));
        self.all.len() - 1
    }

    /// The loops around a node in its body, from the outermost.
    fn loops(&self, node: usize) -> Vec<usize> {
        let innermost = self.draft.nodes[node].in_loop;
        let mut loops: Vec<usize> = std::iter::successors(innermost, |&inner| self.draft.loops[inner].parent).collect();
        loops.reverse();
        loops
    }

    /// The nodes of a body in one loop, or in none, once, after `before`. Returns all instances.
    fn level(&mut self, body: usize, within: Option<usize>, before: &[usize]) -> Vec<usize> {
        let start = self.all.len();
        let draft = self.draft;
        let of_body = |&node: &usize| draft.nodes[node].body == body;
        let nodes: Vec<usize> = (0..draft.nodes.len()).filter(of_body).collect();
        let mut entered: Vec<usize> = Vec::new();
        for &node in &nodes {
            let loops = self.loops(node);
            let depth = match within {
                None => 0,
                Some(within) => match loops.iter().position(|&around| around == within) {
                    Some(place) => place + 1,
                    None => continue,
                },
            };
            match loops.get(depth) {
                None => self.node(node, before),
                Some(&inner) if !entered.contains(&inner) => {
                    entered.push(inner);
                    self.repeat(body, &nodes, inner, before);
                }
                Some(_) => {}
            }
        }
        for edge in &draft.edges {
            if of_body(&edge.to) && self.common(edge.from, edge.to) == within {
                let (from, to) = (self.ends[&edge.from].1, self.ends[&edge.to].0);
                self.all[to].1.push(from);
            }
        }
        (start..self.all.len()).collect()
    }

    /// The iterations of a loop, each after the one before.
    fn repeat(&mut self, body: usize, nodes: &[usize], for_loop: usize, before: &[usize]) {
        let mut last = before.to_vec();
        let mut firsts = HashMap::new();
        for _ in 0..1 + self.random.below(3) {
            last = self.level(body, Some(for_loop), &last);
            for &node in nodes.iter().filter(|&&node| self.loops(node).contains(&for_loop)) {
                firsts.entry(node).or_insert(self.ends[&node].0);
            }
        }
        for (node, first) in firsts {
            self.ends.entry(node).and_modify(|ends| ends.0 = first);
        }
    }

    /// The innermost loop around two nodes of one body.
    fn common(&self, a: usize, b: usize) -> Option<usize> {
        let (a, b) = (self.loops(a), self.loops(b));
        let common = a.iter().zip(&b).take_while(|(a, b)| a == b);
        common.last().map(|(&common, _)| common)
    }

    /// One run of a node, with its bodies.
    fn node(&mut self, node: usize, before: &[usize]) {
        let start = self.push(Some(node), before);
        let of_node = |&body: &usize| self.draft.bodies[body].node == Some(node);
        let bodies: Vec<usize> = (0..self.draft.bodies.len()).filter(of_node).collect();
        let mut end = start;
        match self.draft.nodes[node].kind {
            NodeKind::While => {
                for _ in 0..self.random.below(4) {
                    let all = self.level(bodies[0], None, &[end]);
                    end = self.push(Some(node), &[&all[..], &[end]].concat());
                }
            }
            NodeKind::If | NodeKind::Switch | NodeKind::Graph => {
                let child = self.draft.nodes[node].kind == NodeKind::Graph;
                let chosen = if child { 0 } else { self.random.below(bodies.len() + 1) };
                if let Some(&body) = bodies.get(chosen) {
                    let all = self.level(body, None, &[start]);
                    end = self.push(None, &all);
                }
            }
            _ => {}
        }
        self.ends.insert(node, (start, end));
    }
}

/// The first node that finds another's bytes, where two resources lie in the same memory.
pub(super) fn disturbed(draft: &Draft, launch: &[Step], pair: [usize; 2]) -> Option<usize> {
    // The writer of each byte: in memory of its own, and in the memory of both.
    let mut own = [[None; BYTES]; 2];
    let mut both = [None; BYTES];
    for (number, step) in launch.iter().enumerate() {
        let of_node = draft.accesses.iter().filter(|access| access.node == step.node);
        let touched = of_node.zip(&step.written).filter_map(|(access, written)| {
            let side = pair.iter().position(|&resource| resource == access.resource)?;
            Some((side, access, written))
        });
        let touched: Vec<_> = touched.collect();
        for &(side, access, _) in touched.iter().filter(|(_, access, _)| access.reads()) {
            let wrong = |byte: usize| own[side][byte].is_some() && own[side][byte] != both[byte];
            if part(&access.region).any(wrong) {
                return Some(step.node);
            }
        }
        for &(side, _, written) in &touched {
            for byte in (0..BYTES).filter(|&byte| written[byte]) {
                own[side][byte] = Some(number);
                both[byte] = Some(number);
            }
        }
    }
    None
}
