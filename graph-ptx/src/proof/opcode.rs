//! Instructions by their names and modifiers.

use super::value::{Int, int};
use crate::ast::{Instruction, Operand, Type};

/// The types that the modifiers of an instruction name, in order; `None` for those that are not of integers.
pub(super) fn types(instruction: &Instruction) -> Vec<Option<Int>> {
    let types = instruction
        .modifiers
        .iter()
        .filter(|modifier| Type::named(modifier).is_some());
    types.map(|modifier| int(modifier)).collect()
}

/// Whether all threads of the block wait at a barrier, which is not one of a warp. With more operands, or a number in a
/// register, only some may wait.
pub(super) fn is_of_block(barrier: &Instruction) -> bool {
    let waits = match &barrier.operands[..] {
        [Operand::Integer(0)] => barrier.has("sync"),
        [_, Operand::Integer(0), _] => barrier.has("red"),
        _ => false,
    };
    waits && !barrier.has("cluster")
}

/// Whether all threads of the block wait at an instruction.
pub(super) fn is_barrier(instruction: &Instruction) -> bool {
    let is_barrier = matches!(instruction.opcode.as_str(), "bar" | "barrier") && !instruction.has("warp");
    is_barrier && is_of_block(instruction) && instruction.guard.is_none()
}

/// Instructions that touch no memory, and whose results are any numbers.
pub(super) const OTHERS: &[&str] = &[
    "activemask",
    "addc",
    "bfi",
    "bfind",
    "bmsk",
    "brev",
    "clz",
    "cnot",
    "copysign",
    "cos",
    "createpolicy",
    "dp2a",
    "dp4a",
    "elect",
    "ex2",
    "fma",
    "fns",
    "getctarank",
    "isspacep",
    "istypep",
    "lg2",
    "lop3",
    "madc",
    "match",
    "mma",
    "movmatrix",
    "mul24",
    "mad24",
    "popc",
    "prmt",
    "rcp",
    "redux",
    "rsqrt",
    "sad",
    "set",
    "shf",
    "shfl",
    "sin",
    "slct",
    "sqrt",
    "subc",
    "suq",
    "szext",
    "tanh",
    "testp",
    "txq",
    "vote",
    "tex",
    "tld4",
    "suld",
    "vadd",
    "vsub",
    "vabsdiff",
    "vmin",
    "vmax",
    "vset",
    "vshl",
    "vshr",
    "vmad",
    "vadd2",
    "vsub2",
    "vavrg2",
    "vabsdiff2",
    "vmin2",
    "vmax2",
    "vset2",
    "vadd4",
    "vsub4",
    "vavrg4",
    "vabsdiff4",
    "vmin4",
    "vmax4",
    "vset4",
];

/// Instructions that touch no memory that could be left, and have no results.
pub(super) const HARMLESS: &[&str] = &[
    "bra",
    "brx",
    "ret",
    "exit",
    "trap",
    "brkpt",
    "membar",
    "fence",
    "nanosleep",
    "pmevent",
    "prefetch",
    "prefetchu",
    "setmaxnreg",
    "griddepcontrol",
    "sust",
    "bar",
    "barrier",
];
