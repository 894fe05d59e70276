//! Video instructions, and packed integers.

use graph_ptx::ast::{Operand, Type};

use super::Result;
use super::compare::COMPARISONS;
use super::modifiers::Modifiers;
use super::operand::operand;
use super::scope::Scope;
use crate::code::{Comparison, DISCARD, Op, Part, Slot, Source, Then, Video, VideoOp};

/// `vadd`, `vmad`, `vset4` and so on.
pub(super) fn video(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let opcode = modifiers.opcode;
    let (name, lanes) = match opcode.as_bytes().last() {
        Some(b'2') => (&opcode[..opcode.len() - 1], 2),
        Some(b'4') => (&opcode[..opcode.len() - 1], 4),
        _ => (opcode, 1),
    };
    let comparison = if name == "vset" {
        // `.lo`, `.hi` and their like are comparisons of other instructions.
        modifiers.take_any(&COMPARISONS).ok_or("unknown comparison")?
    } else {
        Comparison::Eq
    };
    let signed = if name == "vset" { false } else { is_signed(modifiers)? };
    let (a_signed, b_signed) = (is_signed(modifiers)?, is_signed(modifiers)?);
    let saturate = modifiers.take("sat");
    let op = video_op(name, comparison, modifiers)?;
    let then = modifiers
        .take_any(&[("add", Then::Add), ("min", Then::Min), ("max", Then::Max)])
        .unwrap_or(Then::Nothing);
    if lanes != 1 && !matches!(then, Then::Nothing | Then::Add) {
        return Err("unknown form of the instruction".to_owned());
    }
    let (d, merge) = target(operand(operands, 0)?, lanes, scope)?;
    let a = source(operand(operands, 1)?, a_signed, scope)?;
    let b = source(operand(operands, 2)?, b_signed, scope)?;
    let c = match operands.get(3) {
        Some(operand) => scope.source32(operand)?,
        None => DISCARD,
    };
    if lanes != 1 && (a.part != Part::ALL || b.part != Part::ALL) {
        return Err("a selection of parts is not supported here".to_owned());
    }
    let then = match merge {
        Some(_) if then != Then::Nothing => return Err("unknown form of the instruction".to_owned()),
        Some(merge) => merge,
        None => then,
    };
    let needs_c = then != Then::Nothing || matches!(op, VideoOp::Mad { .. });
    if needs_c && c == DISCARD || operands.len() > 4 {
        return Err("the third operand is missing, or too many".to_owned());
    }
    Ok(Op::Video(Box::new(Video {
        op,
        lanes,
        a,
        b,
        c,
        signed,
        saturate,
        relu: false,
        then,
        d,
    })))
}

fn is_signed(modifiers: &mut Modifiers<'_>) -> Result<bool> {
    modifiers
        .take_first(&[("s32", true), ("u32", false)])
        .ok_or_else(|| "`.s32` or `.u32` is missing".to_owned())
}

fn video_op(name: &str, comparison: Comparison, modifiers: &mut Modifiers<'_>) -> Result<VideoOp> {
    let mut clamp = || {
        modifiers
            .take_any(&[("clamp", true), ("wrap", false)])
            .ok_or("`.clamp` or `.wrap` is missing")
    };
    Ok(match name {
        "vadd" => VideoOp::Add,
        "vsub" => VideoOp::Sub,
        "vavrg" => VideoOp::Average,
        "vabsdiff" => VideoOp::AbsoluteDifference,
        "vmin" => VideoOp::Min,
        "vmax" => VideoOp::Max,
        "vset" => VideoOp::Set(comparison),
        "vshl" => VideoOp::ShiftLeft { clamp: clamp()? },
        "vshr" => VideoOp::ShiftRight { clamp: clamp()? },
        "vmad" => VideoOp::Mad {
            plus_one: modifiers.take("po"),
            shift: modifiers.take_any(&[("shr7", 7), ("shr15", 15)]).unwrap_or(0),
        },
        _ => return Err("unknown instruction".to_owned()),
    })
}

/// `.b0` to `.b3`, `.h0`, `.h1`
fn part(name: &str) -> Result<Part> {
    let (start, bits) = match name {
        "b0" => (0, 8),
        "b1" => (8, 8),
        "b2" => (16, 8),
        "b3" => (24, 8),
        "h0" => (0, 16),
        "h1" => (16, 16),
        _ => return Err(format!("a selection of parts `.{name}` is not supported here")),
    };
    Ok(Part { start, bits })
}

fn source(operand: &Operand, signed: bool, scope: &mut Scope<'_>) -> Result<Source> {
    let (slot, part) = match operand {
        Operand::Part(register, name) => (scope.source32(&Operand::Register(*register))?, part(name)?),
        operand => (scope.source32(operand)?, Part::ALL),
    };
    Ok(Source { slot, part, signed })
}

/// The destination, and the part of it that is replaced: one part, or several parallel lanes (`.b210`).
fn target(operand: &Operand, lanes: u8, scope: &Scope<'_>) -> Result<(Slot, Option<Then>)> {
    let Operand::Part(register, name) = operand else {
        return Ok((scope.target(operand, Type::B32)?, None));
    };
    let d = scope.target(&Operand::Register(*register), Type::B32)?;
    if lanes == 1 {
        return Ok((d, Some(Then::Merge(part(name)?))));
    }
    let digits = name
        .strip_prefix(if lanes == 2 { 'h' } else { 'b' })
        .ok_or("unknown mask")?;
    let mut mask = 0;
    for digit in digits.bytes() {
        let lane = digit.wrapping_sub(b'0');
        if lane >= lanes {
            return Err("unknown mask".to_owned());
        }
        mask |= 1 << lane;
    }
    Ok((d, Some(Then::Lanes(mask))))
}

/// `add`, `min` and `max` of `.s16x2` and `.u16x2`; `min.relu.s32`.
pub(super) fn packed(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Option<Op>> {
    let relu_only = modifiers.has("relu") && modifiers.has("s32");
    let types = [("s16x2", (2, true)), ("u16x2", (2, false)), ("s32", (1, true))];
    let types = if relu_only { &types[2..] } else { &types[..2] };
    let Some((lanes, signed)) = modifiers.take_any(types) else {
        return Ok(None);
    };
    let op = match modifiers.opcode {
        "add" => VideoOp::Add,
        "min" => VideoOp::Min,
        "max" => VideoOp::Max,
        _ => return Err("unknown form of the instruction".to_owned()),
    };
    let relu = modifiers.take("relu");
    if relu && (!signed || op == VideoOp::Add) {
        return Err("a modifier does not go with the type".to_owned());
    }
    Ok(Some(Op::Video(Box::new(Video {
        op,
        lanes,
        a: source(operand(operands, 1)?, signed, scope)?,
        b: source(operand(operands, 2)?, signed, scope)?,
        c: DISCARD,
        signed,
        saturate: modifiers.take("sat"),
        relu,
        then: Then::Nothing,
        d: scope.target(operand(operands, 0)?, Type::B32)?,
    }))))
}

/// `cvt.pack.sat.s8.s32.b32 d, a, b, c`
pub(super) fn cvt_pack(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    modifiers.expect("sat")?;
    let types = [
        ("s16", (true, 16)),
        ("u16", (false, 16)),
        ("s8", (true, 8)),
        ("u8", (false, 8)),
        ("s4", (true, 4)),
        ("u4", (false, 4)),
        ("s2", (true, 2)),
        ("u2", (false, 2)),
    ];
    let (signed, bits) = modifiers.take_any(&types).ok_or("unknown type")?;
    modifiers.expect("s32")?;
    let c = if modifiers.take("b32") {
        scope.source32(operand(operands, 3)?)?
    } else {
        DISCARD
    };
    if (c == DISCARD) != (bits == 16) || operands.len() > 4 {
        return Err("unknown form of the instruction".to_owned());
    }
    Ok(Op::Video(Box::new(Video {
        op: VideoOp::Pack { bits },
        lanes: 1,
        a: source(operand(operands, 1)?, true, scope)?,
        b: source(operand(operands, 2)?, true, scope)?,
        c,
        signed,
        saturate: true,
        relu: false,
        then: Then::Nothing,
        d: scope.target(operand(operands, 0)?, Type::B32)?,
    })))
}
