//! Video instructions, and packed integers.

use graph_ptx::ast::{Operand, Type};

use super::Result;
use super::compare::COMPARISONS;
use super::reader::Reader;
use crate::code::{DISCARD, LaneOp, Op, Part, Slot, Source, Then, Video, VideoOp};

/// `vadd`, `vmad`, `vset4` and so on.
pub(super) fn video(reader: &mut Reader<'_, '_>) -> Result<Op> {
    let opcode = reader.opcode;
    let (name, lanes) = match opcode.as_bytes().last() {
        Some(b'2') => (&opcode[..opcode.len() - 1], 2),
        Some(b'4') => (&opcode[..opcode.len() - 1], 4),
        _ => (opcode, 1),
    };
    let op = video_op(name, reader)?;
    let signed = name != "vset" && is_signed(reader)?;
    let (a_signed, b_signed) = (is_signed(reader)?, is_signed(reader)?);
    let saturate = reader.take("sat");
    let uses = [("add", Then::Add), ("min", Then::Min), ("max", Then::Max)];
    let then = reader.take_any(&uses).unwrap_or(Then::Nothing);
    if lanes != 1 && !matches!(then, Then::Nothing | Then::Add) {
        return Err("unknown form of the instruction".to_owned());
    }
    let (d, merge) = target(lanes, reader)?;
    let (a, b) = (source(1, a_signed, reader)?, source(2, b_signed, reader)?);
    let c = match reader.operands.get(3) {
        Some(_) => reader.source32(3)?,
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
    if needs_c && c == DISCARD || reader.operands.len() > 4 {
        return Err("the third operand is missing, or too many".to_owned());
    }
    Ok(LaneOp::Video(Box::new(Video {
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
    }))
    .into())
}

fn is_signed(reader: &mut Reader<'_, '_>) -> Result<bool> {
    reader.first_of(&[("s32", true), ("u32", false)], "`.s32` or `.u32` is missing")
}

fn video_op(name: &str, reader: &mut Reader<'_, '_>) -> Result<VideoOp> {
    Ok(match name {
        "vadd" => VideoOp::Add,
        "vsub" => VideoOp::Sub,
        "vavrg" => VideoOp::Average,
        "vabsdiff" => VideoOp::AbsoluteDifference,
        "vmin" => VideoOp::Min,
        "vmax" => VideoOp::Max,
        "vset" => VideoOp::Set(reader.one_of(&COMPARISONS, "unknown comparison")?),
        "vshl" => VideoOp::ShiftLeft {
            clamp: reader.clamps()?,
        },
        "vshr" => VideoOp::ShiftRight {
            clamp: reader.clamps()?,
        },
        "vmad" => VideoOp::Mad {
            plus_one: reader.take("po"),
            shift: reader.take_any(&[("shr7", 7), ("shr15", 15)]).unwrap_or(0),
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

fn source(index: usize, signed: bool, reader: &mut Reader<'_, '_>) -> Result<Source> {
    let (slot, part) = match reader.operand(index)? {
        Operand::Part(register, name) => (reader.scope.source32(&Operand::Register(*register))?, part(name)?),
        operand => (reader.scope.source32(operand)?, Part::ALL),
    };
    Ok(Source { slot, part, signed })
}

/// The destination, and the part of it that is replaced: one part, or several parallel lanes (`.b210`).
fn target(lanes: u8, reader: &mut Reader<'_, '_>) -> Result<(Slot, Option<Then>)> {
    let Operand::Part(register, name) = reader.operand(0)? else {
        return Ok((reader.target(0, Type::B32)?, None));
    };
    let d = reader.scope.target(&Operand::Register(*register), Type::B32)?;
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
pub(super) fn packed(reader: &mut Reader<'_, '_>) -> Result<Option<Op>> {
    let relu_only = reader.has("relu") && reader.has("s32");
    let types = [("s16x2", (2, true)), ("u16x2", (2, false)), ("s32", (1, true))];
    let types = if relu_only { &types[2..] } else { &types[..2] };
    let Some((lanes, signed)) = reader.take_any(types) else {
        return Ok(None);
    };
    let op = match reader.opcode {
        "add" => VideoOp::Add,
        "min" => VideoOp::Min,
        "max" => VideoOp::Max,
        _ => return Err("unknown form of the instruction".to_owned()),
    };
    let relu = reader.take("relu");
    if relu && (!signed || op == VideoOp::Add) {
        return Err("a modifier does not go with the type".to_owned());
    }
    Ok(Some(
        LaneOp::Video(Box::new(Video {
            op,
            lanes,
            a: source(1, signed, reader)?,
            b: source(2, signed, reader)?,
            c: DISCARD,
            signed,
            saturate: reader.take("sat"),
            relu,
            then: Then::Nothing,
            d: reader.target(0, Type::B32)?,
        }))
        .into(),
    ))
}

/// `cvt.pack.sat.s8.s32.b32 d, a, b, c`
pub(super) fn cvt_pack(reader: &mut Reader<'_, '_>) -> Result<Op> {
    reader.expect("sat")?;
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
    let (signed, bits) = reader.one_of(&types, "unknown type")?;
    reader.expect("s32")?;
    let c = if reader.take("b32") {
        reader.source32(3)?
    } else {
        DISCARD
    };
    if (c == DISCARD) != (bits == 16) || reader.operands.len() > 4 {
        return Err("unknown form of the instruction".to_owned());
    }
    Ok(LaneOp::Video(Box::new(Video {
        op: VideoOp::Pack { bits },
        lanes: 1,
        a: source(1, true, reader)?,
        b: source(2, true, reader)?,
        c,
        signed,
        saturate: true,
        relu: false,
        then: Then::Nothing,
        d: reader.target(0, Type::B32)?,
    }))
    .into())
}
