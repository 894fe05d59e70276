//! The blocks of a kernel, its loops, and the registers that are still needed at each block.

use super::hash::{Map, Set};
use crate::ast::{Base, Body, Instruction, Operand, Reg, each_leaf};

/// A block: instructions that run one after the other.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) first: usize,
    /// The index after its last instruction.
    pub(super) end: usize,
    successors: Vec<usize>,
    /// The header of the innermost loop that it is in.
    pub(super) inside: Option<usize>,
    /// The registers that are read after its beginning before they are written.
    pub(super) live: Set<Reg>,
}

/// The blocks of a body.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) blocks: Vec<Block>,
    /// The blocks that can be reached, each after those that lead to it, but for the ends of loops.
    pub(super) order: Vec<usize>,
    /// The loops, by the block that they begin with.
    pub(super) loops: Map<usize, Loop>,
    labels: Map<String, usize>,
}

/// A loop.
#[derive(Debug, Default)]
pub(super) struct Loop {
    /// The header of the loop around it.
    pub(super) inside: Option<usize>,
    /// The registers that it writes.
    pub(super) written: Set<Reg>,
}

/// The targets of an instruction that ends a block; `None` if it is none, or if its targets are not known.
pub(super) enum End {
    /// To the next instruction alone.
    Next,
    /// To these instructions and, if it is guarded, to the next one.
    Jump(Vec<usize>),
    /// Out of the kernel.
    Leave,
    /// Anywhere.
    Unknown,
}

impl Flow {
    /// The blocks of a body, or the instruction that makes them unknown.
    pub(super) fn of(body: &Body) -> Result<Self, usize> {
        let labels: Map<String, usize> = body.labels.iter().cloned().collect();
        let count = body.instructions.len();
        let mut starts: Set<usize> = labels.values().copied().chain([0]).collect();
        for (index, instruction) in body.instructions.iter().enumerate() {
            match end(instruction, body, &labels) {
                End::Next => {}
                End::Unknown => return Err(index),
                End::Jump(_) | End::Leave => drop(starts.insert(index + 1)),
            }
        }
        let mut starts: Vec<usize> = starts.into_iter().filter(|&start| start < count).collect();
        starts.sort_unstable();
        let number: Map<usize, usize> = starts
            .iter()
            .enumerate()
            .map(|(block, &start)| (start, block))
            .collect();
        let mut blocks = Vec::new();
        for (block, &first) in starts.iter().enumerate() {
            let after = starts.get(block + 1).copied().unwrap_or(count);
            let last = &body.instructions[after - 1];
            let mut successors = Vec::new();
            let falls_through = match end(last, body, &labels) {
                End::Next => true,
                End::Jump(targets) => {
                    successors.extend(targets.iter().filter_map(|target| number.get(target).copied()));
                    last.guard.is_some()
                }
                End::Leave | End::Unknown => last.guard.is_some(),
            };
            if falls_through {
                successors.extend(number.get(&after).copied());
            }
            blocks.push(Block {
                first,
                end: after,
                successors,
                inside: None,
                live: Set::default(),
            });
        }
        let mut flow = Self {
            blocks,
            order: Vec::new(),
            loops: Map::default(),
            labels,
        };
        flow.put_in_order();
        flow.find_loops(body).map_err(|block| flow.blocks[block].first)?;
        flow.find_live(body);
        Ok(flow)
    }

    /// The block that begins with this instruction; `None` for the end of the kernel.
    pub(super) fn block_at(&self, instruction: usize) -> Option<usize> {
        self.blocks.binary_search_by_key(&instruction, |block| block.first).ok()
    }

    /// The end of the block that an instruction may be.
    pub(super) fn end(&self, instruction: &Instruction, body: &Body) -> End {
        end(instruction, body, &self.labels)
    }

    /// Whether a block is in the loop with this header, or in one within it. Everything is in no loop.
    pub(super) fn is_in(&self, block: usize, header: Option<usize>) -> bool {
        let Some(header) = header else { return true };
        let mut around = self.blocks[block].inside;
        while let Some(inner) = around {
            if inner == header {
                return true;
            }
            around = self.loops.get(&inner).and_then(|inner| inner.inside);
        }
        false
    }

    /// The block of an instruction.
    pub(super) fn block_of(&self, instruction: usize) -> usize {
        self.blocks
            .partition_point(|block| block.first <= instruction)
            .saturating_sub(1)
    }

    /// Whether control that has come to the block `from` can come to one that `is_goal` names before it comes to
    /// `avoided`.
    pub(super) fn can_avoid(&self, from: usize, avoided: Option<usize>, is_goal: &dyn Fn(usize) -> bool) -> bool {
        let mut seen = vec![false; self.blocks.len()];
        let mut open = vec![from];
        while let Some(block) = open.pop() {
            if Some(block) == avoided || std::mem::replace(&mut seen[block], true) {
                continue;
            }
            if is_goal(block) {
                return true;
            }
            open.extend(&self.blocks[block].successors);
        }
        false
    }

    /// Whether control can come from the end of one block to the beginning of another one.
    pub(super) fn leads_to(&self, from: usize, to: usize) -> bool {
        let mut successors = self.blocks[from].successors.iter();
        successors.any(|&next| self.can_avoid(next, None, &|block| block == to))
    }

    /// Whether control can leave the kernel at the end of a block.
    pub(super) fn can_leave(&self, block: usize, body: &Body) -> bool {
        let Block {
            end, ref successors, ..
        } = self.blocks[block];
        successors.is_empty() || matches!(self.end(&body.instructions[end - 1], body), End::Leave)
    }

    fn put_in_order(&mut self) {
        let mut state = vec![0_u8; self.blocks.len()];
        let mut stack = vec![(0, 0)];
        let mut order = Vec::new();
        if self.blocks.is_empty() {
            return;
        }
        state[0] = 1;
        while let Some((block, next)) = stack.pop() {
            match self.blocks[block].successors.get(next) {
                Some(&successor) => {
                    stack.push((block, next + 1));
                    if state[successor] == 0 {
                        state[successor] = 1;
                        stack.push((successor, 0));
                    }
                }
                None => order.push(block),
            }
        }
        order.reverse();
        self.order = order;
    }

    /// Finds the loops. Returns a block of a circle that does not begin with one block.
    fn find_loops(&mut self, body: &Body) -> Result<(), usize> {
        let count = self.blocks.len();
        let mut position = vec![usize::MAX; count];
        for (index, &block) in self.order.iter().enumerate() {
            position[block] = index;
        }
        let mut predecessors = vec![Vec::new(); count];
        for &block in &self.order {
            for &successor in &self.blocks[block].successors {
                predecessors[successor].push(block);
            }
        }
        // The block that is on all ways to a block, next to it.
        let mut above = vec![usize::MAX; count];
        if let Some(&entry) = self.order.first() {
            above[entry] = entry;
        }
        let meet = |above: &[usize], mut a: usize, mut b: usize| {
            while a != b {
                while position[a] > position[b] {
                    a = above[a];
                }
                while position[b] > position[a] {
                    b = above[b];
                }
            }
            a
        };
        let mut changed = true;
        while changed {
            changed = false;
            for &block in self.order.iter().skip(1) {
                let known = predecessors[block]
                    .iter()
                    .filter(|&&before| above[before] != usize::MAX);
                let Some(new) = known.copied().reduce(|a, b| meet(&above, a, b)) else {
                    continue;
                };
                if above[block] != new {
                    above[block] = new;
                    changed = true;
                }
            }
        }
        let is_above = |upper: usize, mut block: usize| {
            loop {
                if block == upper {
                    return true;
                }
                if above[block] == block {
                    return false;
                }
                block = above[block];
            }
        };
        // The blocks of each loop: those that reach its end without its header.
        let mut members: Map<usize, Set<usize>> = Map::default();
        for &block in &self.order {
            for &header in &self.blocks[block].successors {
                if position[header] > position[block] {
                    continue;
                }
                if !is_above(header, block) {
                    return Err(header);
                }
                let known = members.entry(header).or_insert_with(|| Set::from_iter([header]));
                let mut open = vec![block];
                while let Some(next) = open.pop() {
                    if known.insert(next) {
                        open.extend(&predecessors[next]);
                    }
                }
            }
        }
        let mut headers: Vec<usize> = members.keys().copied().collect();
        headers.sort_by_key(|header| (std::cmp::Reverse(members[header].len()), *header));
        // Larger loops first, so that smaller ones within them have the last word.
        for &header in &headers {
            let inside = self.blocks[header].inside;
            let mut written = Set::default();
            for &block in &members[&header] {
                self.blocks[block].inside = Some(header);
                for instruction in &body.instructions[self.blocks[block].first..self.blocks[block].end] {
                    written.extend(written_by(instruction));
                }
            }
            self.loops.insert(header, Loop { inside, written });
        }
        Ok(())
    }

    fn find_live(&mut self, body: &Body) {
        let mut changed = true;
        while changed {
            changed = false;
            for &block in self.order.iter().rev() {
                let mut live: Set<Reg> = Set::default();
                for &successor in &self.blocks[block].successors {
                    live.extend(&self.blocks[successor].live);
                }
                for instruction in body.instructions[self.blocks[block].first..self.blocks[block].end]
                    .iter()
                    .rev()
                {
                    if instruction.guard.is_none() {
                        for written in written_by(instruction) {
                            live.remove(&written);
                        }
                    }
                    read_by(instruction, &mut live);
                }
                if live.len() != self.blocks[block].live.len() {
                    self.blocks[block].live = live;
                    changed = true;
                }
            }
        }
    }
}

fn end(instruction: &Instruction, body: &Body, labels: &Map<String, usize>) -> End {
    match (instruction.opcode.as_str(), &instruction.operands[..]) {
        ("bra", [Operand::Label(name)]) => labels.get(name).map_or(End::Unknown, |&target| End::Jump(vec![target])),
        ("brx", [_, Operand::Label(list)]) => {
            let list = body.target_lists.iter().find(|(name, _)| name == list);
            let targets = list.map(|(_, names)| names.iter().map(|name| labels.get(name).copied()).collect());
            targets.flatten().map_or(End::Unknown, End::Jump)
        }
        ("bra" | "brx", _) => End::Unknown,
        ("ret" | "exit" | "trap", _) => End::Leave,
        _ => End::Next,
    }
}

/// Whether the first operand of an instruction is no result.
fn has_no_result(instruction: &Instruction) -> bool {
    match instruction.opcode.as_str() {
        "st" | "red" | "bra" | "brx" | "ret" | "exit" | "trap" | "brkpt" | "membar" | "fence" | "cp" | "prefetch"
        | "prefetchu" | "discard" | "stmatrix" | "sust" | "sured" | "nanosleep" | "griddepcontrol" | "pmevent"
        | "applypriority" | "setmaxnreg" => true,
        "bar" | "barrier" => !instruction.has("red"),
        "wmma" => instruction.has("store"),
        _ => false,
    }
}

/// The registers of a result, in their order: `None` for a part that is dropped.
pub(super) fn parts_of(result: &Operand) -> Vec<Option<Reg>> {
    let register = |part: &Operand| match part {
        Operand::Register(register) => Some(*register),
        _ => None,
    };
    match result {
        Operand::Vector(parts) => parts.iter().map(register).collect(),
        whole => vec![register(whole)],
    }
}

/// The registers that an instruction writes.
pub(super) fn written_by(instruction: &Instruction) -> Vec<Reg> {
    let results = match instruction.opcode.as_str() {
        // The results of calls are in variables, or come first.
        "call" => instruction.operands.len().min(1),
        _ if has_no_result(instruction) => 0,
        _ => instruction.operands.len().min(1),
    };
    let mut registers = Vec::new();
    each_leaf(&instruction.operands[..results], &mut |leaf| {
        if let Operand::Register(register) | Operand::Part(register, _) = leaf {
            registers.push(*register);
        }
    });
    registers
}

/// Adds the registers that an instruction reads.
fn read_by(instruction: &Instruction, live: &mut Set<Reg>) {
    live.extend(instruction.guard.map(|(register, _)| register));
    let results = if has_no_result(instruction) { 0 } else { 1 };
    for (index, operand) in instruction.operands.iter().enumerate() {
        each_leaf(std::slice::from_ref(operand), &mut |leaf| match leaf {
            Operand::Register(register) if index >= results => drop(live.insert(*register)),
            Operand::Part(register, _) | Operand::NotPredicate(register) => drop(live.insert(*register)),
            Operand::Address(Base::Register(register), _) => drop(live.insert(*register)),
            _ => {}
        });
    }
}
