//! The instructions that older devices do not have, by the rules of `ptxas`.

use crate::ast::{Instruction, Operand, each_leaf};

/// Returns the reason why the devices of a module's `.target` do not have an instruction.
pub(super) fn refusal(instruction: &Instruction, target: &str) -> Option<String> {
    let modifiers = instruction.modifiers.iter();
    let modifiers = modifiers.map(|name| modifier(name, &instruction.opcode)).max();
    let needed = opcode(&instruction.opcode)
        .max(combination(instruction))
        .max(modifiers.unwrap_or(0));
    let (needed, register) = match special(instruction) {
        Some((register, name)) if register > needed => (register, Some(name)),
        _ => (needed, None),
    };
    if needed == 0 {
        return None;
    }
    let digits = target.trim_start_matches("sm_");
    let digits = digits.trim_end_matches(|last: char| last.is_ascii_alphabetic());
    let given: u32 = digits.parse().ok()?;
    if given >= needed {
        return None;
    }
    let name = register.map_or_else(|| text(instruction), str::to_owned);
    Some(format!(
        "`{name}` needs `.target sm_{needed}` or higher, and this module is for `{target}`"
    ))
}

/// An instruction's opcode and modifiers, as written.
fn text(instruction: &Instruction) -> String {
    let modifiers = instruction.modifiers.iter();
    modifiers.fold(instruction.opcode.clone(), |text, modifier| text + "." + modifier)
}

/// The oldest target that has the opcode.
fn opcode(opcode: &str) -> u32 {
    match opcode {
        "stmatrix" | "elect" | "griddepcontrol" | "mapa" | "getctarank" | "multimem" => 90,
        "redux" | "mbarrier" | "createpolicy" | "discard" | "applypriority" => 80,
        "ldmatrix" | "movmatrix" | "tanh" => 75,
        "bmsk" | "szext" | "match" | "nanosleep" | "fence" | "mma" | "wmma" => 70,
        "dp4a" | "dp2a" => 61,
        _ => 0,
    }
}

/// The oldest target that has the modifier after the opcode.
fn modifier(modifier: &str, opcode: &str) -> u32 {
    // The most frequent ones, which every target has.
    if let [b'b' | b's' | b'u', b'3', b'2'] | [b'b' | b's' | b'u', b'6', b'4'] | b"f32" | b"pred" = modifier.as_bytes()
    {
        return 0;
    }
    match (modifier, opcode) {
        ("cluster" | "shared::cluster" | "bulk" | "bulk_group" | "tensormap" | "tensormap::generic", _)
        | ("expect_tx" | "complete_tx" | "try_wait" | "oob", _)
        | ("bf16" | "bf16x2", "add" | "sub" | "mul" | "ex2" | "tanh" | "set" | "setp" | "atom" | "red")
        | ("s16x2" | "u16x2", "add" | "min" | "max")
        | ("v2" | "v4" | "v8", "atom" | "red")
        | ("async" | "mbarrier_init", "fence" | "st" | "red") => 90,
        ("e4m3" | "e5m2" | "e4m3x2" | "e5m2x2", _) => 89,
        ("xorsign", _) => 86,
        ("bf16" | "bf16x2" | "tf32" | "relu" | "L2::cache_hint", _)
        | ("m16n8k4" | "m16n8k16" | "m16n8k32" | "m16n8k64" | "m16n8k128" | "m16n8k256", "mma")
        | ("f64", "mma" | "wmma")
        | ("f16" | "f16x2" | "NaN", "min" | "max")
        | ("async", "cp")
        | ("L2::256B", "ld")
        | ("L2::evict_last" | "L2::evict_normal", "prefetch") => 80,
        ("s4" | "u4" | "s2" | "u2" | "b1", "cvt" | "mma" | "wmma")
        | ("m8n8k16" | "m8n8k32" | "m8n8k128" | "m16n8k8", "mma")
        | ("L2::64B" | "L2::128B", "ld")
        | ("f16" | "f16x2", "ex2") => 75,
        ("pack", "cvt") | ("s8" | "u8", "wmma") => 72,
        ("f16" | "b16", "atom" | "red")
        | ("relaxed" | "acquire" | "release" | "acq_rel" | "weak" | "mmio", "ld" | "st" | "atom" | "red")
        | ("L1::no_allocate" | "L1::evict_first" | "L1::evict_last", "ld" | "st")
        | ("L1::evict_normal" | "L1::evict_unchanged", "ld" | "st")
        | ("param" | "param::entry", "cvta" | "isspacep")
        | ("or" | "and", "lop3") => 70,
        ("f64" | "f16x2" | "cta" | "gpu" | "sys", "atom" | "red") => 60,
        ("f16" | "f16x2", "add" | "sub" | "mul" | "fma" | "abs" | "neg" | "set" | "setp") => 53,
        _ => 0,
    }
}

/// The oldest target that has several modifiers together, or the number of operands.
fn combination(instruction: &Instruction) -> u32 {
    let has = |modifier: &str| instruction.has(modifier);
    match instruction.opcode.as_str() {
        "mma" if has("f64") && !has("m8n8k4") => 90,
        "min" | "max" if has("relu") && has("s32") => 90,
        "mbarrier" if has("noComplete") || instruction.operands.len() != 3 => 0,
        "mbarrier" if has("arrive") || has("arrive_drop") => 90,
        "cvt" if (has("tf32") && !has("rna")) || (has("bf16") && !has("f32")) => 90,
        "cvt" if has("f16x2") && has("f32") => 80,
        _ => 0,
    }
}

/// The special register of an instruction that older targets do not have, and the oldest one that has it.
fn special(instruction: &Instruction) -> Option<(u32, &str)> {
    let newest = ["%cluster", "%ncluster", "%is_explicit_cluster", "%aggr_smem_size"];
    let mut found = None;
    each_leaf(&instruction.operands, &mut |leaf| {
        if let Operand::Special(name) = leaf {
            if newest.iter().any(|prefix| name.starts_with(prefix)) {
                found = Some((90, name.as_str()));
            } else if name.starts_with("%reserved_smem_offset") {
                found = Some((80, name));
            }
        }
    });
    found
}
