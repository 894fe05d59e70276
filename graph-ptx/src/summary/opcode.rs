//! The effect of each instruction on addresses.

use super::{Through, Way};
use crate::Geometry;
use crate::ast::{Base, Instruction, Operand, Type, each_leaf};

/// The effect of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// The destination follows from the values of the sources; memory is left alone.
    Compute(Computation),
    /// A read of memory.
    Load,
    /// A write of memory.
    Store,
    /// A read and a write of memory in one; the destination is the value read.
    Atomic,
    /// A copy from the memory of the second operand to the memory of the first.
    Move,
    /// A function call.
    Call,
    /// No effect on values or on memory that a graph knows.
    Nothing,
    /// Any effect: every operand is taken to be read and written.
    Unknown,
}

/// The way in which the destination of an instruction follows from its sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Computation {
    /// One of the sources, unchanged.
    Copy,
    /// The first two added.
    Add,
    /// The first minus the second.
    Subtract,
    /// The product of the first two and the third added.
    MultiplyAdd,
    /// `and`, `or`, `xor`.
    Combine,
    /// `selp`, `min`, `max`: one of the first two.
    Select,
    /// `cvta`: the same address in another space.
    Convert,
    /// `cvt`: the source, if nothing is cut off.
    Resize,
    /// A result without bits of its sources (votes, comparisons, texture reads).
    Fresh,
    /// An address of shared memory.
    Shared,
    /// Any function of the sources.
    Mix,
}

impl Action {
    /// Whether the instruction reads or writes memory, or calls code that may.
    pub(super) fn touches_memory(self) -> bool {
        match self {
            Action::Load | Action::Store | Action::Atomic | Action::Move | Action::Call | Action::Unknown => true,
            Action::Compute(_) | Action::Nothing => false,
        }
    }

    /// The number of operands, from the first, that the instruction writes. An unknown instruction may write all.
    pub(super) fn results(self, operands: &[Operand]) -> usize {
        match self {
            Action::Unknown => operands.len(),
            Action::Nothing | Action::Store | Action::Move => 0,
            Action::Call => usize::from(matches!(operands.first(), Some(Operand::Vector(_)))),
            Action::Compute(_) | Action::Load | Action::Atomic => operands.len().min(1),
        }
    }
}

/// Returns the action of `instruction`.
pub(super) fn action(instruction: &Instruction) -> Action {
    let has = |modifier: &str| instruction.has(modifier);
    match instruction.opcode.as_str() {
        "mov" if has("v2") || has("v4") => Action::Compute(Computation::Copy),
        "mov" if is_packing(instruction) => Action::Compute(Computation::Mix),
        "mov" | "shfl" => Action::Compute(Computation::Copy),
        "add" if has("cc") => Action::Compute(Computation::Mix),
        "add" => Action::Compute(Computation::Add),
        "sub" if has("cc") => Action::Compute(Computation::Mix),
        "sub" => Action::Compute(Computation::Subtract),
        "mad" if has("hi") || has("cc") => Action::Compute(Computation::Mix),
        "mad" | "mad24" => Action::Compute(Computation::MultiplyAdd),
        "and" | "or" | "xor" => Action::Compute(Computation::Combine),
        "selp" | "slct" | "min" | "max" => Action::Compute(Computation::Select),
        "cvta" => Action::Compute(Computation::Convert),
        "cvt" => Action::Compute(Computation::Resize),
        "mapa" => Action::Compute(Computation::Shared),
        "tcgen05" if has("alloc") => Action::Store,
        "clusterlaunchcontrol" if has("try_cancel") => Action::Store,
        "clusterlaunchcontrol" => Action::Compute(Computation::Fresh),
        "setp" | "set" | "vote" | "activemask" | "elect" | "isspacep" | "testp" | "getctarank" | "match" | "txq"
        | "suq" | "istypep" | "createpolicy" | "ldmatrix" | "mma" | "wgmma" | "tcgen05" | "mbarrier" => {
            Action::Compute(Computation::Fresh)
        }
        "addc" | "subc" | "madc" | "mul" | "mul24" | "div" | "rem" | "abs" | "neg" | "not" | "cnot" | "shl" | "shr"
        | "shf" | "bfe" | "bfi" | "bfind" | "brev" | "popc" | "clz" | "fns" | "prmt" | "lop3" | "sad" | "szext"
        | "bmsk" | "dp2a" | "dp4a" | "fma" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh"
        | "copysign" | "redux" | "movmatrix" => Action::Compute(Computation::Mix),
        "ld" | "ldu" => Action::Load,
        "wmma" if has("load") => Action::Load,
        "wmma" if has("store") => Action::Store,
        "wmma" => Action::Compute(Computation::Fresh),
        "multimem" if has("ld_reduce") => Action::Load,
        "st" | "stmatrix" | "discard" | "multimem" => Action::Store,
        "atom" | "red" | "tensormap" if !has("cp_fenceproxy") => Action::Atomic,
        "tensormap" => Action::Move,
        "cp" if has("prefetch") || !instruction.operands.iter().any(|operand| address_of(operand).is_some()) => {
            Action::Nothing
        }
        "cp" if has("mbarrier") => Action::Nothing,
        "cp" => Action::Move,
        "call" => Action::Call,
        "bra" | "brx" | "ret" | "exit" | "trap" | "brkpt" | "bar" | "barrier" | "membar" | "fence" | "nanosleep"
        | "pmevent" | "prefetch" | "prefetchu" | "applypriority" | "setmaxnreg" | "griddepcontrol" | "stackrestore" => {
            Action::Nothing
        }
        "tex" | "tld4" | "suld" if through(instruction).is_some() => Action::Load,
        "sust" if through(instruction).is_some() => Action::Store,
        // Others: the handle names memory that no graph knows.
        "tex" | "tld4" | "suld" | "sust" | "sured" => Action::Unknown,
        "stacksave" | "alloca" => Action::Unknown,
        "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vset" | "vshl" | "vshr" | "vmad" | "vadd2" | "vsub2"
        | "vavrg2" | "vabsdiff2" | "vmin2" | "vmax2" | "vset2" | "vadd4" | "vsub4" | "vavrg4" | "vabsdiff4"
        | "vmin4" | "vmax4" | "vset4" => Action::Compute(Computation::Mix),
        _ => Action::Unknown,
    }
}

/// The form of an access through a handle in a register: `tex.2d.v4.f32.f32 {..}, [handle, {x, y}]`.
pub(super) fn through(instruction: &Instruction) -> Option<Through> {
    let (way, place) = match &*instruction.opcode {
        "tex" => (Way::Fetch, 1),
        "tld4" => (Way::Gather, 1),
        "suld" => (Way::Load, 1),
        "sust" => (Way::Store, 0),
        _ => return None,
    };
    let Operand::Vector(parts) = instruction.operands.get(place)? else {
        return None;
    };
    let [Operand::Address(Base::Register(_), 0), _] = &parts[..] else {
        return None;
    };
    let modifiers: Vec<&str> = instruction.modifiers.iter().map(String::as_str).collect();
    let outside = |mode: &str| matches!(mode, "trap" | "clamp" | "zero");
    let geometry = match (way, &modifiers[..]) {
        (Way::Fetch, ["1d", "v4", _, "s32"]) => Some(Geometry::Linear),
        (Way::Fetch, ["1d", "v4", _, "f32"]) => Some(Geometry::Line),
        (Way::Fetch, ["2d", "v4", _, "s32" | "f32"]) => Some(Geometry::Plane),
        (Way::Fetch, [name @ ("a1d" | "a2d" | "3d"), "v4", _, "f32"]) => Geometry::named(name),
        (Way::Gather, ["r" | "g" | "b" | "a", "2d", "v4", _, "f32"]) => Some(Geometry::Plane),
        (Way::Load | Way::Store, ["b", name, .., mode]) if outside(mode) => Geometry::named(name),
        _ => None,
    };
    // An offset or a comparison is another operand.
    let geometry = geometry.filter(|_| instruction.operands.len() == 2);
    Some(Through { way, geometry })
}

/// The registers that an instruction writes.
pub(super) fn written(instruction: &Instruction, action: Action) -> Vec<u32> {
    let results = &instruction.operands[..action.results(&instruction.operands)];
    let mut registers = Vec::new();
    each_leaf(results, &mut |leaf| {
        if let Operand::Register(register) | Operand::Part(register, _) = leaf {
            registers.push(register.0);
        }
    });
    registers
}

/// Whether a `mov` takes a vector apart or puts one together.
fn is_packing(instruction: &Instruction) -> bool {
    let mut operands = instruction.operands.iter();
    operands.any(|operand| matches!(operand, Operand::Vector(_)))
}

/// The address in an operand: `[a]`, or the first part of `[a, {x, y}]`.
pub(super) fn address_of(operand: &Operand) -> Option<&Operand> {
    match operand {
        Operand::Address(..) => Some(operand),
        Operand::Vector(parts) => parts.first().filter(|part| matches!(part, Operand::Address(..))),
        _ => None,
    }
}

/// The width in bits of one element, from the last type among the modifiers; 0 if there is none.
pub(super) fn width(instruction: &Instruction) -> u32 {
    let bits = |modifier: &String| {
        let (kind, digits) = modifier.split_at_checked(1)?;
        matches!(kind, "b" | "u" | "s" | "f").then(|| digits.parse().ok())?
    };
    instruction.modifiers.iter().rev().find_map(bits).unwrap_or(0)
}

/// The bytes that a load or a store accesses; `None` if it does not say.
pub(super) fn extent(instruction: &Instruction) -> Option<u64> {
    let bits = width(instruction);
    matches!(bits, 8 | 16 | 32 | 64 | 128).then(|| u64::from(bits / 8) * instruction.parts())
}

/// The bytes that an instruction accesses at once; 16 if it does not say.
pub(super) fn bytes_at_once(instruction: &Instruction) -> u32 {
    let bytes = instruction.bytes_at_once();
    bytes.and_then(|bytes| u32::try_from(bytes).ok()).unwrap_or(16)
}

/// The type of the elements that an instruction accesses: the last type among the modifiers. After that of a texture,
/// the type of the coordinates follows.
pub(super) fn element_type(instruction: &Instruction) -> Option<Type> {
    let mut types = instruction
        .modifiers
        .iter()
        .filter_map(|modifier| Type::named(modifier));
    match through(instruction) {
        Some(_) => types.next(),
        None => types.next_back(),
    }
}

/// The size in bytes of the elements that an `atom` or `red` updates, each by itself; 0 if it does not say.
pub(super) fn atomic_element(instruction: &Instruction) -> u32 {
    let is_of_halves = ["f16", "f16x2", "bf16", "bf16x2"]
        .iter()
        .any(|name| instruction.has(name));
    match width(instruction) {
        _ if is_of_halves => 2,
        bits @ (16 | 32 | 64 | 128) => bits / 8,
        _ => 0,
    }
}

/// The size in bytes of the words that an `ld` or `st` accesses, each by itself, if it is strong for the whole system
/// and words have 4 or 8 bytes; else 0. (PTX ISA, "Memory Consistency Model": `volatile` is `relaxed` with `.sys`.)
pub(super) fn system_word(instruction: &Instruction) -> u32 {
    let has = |modifier: &str| instruction.has(modifier);
    let strong = has("relaxed") || has("acquire") || has("release");
    let of_system = has("volatile") || (strong && has("sys"));
    match (&*instruction.opcode, width(instruction)) {
        ("ld" | "st", bits @ (32 | 64)) if of_system && !has("async") => bits / 8,
        _ => 0,
    }
}
