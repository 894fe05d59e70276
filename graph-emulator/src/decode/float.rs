//! Floating-point arithmetic and approximate functions.

use graph_ptx::ast::{Operand, Type};

use super::Result;
use super::modifiers::{Modifiers, float_type};
use super::operand::{no_more, operand};
use super::scope::Scope;
use crate::code::{Float, FloatOp, FloatType, Math, MathOp, Op};
use crate::softfloat::Rounding;

/// Opcodes that only floats have.
pub(super) fn float(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let ty = modifiers.ty()?;
    let float = float_type(ty).ok_or("not a floating-point type")?;
    typed(float, ty, modifiers, operands, scope)
}

/// An instruction of a floating-point type.
pub(super) fn typed(
    float: FloatType,
    ty: Type,
    modifiers: &mut Modifiers<'_>,
    operands: &[Operand],
    scope: &mut Scope<'_>,
) -> Result<Op> {
    let opcode = modifiers.opcode;
    let approximate = modifiers.take("approx");
    let full = modifiers.take("full");
    if let Some(op) = math_op(opcode, approximate, float) {
        return math(op, float, ty, modifiers, operands, scope);
    }
    let rounding = modifiers.rounding();
    let rounds = matches!(opcode, "add" | "sub" | "mul" | "mad" | "fma" | "div" | "sqrt" | "rcp");
    if rounding.is_some() && (!rounds || approximate || full) {
        return Err("a rounding mode has no meaning here".to_owned());
    }
    let round = rounding.unwrap_or(Rounding::Nearest);
    if round != Rounding::Nearest && !matches!(float, FloatType::F32 | FloatType::F64) {
        return Err("this rounding mode is not supported for the type".to_owned());
    }
    let op = match float_op(float, modifiers)? {
        FloatOp::Div if approximate && opcode == "div" => FloatOp::DivApprox,
        op => op,
    };
    let (ftz, sat, relu) = (modifiers.take("ftz"), modifiers.take("sat"), modifiers.take("relu"));
    // f16 and bf16 arithmetic may say `.noftz` only in atomics; f64 has neither flushing nor saturation.
    if float == FloatType::F64 && (ftz || sat || relu) || relu && matches!(float, FloatType::F32) {
        return Err("a modifier does not go with the type".to_owned());
    }
    let d = scope.target(operand(operands, 0)?, ty)?;
    let s = if opcode == "rcp" {
        let one = if float == FloatType::F64 {
            scope.constant64(1f64.to_bits())
        } else {
            scope.constant32(1f32.to_bits())
        };
        [one, scope.source(operand(operands, 1)?, ty)?, 0]
    } else {
        no_more(operands, op.operand_count() + 1)?;
        scope.sources(operands, op.operand_count(), ty)?
    };
    Ok(Op::Float(Float {
        op,
        ty: float,
        round,
        ftz,
        sat,
        relu,
        d,
        s,
    }))
}

fn float_op(float: FloatType, modifiers: &mut Modifiers<'_>) -> Result<FloatOp> {
    let opcode = modifiers.opcode;
    let mut extreme = || {
        let (nan, xorsign) = (modifiers.take("NaN"), modifiers.take("xorsign"));
        if xorsign {
            modifiers.take("abs");
        }
        if float == FloatType::F64 && (nan || xorsign) {
            return Err("a modifier does not go with the type".to_owned());
        }
        Ok((nan, xorsign))
    };
    Ok(match opcode {
        "add" => FloatOp::Add,
        "sub" => FloatOp::Sub,
        "mul" => FloatOp::Mul,
        // `mad` of floats is fused on every target from sm_20 on.
        "fma" | "mad" => FloatOp::Fma,
        "div" | "rcp" if matches!(float, FloatType::F32 | FloatType::F64) => FloatOp::Div,
        "sqrt" if matches!(float, FloatType::F32 | FloatType::F64) => FloatOp::Sqrt,
        "min" => {
            let (nan, xorsign) = extreme()?;
            FloatOp::Min { nan, xorsign }
        }
        "max" => {
            let (nan, xorsign) = extreme()?;
            FloatOp::Max { nan, xorsign }
        }
        "neg" => FloatOp::Neg,
        "abs" => FloatOp::Abs,
        "copysign" if matches!(float, FloatType::F32 | FloatType::F64) => FloatOp::CopySign,
        _ => return Err("unknown form of the instruction".to_owned()),
    })
}

/// The approximate functions. `sqrt.approx` and `div.full` are computed exactly instead, and so is `div.approx` unless
/// the divisor is large.
fn math_op(opcode: &str, approximate: bool, float: FloatType) -> Option<MathOp> {
    let half = !matches!(float, FloatType::F32 | FloatType::F64);
    Some(match opcode {
        "ex2" if approximate => MathOp::Ex2,
        "tanh" if approximate => MathOp::Tanh,
        _ if half || !approximate => return None,
        "rcp" => MathOp::Rcp,
        "rsqrt" => MathOp::Rsqrt,
        _ if float == FloatType::F64 => return None,
        "lg2" => MathOp::Lg2,
        "sin" => MathOp::Sin,
        "cos" => MathOp::Cos,
        _ => return None,
    })
}

fn math(
    op: MathOp,
    float: FloatType,
    ty: Type,
    modifiers: &mut Modifiers<'_>,
    operands: &[Operand],
    scope: &mut Scope<'_>,
) -> Result<Op> {
    if float == FloatType::F64 && !matches!(op, MathOp::Rcp | MathOp::Rsqrt) {
        return Err("unknown form of the instruction".to_owned());
    }
    let ftz = modifiers.take("ftz");
    let d = scope.target(operand(operands, 0)?, ty)?;
    let a = scope.source(operand(operands, 1)?, ty)?;
    Ok(Op::Math(Math {
        op,
        ty: float,
        ftz,
        d,
        a,
    }))
}
