//! Hoisting: instructions that compute the same in every block move into a prologue, which a worker executes once.
//!
//! An instruction moves if it cannot fault, has no guard, is the only one to write its registers, and reads nothing but
//! literals, parameters, the thread's position in the block, and registers that moved instructions write. A copy of a
//! literal or of a special register disappears: its target holds the same from the beginning.

use super::Decoded;
use super::scope::{Constant, Constants};
use crate::code::{Base, File, FrameSize, Instruction, LaneOp, MemoryOp, Move, Op, Register, Role, Space, Special};

/// Moves the instructions that can move, and returns them. `start` is the index of the first instruction, `frame` has
/// all registers, and `parameters` is the number of bytes of the kernel's parameters.
pub(super) fn hoist(
    body: &mut Vec<Decoded>,
    start: u32,
    frame: FrameSize,
    constants: &mut Constants,
    parameters: u32,
) -> Vec<Decoded> {
    let mut writes = vec![0u32; frame.registers().count()];
    for target in body.iter().flat_map(Decoded::targets) {
        writes[frame.index(target)] += 1;
    }
    let written_once = |register: Register| writes[frame.index(register)] == 1;
    remove_copies(body, constants, written_once);
    let mut known = vec![false; writes.len()];
    for (&register, constant) in constants.iter() {
        known[frame.index(register)] = !matches!(constant, Constant::Special(Special::Position(_)));
    }
    let mut prologue = Vec::new();
    for decoded in body.iter_mut() {
        let moves = decoded.instruction.guard.is_none()
            && is_pure(&decoded.instruction.op, parameters.into())
            && decoded.operands.iter().all(|&(file, role, slot)| match role {
                Role::Source => known[frame.index((file, slot))],
                Role::Target => written_once((file, slot)),
            });
        if moves {
            decoded.targets().for_each(|target| known[frame.index(target)] = true);
            prologue.push(std::mem::take(decoded));
        }
    }
    compact(body, start);
    prologue
}

/// Removes `mov d, a` if `a` is a literal or a special register and nothing else writes `d`, which then holds the same.
fn remove_copies(body: &mut [Decoded], constants: &mut Constants, written_once: impl Fn(Register) -> bool) {
    for decoded in body {
        let (None, &Op::Lanes(LaneOp::Move(Move::Copy { wide, d, a }))) =
            (decoded.instruction.guard, &decoded.instruction.op)
        else {
            continue;
        };
        let file = if wide { File::R64 } else { File::R32 };
        if let Some(&constant) = constants.get(&(file, a)).filter(|_| written_once((file, d))) {
            constants.insert((file, d), constant);
            *decoded = Decoded::default();
        }
    }
}

/// Whether an instruction changes nothing but registers, and cannot fault.
fn is_pure(op: &Op, parameters: u64) -> bool {
    match op {
        Op::Lanes(op) => matches!(
            op,
            LaneOp::Integer(_)
                | LaneOp::Bits(_)
                | LaneOp::Float(_)
                | LaneOp::Math(_)
                | LaneOp::Convert(_)
                | LaneOp::Move(_)
        ),
        Op::Memory(MemoryOp::Load(load)) => {
            let bytes = u64::from(load.total());
            let start = load.address.offset as u64;
            let inside = start.checked_add(bytes).is_some_and(|end| end <= parameters) && start.is_multiple_of(bytes);
            load.space == Space::Param && load.address.base == Base::Absolute && inside
        }
        _ => false,
    }
}

/// Removes the instructions without effect, and adjusts the targets of branches.
fn compact(body: &mut Vec<Decoded>, start: u32) {
    let mut position = start;
    let mut moved: Vec<u32> = Vec::with_capacity(body.len() + 1);
    for decoded in body.iter() {
        moved.push(position);
        position += u32::from(decoded.has_effect());
    }
    moved.push(position);
    body.retain(Decoded::has_effect);
    for Decoded {
        instruction: Instruction { op, .. },
        ..
    } in body
    {
        op.retarget(|old| moved[(old - start) as usize]);
    }
}
