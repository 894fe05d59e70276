//! The basic blocks of a function body and the edges between them.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use crate::ast::{Body, Instruction, Operand};

/// Blocks in order of the code.
#[derive(Debug)]
pub(super) struct Blocks {
    /// The first instruction of each block, and the number of instructions.
    starts: Vec<usize>,
    predecessors: Vec<Vec<usize>>,
}

/// The instructions that may follow an instruction.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// To the next instruction only.
    Next,
    /// To instructions (or the end), and to the next one if the branch is guarded.
    Jump(Rc<[usize]>),
    /// Out of the function, or on to the next instruction if it is guarded.
    Return,
    /// To an unknown place.
    Unknown,
}

/// The instructions that the labels and target lists of a body name; `None` for a list with labels that are not
/// declared.
#[derive(Debug)]
pub(super) struct Labels<'b> {
    places: HashMap<&'b str, usize>,
    lists: HashMap<&'b str, Option<Rc<[usize]>>>,
}

impl<'b> Labels<'b> {
    pub(super) fn new(body: &'b Body) -> Self {
        let places = body.labels.iter().map(|(name, index)| (name.as_str(), *index));
        let places: HashMap<&str, usize> = places.collect();
        let place = |name: &String| places.get(name.as_str()).copied();
        let lists = body.target_lists.iter();
        let lists = lists.map(|(name, list)| (name.as_str(), list.iter().map(place).collect()));
        Labels {
            lists: lists.collect(),
            places,
        }
    }

    /// Returns where control goes after an instruction of the body.
    pub(super) fn exit(&self, instruction: &Instruction) -> Exit {
        let places = match (instruction.opcode.as_str(), &instruction.operands[..]) {
            ("bra", [Operand::Label(name)]) => self.places.get(name.as_str()).map(|&place| Rc::from([place])),
            ("brx", [_, Operand::Label(list)]) => self.lists.get(list.as_str()).cloned().flatten(),
            ("bra" | "brx", _) => None,
            ("ret" | "exit" | "trap", _) => return Exit::Return,
            _ => return Exit::Next,
        };
        places.map_or(Exit::Unknown, Exit::Jump)
    }
}

impl Blocks {
    /// Returns the blocks of a body; `None` if a branch has an unknown target.
    pub(super) fn find(body: &Body) -> Option<Blocks> {
        let count = body.instructions.len();
        let labels = Labels::new(body);
        let exits: Vec<Exit> = body
            .instructions
            .iter()
            .map(|instruction| labels.exit(instruction))
            .collect();
        let mut starts: Vec<usize> = body.labels.iter().map(|&(_, index)| index).chain([0, count]).collect();
        starts.extend((1..=count).filter(|&index| exits[index - 1] != Exit::Next));
        starts.sort_unstable();
        starts.dedup();
        let mut blocks = Blocks {
            predecessors: vec![Vec::new(); starts.len()],
            starts,
        };
        for block in 0..blocks.starts.len() - 1 {
            let last = blocks.starts[block + 1] - 1;
            if exits[last] == Exit::Next || body.instructions[last].guard.is_some() {
                blocks.predecessors[block + 1].push(block);
            }
            match &exits[last] {
                Exit::Next | Exit::Return => {}
                Exit::Unknown => return None,
                Exit::Jump(places) => {
                    for place in places.iter() {
                        let target = blocks.starts.binary_search(place).ok()?;
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
