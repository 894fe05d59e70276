//! Hoisting: instructions that compute the same in every block move into a prologue, which a worker executes once.
//!
//! An instruction moves if it cannot fault, has no guard, is the only one to write its registers, and reads nothing but
//! literals, parameters, the thread's position in the block, and registers that moved instructions write. Copies of a
//! register into another are removed.

use std::collections::{HashMap, HashSet};

use crate::code::{Base, File, Instruction, Line, Move, Op, Register, Role, Slot, Space, Special};

/// A kernel's instructions, with branch targets from `start` on.
pub(super) struct Body {
    pub(super) instructions: Vec<Instruction>,
    pub(super) lines: Vec<Line>,
    pub(super) start: u32,
    /// Slots that hold literals and special registers.
    pub(super) constants: HashSet<Register>,
    pub(super) specials: Vec<(Slot, Special)>,
    /// Bytes of the kernel's parameters.
    pub(super) parameters: u64,
}

/// Moves the instructions that can move, and returns them.
pub(super) fn hoist(body: &mut Body) -> Vec<Instruction> {
    let writes = count_writes(body);
    propagate_copies(body, &writes);
    let mut known = body.constants.clone();
    for (slot, _) in body
        .specials
        .iter()
        .filter(|(_, special)| special.of_block([0; 3], [1; 3]).is_some())
    {
        known.remove(&(File::R32, *slot));
    }
    let mut keep = vec![true; body.instructions.len()];
    let mut prologue = Vec::new();
    for (instruction, keep) in body.instructions.iter_mut().zip(&mut keep) {
        if matches!(instruction.op, Op::Nop) {
            *keep = false;
        } else if instruction.guard.is_none()
            && is_pure(&instruction.op, body.parameters)
            && invariant(&mut instruction.op, &writes, &known)
        {
            instruction.op.visit(|file, role, slot| {
                if role == Role::Target {
                    known.insert((file, *slot));
                }
            });
            prologue.push(instruction.clone());
            *keep = false;
        }
    }
    compact(body, &keep);
    prologue
}

fn count_writes(body: &mut Body) -> HashMap<Register, u32> {
    let mut writes = HashMap::new();
    for instruction in &mut body.instructions {
        instruction.op.visit(|file, role, slot| {
            if role == Role::Target {
                *writes.entry((file, *slot)).or_insert(0) += 1;
            }
        });
    }
    writes
}

/// Removes `mov d, a` if `a` is a literal or a special register and nothing else writes `d`: instructions then read
/// `a`.
fn propagate_copies(body: &mut Body, writes: &HashMap<Register, u32>) {
    let mut copies: HashMap<Register, Slot> = HashMap::new();
    for instruction in body
        .instructions
        .iter_mut()
        .filter(|instruction| instruction.guard.is_none())
    {
        let (file, d, a) = match instruction.op {
            Op::Move(Move::M32 { d, a }) => (File::R32, d, a),
            Op::Move(Move::M64 { d, a }) => (File::R64, d, a),
            _ => continue,
        };
        if writes.get(&(file, d)) == Some(&1) && body.constants.contains(&(file, a)) {
            copies.insert((file, d), a);
            instruction.op = Op::Nop;
        }
    }
    for instruction in &mut body.instructions {
        instruction.op.visit(|file, role, slot| {
            if role == Role::Source
                && let Some(&original) = copies.get(&(file, *slot))
            {
                *slot = original;
            }
        });
    }
}

/// Whether an instruction changes nothing but registers, and cannot fault.
fn is_pure(op: &Op, parameters: u64) -> bool {
    match op {
        Op::Integer(_) | Op::Multiply(_) | Op::Shift(_) | Op::Bits(_) | Op::Float(_) | Op::Math(_) => true,
        Op::Convert(_) | Op::Move(_) => true,
        Op::Load(load) => {
            let bytes = u64::from(load.bytes) * u64::from(load.count);
            let start = load.address.offset as u64;
            let inside = start.checked_add(bytes).is_some_and(|end| end <= parameters) && start.is_multiple_of(bytes);
            load.space == Space::Param && load.address.base == Base::Absolute && inside
        }
        _ => false,
    }
}

fn invariant(op: &mut Op, writes: &HashMap<Register, u32>, known: &HashSet<Register>) -> bool {
    let mut invariant = true;
    op.visit(|file, role, slot| {
        invariant &= match role {
            Role::Source => known.contains(&(file, *slot)),
            Role::Target => writes.get(&(file, *slot)) == Some(&1),
        };
    });
    invariant
}

/// Removes instructions, and adjusts the targets of branches.
fn compact(body: &mut Body, keep: &[bool]) {
    let mut position = body.start;
    let mut moved: Vec<u32> = Vec::with_capacity(keep.len() + 1);
    for keep in keep {
        moved.push(position);
        position += u32::from(*keep);
    }
    moved.push(position);
    let target = |old: u32| moved[(old - body.start) as usize];
    for instruction in &mut body.instructions {
        instruction.op.retarget(target);
    }
    let mut index = 0;
    body.instructions.retain(|_| {
        index += 1;
        keep[index - 1]
    });
    index = 0;
    body.lines.retain(|_| {
        index += 1;
        keep[index - 1]
    });
}
