//! Floating-point arithmetic and approximate functions.

use graph_ptx::ast::Type;

use super::Result;
use super::operand::float_type;
use super::reader::{Reader, source_count};
use crate::code::{Extreme, Float, FloatOp, FloatType, LaneOp, Math, MathOp, Op};
use crate::softfloat::Rounding;

/// Opcodes that only floats have.
pub(super) fn float(reader: &mut Reader<'_, '_>) -> Result<Op> {
    let ty = reader.ty()?;
    let float = float_type(ty).ok_or("not a floating-point type")?;
    typed(float, ty, reader)
}

/// An instruction of a floating-point type.
pub(super) fn typed(float: FloatType, ty: Type, reader: &mut Reader<'_, '_>) -> Result<Op> {
    let opcode = reader.opcode;
    let approximate = reader.take("approx");
    let full = reader.take("full");
    if let Some(op) = math_op(opcode, approximate, float) {
        return math(op, float, ty, reader);
    }
    let rounding = reader.rounding();
    let rounds = matches!(opcode, "add" | "sub" | "mul" | "mad" | "fma" | "div" | "sqrt" | "rcp");
    if rounding.is_some() && (!rounds || approximate || full) {
        return Err("a rounding mode has no meaning here".to_owned());
    }
    let round = rounding.unwrap_or(Rounding::Nearest);
    if round != Rounding::Nearest && float.is_half() {
        return Err("this rounding mode is not supported for the type".to_owned());
    }
    let op = match float_op(float, reader)? {
        FloatOp::Div if approximate && opcode == "div" => FloatOp::DivApprox,
        op => op,
    };
    let (ftz, sat, relu) = (reader.take("ftz"), reader.take("sat"), reader.take("relu"));
    // f16 and bf16 arithmetic may say `.noftz` only in atomics; f64 has neither flushing nor saturation.
    if float == FloatType::F64 && (ftz || sat || relu) || relu && matches!(float, FloatType::F32) {
        return Err("a modifier does not go with the type".to_owned());
    }
    let d = reader.target(0, ty)?;
    let s = if opcode == "rcp" {
        let one = if float == FloatType::F64 {
            reader.scope.constant64(1f64.to_bits())
        } else {
            reader.scope.constant32(1f32.to_bits())
        };
        [one, reader.source(1, ty)?, one]
    } else {
        let count = source_count(opcode);
        reader.no_more(count + 1)?;
        reader.sources(&[ty; 3][..count])?
    };
    Ok(LaneOp::Float(Float {
        op,
        ty: float,
        round,
        ftz,
        sat,
        relu,
        d,
        s,
    })
    .into())
}

fn float_op(float: FloatType, reader: &mut Reader<'_, '_>) -> Result<FloatOp> {
    let opcode = reader.opcode;
    let mut extreme = || {
        let (nan, xorsign) = (reader.take("NaN"), reader.take("xorsign"));
        if xorsign {
            reader.take("abs");
        }
        if float == FloatType::F64 && (nan || xorsign) {
            return Err("a modifier does not go with the type".to_owned());
        }
        Ok(Extreme { nan, xorsign })
    };
    Ok(match opcode {
        "add" => FloatOp::Add,
        "sub" => FloatOp::Sub,
        "mul" => FloatOp::Mul,
        // `mad` of floats is fused on every target from sm_20 on.
        "fma" | "mad" => FloatOp::Fma,
        "min" => FloatOp::Min(extreme()?),
        "max" => FloatOp::Max(extreme()?),
        "neg" => FloatOp::Neg,
        "abs" => FloatOp::Abs,
        _ if float.is_half() => return Err("unknown form of the instruction".to_owned()),
        "div" | "rcp" => FloatOp::Div,
        "sqrt" => FloatOp::Sqrt,
        "copysign" => FloatOp::CopySign,
        _ => return Err("unknown form of the instruction".to_owned()),
    })
}

/// The approximate functions. `sqrt.approx` and `div.full` are computed exactly instead, and so is `div.approx` unless
/// the divisor is large.
fn math_op(opcode: &str, approximate: bool, float: FloatType) -> Option<MathOp> {
    Some(match opcode {
        "ex2" if approximate => MathOp::Ex2,
        "tanh" if approximate => MathOp::Tanh,
        _ if float.is_half() || !approximate => return None,
        "rcp" => MathOp::Rcp,
        "rsqrt" => MathOp::Rsqrt,
        _ if float == FloatType::F64 => return None,
        "lg2" => MathOp::Lg2,
        "sin" => MathOp::Sin,
        "cos" => MathOp::Cos,
        _ => return None,
    })
}

fn math(op: MathOp, float: FloatType, ty: Type, reader: &mut Reader<'_, '_>) -> Result<Op> {
    if float == FloatType::F64 && !matches!(op, MathOp::Rcp | MathOp::Rsqrt) {
        return Err("unknown form of the instruction".to_owned());
    }
    let ftz = reader.take("ftz");
    let (d, a) = (reader.target(0, ty)?, reader.source(1, ty)?);
    let ty = float;
    Ok(LaneOp::Math(Math { op, ty, ftz, d, a }).into())
}
