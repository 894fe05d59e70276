//! Bit manipulation: each form, and the widths of its operands.

use graph_ptx::ast::{Operand, Type};

use super::Result;
use super::modifiers::Modifiers;
use super::operand::operand;
use super::scope::Scope;
use crate::code::{Bits, BitsOp, Op, PrmtMode};

/// Bit manipulation.
pub(super) fn bits(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let (op, shape) = bits_op(modifiers, operands)?;
    if operands.len() < shape.len() {
        return Err("an operand is missing".to_owned());
    }
    let d = scope.target(operand(operands, 0)?, shape[0])?;
    let mut s = [0; 4];
    for ((slot, operand), &ty) in s.iter_mut().zip(&operands[1..]).zip(&shape[1..]) {
        *slot = scope.source(operand, ty)?;
    }
    Ok(Op::Bits(Bits { op, d, s }))
}

/// The types of a destination and its sources.
type OperandTypes = &'static [Type];

const B32: Type = Type::B32;
const B64: Type = Type::B64;

fn bits_op(modifiers: &mut Modifiers<'_>, operands: &[Operand]) -> Result<(BitsOp, OperandTypes)> {
    let opcode = modifiers.opcode;
    const ONE32: OperandTypes = &[B32, B32];
    const COUNT64: OperandTypes = &[B32, B64];
    const TWO32: OperandTypes = &[B32, B32, B32];
    const THREE32: OperandTypes = &[B32, B32, B32, B32];
    Ok(match opcode {
        "shf" => {
            let left = modifiers
                .take_any(&[("l", true), ("r", false)])
                .ok_or("`.l` or `.r` is missing")?;
            let clamp = modifiers
                .take_any(&[("clamp", true), ("wrap", false)])
                .ok_or("`.clamp` or `.wrap` is missing")?;
            modifiers.expect("b32")?;
            (
                if left {
                    BitsOp::FunnelLeft { clamp }
                } else {
                    BitsOp::FunnelRight { clamp }
                },
                THREE32,
            )
        }
        "prmt" => {
            modifiers.expect("b32")?;
            (BitsOp::Prmt(prmt_mode(modifiers)), THREE32)
        }
        "lop3" => {
            modifiers.expect("b32")?;
            match operands.get(4) {
                Some(Operand::Integer(table)) if operands.len() == 5 => (BitsOp::Lop3(*table as u8), THREE32),
                _ => return Err("this form is not supported".to_owned()),
            }
        }
        "fns" => {
            modifiers.expect("b32")?;
            (BitsOp::Fns, THREE32)
        }
        "bmsk" => {
            let clamp = modifiers
                .take_any(&[("clamp", true), ("wrap", false)])
                .ok_or("`.clamp` or `.wrap` is missing")?;
            modifiers.expect("b32")?;
            (BitsOp::Bmsk { clamp }, TWO32)
        }
        "szext" => {
            let clamp = modifiers
                .take_any(&[("clamp", true), ("wrap", false)])
                .ok_or("`.clamp` or `.wrap` is missing")?;
            let signed = modifiers.ty()? == Type::S32;
            (
                if signed {
                    BitsOp::SzextS { clamp }
                } else {
                    BitsOp::SzextU { clamp }
                },
                TWO32,
            )
        }
        "dp4a" | "dp2a" => {
            let high = modifiers.take_any(&[("hi", true), ("lo", false)]).unwrap_or(false);
            let (a_signed, b_signed) = (modifiers.ty()? == Type::S32, modifiers.ty()? == Type::S32);
            match opcode {
                "dp4a" => (BitsOp::Dp4a { a_signed, b_signed }, THREE32),
                _ => (
                    BitsOp::Dp2a {
                        a_signed,
                        b_signed,
                        high,
                    },
                    THREE32,
                ),
            }
        }
        _ => {
            let shift = modifiers.take("shiftamt");
            let ty = modifiers.ty()?;
            let signed = matches!(ty, Type::S32 | Type::S64);
            match (opcode, ty.size()) {
                ("popc", 4) => (BitsOp::Popc32, ONE32),
                ("popc", 8) => (BitsOp::Popc64, COUNT64),
                ("clz", 4) => (BitsOp::Clz32, ONE32),
                ("clz", 8) => (BitsOp::Clz64, COUNT64),
                ("brev", 4) => (BitsOp::Brev32, ONE32),
                ("brev", 8) => (BitsOp::Brev64, &[B64, B64]),
                ("bfind", 4) => (
                    BitsOp::Bfind {
                        wide: false,
                        signed,
                        shift,
                    },
                    ONE32,
                ),
                ("bfind", 8) => (
                    BitsOp::Bfind {
                        wide: true,
                        signed,
                        shift,
                    },
                    COUNT64,
                ),
                ("bfe", 4) => (if signed { BitsOp::BfeS32 } else { BitsOp::BfeU32 }, THREE32),
                ("bfe", 8) => (
                    if signed { BitsOp::BfeS64 } else { BitsOp::BfeU64 },
                    &[B64, B64, B32, B32],
                ),
                ("bfi", 4) => (BitsOp::Bfi32, &[B32, B32, B32, B32, B32]),
                ("bfi", 8) => (BitsOp::Bfi64, &[B64, B64, B64, B32, B32]),
                _ => return Err("unknown form of the instruction".to_owned()),
            }
        }
    })
}

fn prmt_mode(modifiers: &mut Modifiers<'_>) -> PrmtMode {
    let modes = [
        ("f4e", PrmtMode::F4e),
        ("b4e", PrmtMode::B4e),
        ("rc8", PrmtMode::Rc8),
        ("ecl", PrmtMode::Ecl),
        ("ecr", PrmtMode::Ecr),
        ("rc16", PrmtMode::Rc16),
    ];
    modifiers.take_any(&modes).unwrap_or(PrmtMode::Index)
}
