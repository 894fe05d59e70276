//! Writes random graphs that are right: nothing is read from scratch memory that was not written before, for certain.

mod areas;
mod revive;
mod simple;

use super::order::add_edges;
use super::program::{
    Action, Area, Body, COLUMNS, CONSTANT, FLAGS, Iteration, MEMORIES, Node, Part, Program, RNGS, ROWS, Space,
};
use crate::common::random::Random;

/// The most nodes of a body, of which sets are bits.
const MOST: usize = 100;

struct Author {
    random: Random,
    /// The percentage of areas of scratch memory that are all of it, and of nodes that run after the previous one. If
    /// it is large, much scratch memory shares addresses.
    whole: usize,
    nodes: usize,
    bodies: usize,
    loops: usize,
    uses: [usize; RNGS.len()],
    /// Conditions so far.
    flags: usize,
    /// Whether a node counts in the variable of its kernel's module.
    counts: bool,
    /// The bytes of each memory that are written for certain.
    written: [u128; MEMORIES.len()],
    /// Words on the device that were written lately, the latest last.
    recent: Vec<Area>,
}

/// The position of a statement.
#[derive(Clone, Copy)]
struct At<'a> {
    depth: usize,
    /// Whether it is in a conditional body, however deep.
    conditional: bool,
    place: &'a [Iteration],
}

/// The graph of a seed.
pub(crate) fn program(seed: u64) -> Program {
    let mut author = Author {
        random: Random(seed),
        whole: if seed.is_multiple_of(2) { 85 } else { 15 },
        nodes: 0,
        bodies: 0,
        loops: 0,
        uses: [0; RNGS.len()],
        flags: 0,
        counts: false,
        written: MEMORIES.map(|memory| if memory.space == Space::Scratch { 0 } else { u128::MAX }),
        recent: Vec::new(),
    };
    let body = author.body(0, false, None);
    Program {
        body,
        uses: author.uses,
    }
}

impl Author {
    /// A body, with `needed` somewhere in it.
    fn body(&mut self, depth: usize, conditional: bool, needed: Option<Action>) -> Body {
        let mut body = Body {
            id: self.bodies,
            ..Body::default()
        };
        self.bodies += 1;
        let at = At {
            depth,
            conditional,
            place: &[],
        };
        let statements = if depth == 0 {
            8 + self.random.below(10)
        } else {
            1 + self.random.below(4)
        };
        let mut parts = Vec::new();
        let turn = self.random.below(statements);
        for number in 0..statements {
            if let Some(needed) = needed.clone().filter(|_| number == turn) {
                self.push(&mut body, &mut parts, at, needed, true);
            }
            self.statement(&mut body, &mut parts, at);
        }
        body.parts = parts;
        add_edges(&mut self.random, &mut body, self.whole);
        body
    }

    fn statement(&mut self, body: &mut Body, parts: &mut Vec<Part>, at: At<'_>) {
        let deep = at.depth >= 3 || body.nodes.len() > MOST / 2;
        match self.random.below(if deep { 20 } else { 30 }) {
            20 | 21 => self.repeat(body, parts, at, false),
            28 | 29 => self.repeat(body, parts, at, true),
            22 => {
                let inner = self.body(at.depth + 1, at.conditional, None);
                self.push(body, parts, at, Action::Child(inner), true);
            }
            27 => self.revive(body, parts, at),
            choice @ 23..27 if self.flags < ROWS * COLUMNS => self.conditional(body, parts, at, choice),
            choice => {
                let action = self.simple(choice, at.conditional);
                let enabled = !action.can_be_disabled() || !self.random.chance(6);
                self.push(body, parts, at, action, enabled);
            }
        }
    }

    fn push(&mut self, body: &mut Body, parts: &mut Vec<Part>, at: At<'_>, action: Action, enabled: bool) {
        if let Some(area) = action.initialises().filter(|_| enabled) {
            self.written[area.memory] |= area.mask();
            let memory = MEMORIES[area.memory];
            if memory.size == 4 && memory.space != Space::Host && area.columns > 0 {
                self.recent.push(area);
            }
        }
        let name = match at.place.last() {
            Some(around) if around.parallel => format!("e{}_{}", around.of, parts.len()),
            _ => format!("n{}", self.nodes),
        };
        parts.push(Part::Node(body.nodes.len()));
        body.nodes.push(Node {
            id: self.nodes,
            name,
            action,
            enabled,
            place: at.place.to_vec(),
        });
        self.nodes += 1;
    }

    fn repeat(&mut self, body: &mut Body, parts: &mut Vec<Part>, at: At<'_>, parallel: bool) {
        let number = self.loops;
        self.loops += 1;
        let iteration = |index| {
            let mut inner = Vec::new();
            let of = number;
            let place = [at.place, &[Iteration { of, index, parallel }]].concat();
            let at = At {
                depth: at.depth + 1,
                place: &place,
                ..at
            };
            for _ in 0..1 + self.random.below(3) {
                if body.nodes.len() < MOST {
                    self.statement(body, &mut inner, at);
                }
            }
            inner
        };
        let count = [2, 3, 1, 0, 2][number % 5];
        let iterations = (0..count).map(iteration).collect();
        parts.push(match parallel {
            true => Part::Each(iterations),
            false => Part::For(iterations),
        });
    }

    /// A conditional, and before it what computes its condition.
    fn conditional(&mut self, body: &mut Body, parts: &mut Vec<Part>, at: At<'_>, choice: usize) {
        let flag = self.condition(body, parts, at, if choice == 23 { 2 } else { 4 });
        let written = self.written;
        let inner = |author: &mut Self, needed| {
            author.written = written;
            let body = author.body(at.depth + 1, true, needed);
            author.written = written;
            body
        };
        let action = match choice {
            23 => {
                let count = 1 + self.random.below(2);
                let bodies = (0..count).map(|_| inner(self, None)).collect();
                Action::If { flag, bodies }
            }
            24 => {
                let bodies = (0..3).map(|_| inner(self, None)).collect();
                Action::Switch { flag, bodies }
            }
            _ => {
                let body = inner(self, Some(Action::Decrement { at: flag }));
                Action::While { flag, body }
            }
        };
        self.push(body, parts, at, action, true);
    }

    /// The condition of the next conditional, and what computes it: a remainder.
    fn condition(&mut self, body: &mut Body, parts: &mut Vec<Part>, at: At<'_>, divisor: u32) -> Area {
        let flag = Area::cell(FLAGS[self.random.below(2)], self.flags);
        self.flags += 1;
        let cell = |area: Area| Area { columns: 1, ..area };
        let from = Some(cell(self.readable(false))).filter(|from| !from.meets(&flag));
        let from = from.unwrap_or_else(|| cell(self.segment(CONSTANT)));
        let compute = Action::Remainder {
            from,
            divisor,
            to: flag,
        };
        self.push(body, parts, at, compute, true);
        flag
    }
}
