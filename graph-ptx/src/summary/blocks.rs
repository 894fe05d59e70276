//! The basic blocks of a function body and the edges between them.

use std::collections::HashMap;
use std::ops::Range;

use crate::ast::{Body, Instruction, Operand};

/// Blocks in order of the code.
#[derive(Debug)]
pub(super) struct Blocks {
    /// The first instruction of each block, and the number of instructions.
    starts: Vec<usize>,
    predecessors: Vec<Vec<usize>>,
}

/// Where control goes behind an instruction.
enum Exit<'b> {
    /// To the next instruction only.
    Next,
    /// To labels, and to the next instruction if the branch is guarded.
    Labels(Vec<&'b str>),
    /// Out of the function.
    Return,
    /// Nobody knows.
    Unknown,
}

impl Blocks {
    /// The blocks of a body; `None` where a branch goes who knows where.
    pub(super) fn find(body: &Body) -> Option<Blocks> {
        let count = body.instructions.len();
        let labels: HashMap<&str, usize> = body
            .labels
            .iter()
            .map(|(name, index)| (name.as_str(), *index))
            .collect();
        let lists: HashMap<&str, &[String]> = body
            .target_lists
            .iter()
            .map(|(name, list)| (name.as_str(), &list[..]))
            .collect();
        let mut starts: Vec<usize> = body.labels.iter().map(|&(_, index)| index).chain([0, count]).collect();
        for (index, instruction) in body.instructions.iter().enumerate() {
            if !matches!(exit(instruction, &lists), Exit::Next) {
                starts.push(index + 1);
            }
        }
        starts.sort_unstable();
        starts.dedup();
        let mut blocks = Blocks {
            predecessors: vec![Vec::new(); starts.len()],
            starts,
        };
        for block in 0..blocks.starts.len() - 1 {
            let last = &body.instructions[blocks.starts[block + 1] - 1];
            let out = exit(last, &lists);
            if matches!(out, Exit::Next) || last.guard.is_some() {
                blocks.predecessors[block + 1].push(block);
            }
            match out {
                Exit::Next | Exit::Return => {}
                Exit::Unknown => return None,
                Exit::Labels(names) => {
                    for name in names {
                        let target = blocks.starts.binary_search(labels.get(name)?).ok()?;
                        blocks.predecessors[target].push(block);
                    }
                }
            }
        }
        Some(blocks)
    }

    /// The instructions of each block.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.starts.windows(2).map(|pair| pair[0]..pair[1])
    }

    /// The blocks that control may come from.
    pub(super) fn predecessors(&self, block: usize) -> &[usize] {
        &self.predecessors[block]
    }
}

fn exit<'b>(instruction: &'b Instruction, lists: &HashMap<&'b str, &'b [String]>) -> Exit<'b> {
    match (instruction.opcode.as_str(), &instruction.operands[..]) {
        ("bra", [Operand::Label(name)]) => Exit::Labels(vec![name]),
        ("brx", [_, Operand::Label(list)]) => match lists.get(list.as_str()) {
            Some(names) => Exit::Labels(names.iter().map(String::as_str).collect()),
            None => Exit::Unknown,
        },
        ("bra" | "brx", _) => Exit::Unknown,
        ("ret" | "exit" | "trap", _) => Exit::Return,
        _ => Exit::Next,
    }
}
