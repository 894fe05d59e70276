//! The effects of a program: its nodes run one after the other, in plain Rust.

use super::program::{Action, Area, Body, COLUMNS, MEMORIES, Node, Program, RNGS, SHARED, SHARED_RNG, Space, VARIABLE};
use crate::common::random::philox;

/// The memory of two graphs.
#[derive(Clone)]
pub(crate) struct World {
    /// The memory of the first graph, and that of the second, whose shared memory is not used.
    memory: [Vec<Vec<u8>>; 2],
    /// The offset of the generator of each `rng` of each graph. That of the second graph is not used if it is shared.
    generators: [[u64; RNGS.len()]; 2],
    /// The offset at which each use of each `rng` of each graph draws.
    offsets: [[Vec<u64>; RNGS.len()]; 2],
}

impl World {
    /// Memory as `first` says: by graph, memory, and index of the byte.
    pub(crate) fn new(programs: &[Program; 2], first: impl Fn(usize, usize, usize) -> u8) -> Self {
        let contents =
            |graph: usize, memory: usize| (0..bytes(memory)).map(|byte| first(graph, memory, byte)).collect();
        let all = |graph| (0..MEMORIES.len()).map(|memory| contents(graph, memory)).collect();
        Self {
            memory: [all(0), all(1)],
            generators: Default::default(),
            offsets: programs
                .each_ref()
                .map(|program| program.uses.map(|uses| vec![0; uses])),
        }
    }

    /// Lets the random numbers of a graph begin.
    pub(crate) fn reseed(&mut self, graph: usize) {
        (0..RNGS.len()).for_each(|rng| *self.generator(graph, rng) = 0);
    }

    fn generator(&mut self, graph: usize, rng: usize) -> &mut u64 {
        let home = if rng == SHARED_RNG { 0 } else { graph };
        &mut self.generators[home][rng]
    }

    /// The contents of a memory of a graph.
    pub(crate) fn memory(&self, graph: usize, memory: usize) -> &[u8] {
        &self.memory[home(graph, memory)][memory]
    }

    /// One launch.
    pub(crate) fn launch(&mut self, graph: usize, program: &Program) {
        for (rng, (_, draws)) in RNGS.into_iter().enumerate() {
            let base = *self.generator(graph, rng);
            let lanes = self.offsets[graph][rng].iter_mut().zip(0..);
            lanes.for_each(|(offset, number)| *offset = base + number * draws);
        }
        Run { world: self, graph }.once(program, &program.body);
        for (rng, (_, draws)) in RNGS.into_iter().enumerate() {
            let lanes = self.offsets[graph][rng].iter().zip(0..);
            if let Some(end) = lanes.map(|(offset, number)| offset - number * draws).max() {
                *self.generator(graph, rng) = end;
            }
        }
    }
}

/// The size of a memory.
pub(crate) fn bytes(memory: usize) -> usize {
    Area::whole(memory).elements().count() * MEMORIES[memory].size
}

/// The graph whose copy of a memory counts.
fn home(graph: usize, memory: usize) -> usize {
    if SHARED.contains(&memory) { 0 } else { graph }
}

struct Run<'a> {
    world: &'a mut World,
    graph: usize,
}

impl Run<'_> {
    /// The graph, or the body of a `while`, once.
    fn once(&mut self, program: &Program, body: &Body) {
        self.body(program, body);
        self.advance(program, body);
    }

    fn body(&mut self, program: &Program, body: &Body) {
        for node in body.nodes.iter().filter(|node| node.enabled) {
            self.node(program, node);
        }
    }

    fn node(&mut self, program: &Program, node: &Node) {
        match &node.action {
            Action::Mix { from, to } => self.combine(from, to, |from, to| mixed(from, to, 1)),
            Action::Call { from, to } => self.combine(from, to, |from, to| mixed(from, to, 7)),
            Action::Step { from, to } => self.combine(from, to, |from, _| from.wrapping_add(1)),
            Action::StepWith { from, more, given, to } => {
                let more = if *given { self.words(more) } else { Vec::new() };
                let mut more = more.into_iter();
                self.combine(from, to, |from, _| {
                    from.wrapping_add(more.next().unwrap_or_default()).wrapping_add(1)
                });
            }
            Action::Start { to, value } => self.combine(to, to, |_, _| value.wrapping_mul(3).wrapping_add(1)),
            Action::Bump { to, by } | Action::Update { to, by } => self.combine(to, to, |_, to| to.wrapping_add(*by)),
            Action::Decrement { at } => self.combine(at, at, |_, at| at.wrapping_sub(1)),
            Action::Count { to } => {
                let variable = Area::cell(VARIABLE, 0);
                self.combine(&variable, &variable, |count, _| count.wrapping_add(1));
                self.combine(&variable, to, |count, _| count);
            }
            Action::Load { to } => self.combine(&Area::cell(VARIABLE, 0), to, |count, _| count),
            Action::Store { from } => self.combine(from, &Area::cell(VARIABLE, 0), |from, _| from),
            Action::Remainder { from, divisor, to } => self.combine(from, to, |from, _| from % divisor),
            Action::Weigh { weights, from, to } => {
                let mut weights = self.words(weights).into_iter();
                self.combine(from, to, |from, _| {
                    weights.next().unwrap_or_default().wrapping_mul(from)
                });
            }
            Action::Draw { rng, number, to } => {
                let offset = self.world.offsets[self.graph][*rng][*number];
                let mut numbers = [0, 1].map(|drawn| drawn_at(RNGS[*rng].0, offset + drawn)).into_iter();
                self.combine(to, to, |_, _| numbers.next().unwrap_or_default());
            }
            Action::Copy { from, to } => self.copy(from, to),
            Action::CopyPart { from, to, part } => self.copy(&from.part(*part), &to.part(*part)),
            Action::SetPart { to, value, part } => self.set(&to.part(*part), *value, false),
            Action::Set { to, value, pattern } => self.set(to, *value, *pattern),
            Action::Join | Action::Record | Action::Wait => {}
            Action::Child(body) => self.body(program, body),
            Action::If { flag, bodies } => {
                let chosen = usize::from(self.words(flag)[0] == 0);
                bodies.get(chosen).into_iter().for_each(|body| self.body(program, body));
            }
            Action::Switch { flag, bodies } => {
                let chosen = self.words(flag)[0] as usize;
                bodies.get(chosen).into_iter().for_each(|body| self.body(program, body));
            }
            Action::While { flag, body } => {
                while self.words(flag)[0] != 0 {
                    self.once(program, body);
                }
            }
        }
    }

    fn copy(&mut self, from: &Area, to: &Area) {
        let (size, source) = (MEMORIES[from.memory].size, self.of(from.memory).clone());
        let target = self.of(to.memory);
        for (from, to) in from.elements().zip(to.elements()) {
            target[to..to + size].copy_from_slice(&source[from..from + size]);
        }
    }

    fn set(&mut self, to: &Area, value: u32, pattern: bool) {
        let (size, target) = (MEMORIES[to.memory].size, self.of(to.memory));
        for (number, element) in (0..).zip(to.elements()) {
            let more = if pattern { number % COLUMNS as u32 } else { 0 };
            target[element..element + size].copy_from_slice(&(value + more).to_le_bytes()[..size]);
        }
    }

    /// Moves on the random numbers of a body, and of those in it that are not repeated by themselves.
    fn advance(&mut self, program: &Program, body: &Body) {
        for node in &body.nodes {
            match &node.action {
                Action::Draw { rng, number, .. } => {
                    let step = program.uses[*rng] as u64 * RNGS[*rng].1;
                    self.world.offsets[self.graph][*rng][*number] += step;
                }
                Action::While { .. } => {}
                action => action.bodies().iter().for_each(|body| self.advance(program, body)),
            }
        }
    }

    fn of(&mut self, memory: usize) -> &mut Vec<u8> {
        &mut self.world.memory[home(self.graph, memory)][memory]
    }

    fn words(&mut self, area: &Area) -> Vec<u32> {
        let memory = self.of(area.memory);
        let word = |start: usize| u32::from_le_bytes(std::array::from_fn(|byte| memory[start + byte]));
        area.elements().map(word).collect()
    }

    /// Makes each word of `to` what comes of it and of that of `from`.
    fn combine(&mut self, from: &Area, to: &Area, mut f: impl FnMut(u32, u32) -> u32) {
        let (from, before) = (self.words(from), self.words(to));
        let memory = self.of(to.memory);
        for ((start, from), before) in to.elements().zip(from).zip(before) {
            memory[start..start + 4].copy_from_slice(&f(from, before).to_le_bytes());
        }
    }
}

/// The word that some kernels, and the host functions, make of two.
pub(crate) fn mixed(from: u32, to: u32, more: u32) -> u32 {
    to.wrapping_mul(31).wrapping_add(from).wrapping_add(more)
}

/// The number at an offset of stream 0 of a generator.
fn drawn_at(seed: u64, offset: u64) -> u32 {
    philox(seed, 0, offset / 4)[(offset % 4) as usize]
}

/// Whether all scratch memory that enabled nodes read is written before, by nodes that are enabled and certain to run.
pub(crate) fn is_initialised(program: &Program) -> bool {
    reads_written(program, |reader, written, read| {
        !reader.enabled || written & read == read
    })
}

/// Whether all scratch memory that nodes read, disabled ones too, is written before. If not, building the graph may
/// fail.
pub(crate) fn is_wholly_initialised(program: &Program) -> bool {
    reads_written(program, |_, written, read| written & read == read)
}

/// Whether some of the scratch memory that each node reads is written before. If not, building the graph fails.
pub(crate) fn is_somewhat_initialised(program: &Program) -> bool {
    reads_written(program, |_, written, read| written & read != 0 || read == 0)
}

/// The parts of a memory that a node writes and reads.
type Enough<'a> = &'a dyn Fn(&Node, u128, u128) -> bool;

fn reads_written(program: &Program, enough: impl Fn(&Node, u128, u128) -> bool) -> bool {
    let mut written = MEMORIES.map(|memory| if memory.space == Space::Scratch { 0 } else { u128::MAX });
    in_body(&program.body, &mut written, &enough)
}

fn in_body(body: &Body, written: &mut [u128; MEMORIES.len()], enough: Enough<'_>) -> bool {
    body.nodes.iter().all(|node| {
        let (reads, write) = (node.action.areas().0, node.action.initialises());
        let known = reads.iter().all(|area| enough(node, written[area.memory], area.mask()));
        let write = write.filter(|_| node.enabled);
        write.iter().for_each(|area| written[area.memory] |= area.mask());
        let inner = |body: &Body| match node.action {
            Action::Child(_) => in_body(body, written, enough),
            _ => in_body(body, &mut written.clone(), enough),
        };
        known && node.action.bodies().iter().all(inner)
    })
}
