//! Splitting of registers that are written more than once into webs. A web is a set of writes and the reads they reach.
//!
//! Compilers name most values once; people reuse registers. The fixpoint keeps one value for each register, so
//! registers that hold unrelated values one after the other are split here first. If a block reads a register that it
//! has not written, the read reaches the last writes of all its predecessors (the construction of SSA by Braun et al.,
//! with unions in place of phi functions).

use std::collections::{HashMap, HashSet};

use super::blocks::Blocks;
use super::opcode::{Action, action, written};
use crate::ast::{Base, Body, Instruction, Operand, Reg, Register};

/// The most nodes for each instruction. Code that needs more, since many registers live across blocks, is not split.
const MAX_NODES: usize = 32;

/// Returns the code with one register for each web. Registers whose names are in `fixed` stay whole: callers know them.
pub(super) fn split_webs(body: &Body, fixed: &HashSet<&str>) -> Body {
    let mut split = body.clone();
    if let Some(mut webs) = Webs::find(body, fixed) {
        webs.rename(&mut split);
    }
    split
}

/// The webs found so far. Nodes are writes, and the values of registers at the beginning of blocks; the nodes of one
/// web are united.
#[derive(Debug)]
struct Webs {
    /// By node: the next node on the way to the representative of the web.
    parents: Vec<u32>,
    /// By node: its register.
    registers: Vec<u32>,
    /// By register: whether it is written more than once.
    multiple: Vec<bool>,
    /// The node of each mention of a register that is written more than once, in the order of [`each_mention`].
    mentions: Vec<u32>,
    /// By block and register: the value at the beginning, and the last write.
    entries: HashMap<(usize, u32), u32>,
    exits: HashMap<(usize, u32), u32>,
    /// Values at the beginning of blocks whose predecessors have not been visited.
    pending: Vec<(usize, u32, u32)>,
}

impl Webs {
    /// The webs of a body; `None` if there is nothing to split, or too much.
    fn find(body: &Body, fixed: &HashSet<&str>) -> Option<Webs> {
        let mut multiple = written_twice(body);
        if !fixed.is_empty() {
            for (register, multiple) in body.registers.iter().zip(&mut multiple) {
                *multiple &= !fixed.contains(&register.name.as_str());
            }
        }
        if !multiple.contains(&true) {
            return None;
        }
        let blocks = Blocks::find(body)?;
        let mut webs = Webs {
            parents: Vec::new(),
            registers: Vec::new(),
            multiple,
            mentions: Vec::new(),
            entries: HashMap::new(),
            exits: HashMap::new(),
            pending: Vec::new(),
        };
        for (block, range) in blocks.ranges().enumerate() {
            for instruction in &body.instructions[range] {
                webs.visit(block, instruction);
            }
        }
        let limit = body.instructions.len().saturating_mul(MAX_NODES);
        while let Some((block, register, node)) = webs.pending.pop() {
            for &before in blocks.predecessors(block) {
                let value = match webs.exits.get(&(before, register)) {
                    Some(&written) => written,
                    None => webs.entry(before, register),
                };
                webs.unite(node, value);
            }
            if webs.parents.len() > limit {
                return None;
            }
        }
        Some(webs)
    }

    fn visit(&mut self, block: usize, instruction: &Instruction) {
        let guarded = instruction.guard.is_some();
        let action = action(instruction);
        let mut written = Vec::new();
        let mut operands = instruction.operands.clone();
        let mut guard = instruction.guard.map(|(register, _)| register);
        each_mention(&mut operands, guard.as_mut(), action, &mut |register, writes| {
            if !self.multiple[register.0 as usize] {
                return;
            }
            // A guarded write and an unknown instruction may leave the old value in place.
            let keeps = writes && (guarded || action == Action::Unknown);
            let before = (!writes || keeps).then(|| self.value(block, register.0));
            let node = match (writes, before) {
                (true, None) => self.node(register.0),
                (true, Some(before)) => {
                    let node = self.node(register.0);
                    self.unite(node, before);
                    node
                }
                (false, before) => before.unwrap_or_default(),
            };
            if writes {
                written.push((register.0, node));
            }
            self.mentions.push(node);
        });
        self.exits
            .extend(written.into_iter().map(|(register, node)| ((block, register), node)));
    }

    fn node(&mut self, register: u32) -> u32 {
        let node = u32::try_from(self.parents.len()).unwrap_or(u32::MAX);
        self.parents.push(node);
        self.registers.push(register);
        node
    }

    /// Returns the node of a register's value at this point of a block.
    fn value(&mut self, block: usize, register: u32) -> u32 {
        match self.exits.get(&(block, register)) {
            Some(&node) => node,
            None => self.entry(block, register),
        }
    }

    /// Returns the node of a register's value at the beginning of a block.
    fn entry(&mut self, block: usize, register: u32) -> u32 {
        if let Some(&node) = self.entries.get(&(block, register)) {
            return node;
        }
        let node = self.node(register);
        self.entries.insert((block, register), node);
        self.pending.push((block, register, node));
        node
    }

    fn representative(&mut self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            let next = self.parents[node as usize];
            self.parents[node as usize] = self.parents[next as usize];
            node = next;
        }
        node
    }

    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.representative(a), self.representative(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// Gives each web a register: the first web of a register keeps it, the others get new ones.
    fn rename(&mut self, body: &mut Body) {
        let mut mentions = std::mem::take(&mut self.mentions).into_iter();
        let mut names: HashMap<u32, Reg> = HashMap::new();
        let mut kept = vec![false; body.registers.len()];
        let Body {
            registers,
            instructions,
            ..
        } = body;
        for instruction in instructions {
            let action = action(instruction);
            let guard = instruction.guard.as_mut().map(|(register, _)| register);
            each_mention(&mut instruction.operands, guard, action, &mut |register, _| {
                if !self.multiple[register.0 as usize] {
                    return;
                }
                let Some(node) = mentions.next() else { return };
                let web = self.representative(node);
                *register = *names.entry(web).or_insert_with(|| {
                    match std::mem::replace(&mut kept[register.0 as usize], true) {
                        false => *register,
                        true => new_register(registers, *register),
                    }
                });
            });
        }
    }
}

fn new_register(registers: &mut Vec<Register>, like: Reg) -> Reg {
    let register = registers[like.0 as usize].clone();
    registers.push(register);
    Reg(u32::try_from(registers.len() - 1).unwrap_or(u32::MAX))
}

/// By register: whether several instructions write it.
fn written_twice(body: &Body) -> Vec<bool> {
    let mut counts = vec![0_u8; body.registers.len()];
    for instruction in &body.instructions {
        for register in written(instruction, action(instruction)) {
            let count = &mut counts[register as usize];
            *count = count.saturating_add(1);
        }
    }
    counts.into_iter().map(|count| count > 1).collect()
}

/// Calls `visit` with each register that an instruction mentions, and with whether the instruction writes it. Registers
/// that it reads come first.
fn each_mention(
    operands: &mut [Operand],
    guard: Option<&mut Reg>,
    action: Action,
    visit: &mut impl FnMut(&mut Reg, bool),
) {
    if let Some(guard) = guard {
        visit(guard, false);
    }
    let results = action.results(operands);
    let (results, sources) = operands.split_at_mut(results);
    for operand in sources {
        each_register(operand, &mut |register, _| visit(register, false));
    }
    for addresses in [true, false] {
        for operand in &mut *results {
            each_register(operand, &mut |register, address| {
                if address == addresses {
                    visit(register, !address);
                }
            });
        }
    }
}

/// Calls `visit` with each register of an operand, and with whether it is the base of an address (or negated).
fn each_register(operand: &mut Operand, visit: &mut impl FnMut(&mut Reg, bool)) {
    match operand {
        Operand::Register(register) | Operand::Part(register, _) => visit(register, false),
        Operand::NotPredicate(register) | Operand::Address(Base::Register(register), _) => visit(register, true),
        Operand::Vector(parts) => parts.iter_mut().for_each(|part| each_register(part, visit)),
        Operand::Pair(first, second) => {
            each_register(first, visit);
            each_register(second, visit);
        }
        Operand::Special(_)
        | Operand::Integer(_)
        | Operand::F32(_)
        | Operand::F64(_)
        | Operand::Address(Base::Symbol(_) | Base::Absolute, _)
        | Operand::Symbol(..)
        | Operand::Label(_)
        | Operand::Discard => {}
    }
}
