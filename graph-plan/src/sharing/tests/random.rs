//! Random graphs with bodies and loops, in which all that touch one piece of memory are ordered.

use crate::{Draft, Memory, Mode, NodeKind, Region, Role};

/// The random numbers of the arena's search, for tests.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, end: usize) -> usize {
        crate::arena::below(&mut self.0, end)
    }

    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// The scratch resources; a `device` resource for conditions comes after them.
pub(super) const BUFFERS: usize = 4;

/// With `while`s and `for`s, or without.
pub(super) fn draft(random: &mut Random, repetitions: bool) -> Draft {
    let mut draft = Draft::new("Random");
    for buffer in 0..BUFFERS {
        draft.resource(format!("s{buffer}"), Memory::Scratch);
    }
    draft.resource("flag", Memory::Device);
    fill(&mut draft, random, 0, 0, repetitions);
    order(&mut draft, random);
    draft
}

/// Adds nodes to a body.
fn fill(draft: &mut Draft, random: &mut Random, body: usize, depth: usize, repetitions: bool) {
    let mut loops = Vec::new();
    for _ in 0..2 + random.below(5) {
        if repetitions && loops.len() < 2 && random.chance(15) {
            let inner = draft.for_loop("i", loops.last().copied());
            loops.push(inner);
        }
        if depth < 2 && random.chance(25) {
            let node = conditional(draft, random, body, depth, repetitions);
            draft.nodes[node].in_loop = loops.last().copied();
        } else {
            let node = draft.node_in(body, format!("n{}", draft.nodes.len()), NodeKind::Kernel);
            draft.nodes[node].in_loop = loops.last().copied();
            touch(draft, random, node);
        }
        if !loops.is_empty() && random.chance(30) {
            loops.pop();
        }
    }
}

/// Adds a node with bodies.
fn conditional(draft: &mut Draft, random: &mut Random, body: usize, depth: usize, repetitions: bool) -> usize {
    let (kind, roles): (_, &[Role]) = match random.below(4) {
        0 => (NodeKind::If, &[Role::Then, Role::Else]),
        1 if repetitions => (NodeKind::While, &[Role::While]),
        2 => (NodeKind::Graph, &[Role::Child]),
        _ => (NodeKind::Switch, &[Role::Case, Role::Case, Role::Case]),
    };
    let node = draft.node_in(body, format!("n{}", draft.nodes.len()), kind);
    if kind != NodeKind::Graph {
        let scratch = random.chance(30);
        let condition = if scratch { random.below(BUFFERS) } else { BUFFERS };
        draft.access(node, condition, Region::Whole, Mode::Read);
    }
    for &role in roles {
        let inner = draft.body(node, role);
        fill(draft, random, inner, depth + 1, repetitions);
    }
    node
}

/// Accesses to one or two buffers, each in one way.
fn touch(draft: &mut Draft, random: &mut Random, node: usize) {
    let first = random.below(BUFFERS);
    let second = (first + 1 + random.below(BUFFERS - 1)) % BUFFERS;
    for resource in [first, second].into_iter().take(1 + random.below(2)) {
        let modes = [Mode::Read, Mode::Write, Mode::Write, Mode::ReadWrite, Mode::Atomic];
        let mode = modes[random.below(modes.len())];
        let region = match random.below(4) {
            0 => Region::span(0, 1),
            1 => Region::span(1, 2),
            _ => Region::Whole,
        };
        draft.access(node, resource, region, mode);
    }
}

/// Edges between all nodes of one body that touch, themselves or in their bodies, the same memory; and some more.
fn order(draft: &mut Draft, random: &mut Random) {
    let touched: Vec<Vec<usize>> = (0..draft.nodes.len()).map(|node| touched(draft, node)).collect();
    for to in 0..draft.nodes.len() {
        for from in 0..to {
            let meets = touched[from].iter().any(|resource| touched[to].contains(resource));
            if draft.nodes[from].body == draft.nodes[to].body && (meets || random.chance(20)) {
                draft.edge(from, to);
            }
        }
    }
}

/// The buffers that a node touches, or what is in its bodies.
fn touched(draft: &Draft, node: usize) -> Vec<usize> {
    let within = |inner: usize| {
        let mut around = draft.bodies_around(inner);
        inner == node || around.any(|body| draft.bodies[body].node == Some(node))
    };
    let accesses = draft.accesses.iter().filter(|access| within(access.node));
    let resources = accesses.map(|access| access.resource);
    resources.filter(|&resource| resource < BUFFERS).collect()
}
