//! Bit manipulation: each form, and the widths of its operands.

use graph_ptx::ast::{Operand, Type};

use super::Result;
use super::reader::Reader;
use crate::code::{Bits, BitsOp, LaneOp, Op, PrmtMode};

/// Bit manipulation.
pub(super) fn bits(reader: &mut Reader<'_, '_>) -> Result<Op> {
    const B32: Type = Type::B32;
    let (op, wide) = bits_op(reader)?;
    let value = if wide { Type::B64 } else { B32 };
    // The types of the destination and of the sources.
    let types: &[Type] = match op {
        BitsOp::Popc | BitsOp::Clz | BitsOp::Bfind { .. } => &[B32, value],
        BitsOp::Brev => &[value, value],
        BitsOp::Bfe { .. } => &[value, value, B32, B32],
        BitsOp::Bfi => &[value, value, value, B32, B32],
        BitsOp::Bmsk { .. } | BitsOp::Szext { .. } => &[B32; 3],
        BitsOp::Lop3(_) | BitsOp::Funnel { .. } | BitsOp::Prmt(_) | BitsOp::Fns => &[B32; 4],
        BitsOp::Dp4a { .. } | BitsOp::Dp2a { .. } => &[B32; 4],
    };
    let d = reader.target(0, types[0])?;
    let s = reader.sources(&types[1..])?;
    Ok(LaneOp::Bits(Bits { op, wide, d, s }).into())
}

/// The operation, and whether it is one of 64 bits.
fn bits_op(reader: &mut Reader<'_, '_>) -> Result<(BitsOp, bool)> {
    let opcode = reader.opcode;
    let op = match opcode {
        "shf" => BitsOp::Funnel {
            left: reader.one_of(&[("l", true), ("r", false)], "`.l` or `.r` is missing")?,
            clamp: reader.clamps()?,
        },
        "prmt" => BitsOp::Prmt(prmt_mode(reader)),
        "lop3" => match reader.operands.get(4) {
            Some(Operand::Integer(table)) if reader.operands.len() == 5 => BitsOp::Lop3(*table as u8),
            _ => return Err("this form is not supported".to_owned()),
        },
        "fns" => BitsOp::Fns,
        "bmsk" => BitsOp::Bmsk {
            clamp: reader.clamps()?,
        },
        "szext" => {
            let (clamp, signed) = (reader.clamps()?, reader.ty()? == Type::S32);
            return Ok((BitsOp::Szext { signed, clamp }, false));
        }
        "dp4a" | "dp2a" => {
            let high = reader.take_any(&[("hi", true), ("lo", false)]).unwrap_or(false);
            let (a_signed, b_signed) = (reader.ty()? == Type::S32, reader.ty()? == Type::S32);
            let op = match opcode {
                "dp4a" => BitsOp::Dp4a { a_signed, b_signed },
                _ => BitsOp::Dp2a {
                    a_signed,
                    b_signed,
                    high,
                },
            };
            return Ok((op, false));
        }
        _ => return sized(reader),
    };
    reader.expect("b32")?;
    Ok((op, false))
}

/// Operations of 32 or 64 bits.
fn sized(reader: &mut Reader<'_, '_>) -> Result<(BitsOp, bool)> {
    let shift = reader.take("shiftamt");
    let ty = reader.ty()?;
    let signed = matches!(ty, Type::S32 | Type::S64);
    let op = match reader.opcode {
        "popc" => BitsOp::Popc,
        "clz" => BitsOp::Clz,
        "brev" => BitsOp::Brev,
        "bfind" => BitsOp::Bfind { signed, shift },
        "bfe" => BitsOp::Bfe { signed },
        "bfi" => BitsOp::Bfi,
        _ => return Err("unknown form of the instruction".to_owned()),
    };
    match ty.size() {
        4 => Ok((op, false)),
        8 => Ok((op, true)),
        _ => Err("unknown form of the instruction".to_owned()),
    }
}

fn prmt_mode(reader: &mut Reader<'_, '_>) -> PrmtMode {
    let modes = [
        ("f4e", PrmtMode::F4e),
        ("b4e", PrmtMode::B4e),
        ("rc8", PrmtMode::Rc8),
        ("ecl", PrmtMode::Ecl),
        ("ecr", PrmtMode::Ecr),
        ("rc16", PrmtMode::Rc16),
    ];
    reader.take_any(&modes).unwrap_or(PrmtMode::Index)
}
