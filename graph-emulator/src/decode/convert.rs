//! `cvt`.

use graph_ptx::ast::{Operand, Type};

use super::modifiers::Modifiers;
use super::operand::{no_more, operand};
use super::scope::Scope;
use super::{Result, video};
use crate::code::{Convert, ConvertType, DISCARD, File, NarrowConvert, Op};
use crate::softfloat::Rounding;
use crate::softfloat::narrow::{E4M3, E5M2};

/// `cvt.rn.ftz.sat.f32.s64 d, a` and the packing forms `cvt.rn.f16x2.f32 d, a, b`.
pub(super) fn cvt(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    if modifiers.take("pack") {
        return video::cvt_pack(modifiers, operands, scope);
    }
    if let Some(op) = narrow(modifiers, operands, scope)? {
        return Ok(op);
    }
    let float_rounding = modifiers.rounding();
    let away = modifiers.take("rna").then_some(Rounding::NearestAway);
    let integral = modifiers.take_any(&[
        ("rni", Rounding::Nearest),
        ("rzi", Rounding::Zero),
        ("rmi", Rounding::Down),
        ("rpi", Rounding::Up),
    ]);
    let (ftz, sat, relu) = (modifiers.take("ftz"), modifiers.take("sat"), modifiers.take("relu"));
    let tf32 = modifiers.take("tf32");
    let to_type = if tf32 { Type::B32 } else { modifiers.ty()? };
    let from_type = modifiers.ty()?;
    let packed = matches!(to_type, Type::F16x2 | Type::BF16x2);
    let to = if tf32 {
        ConvertType::Tf32
    } else {
        convert_type(to_type)?
    };
    let from = convert_type(from_type)?;
    check(from, to, float_rounding.or(away), integral, packed)?;
    let round = float_rounding.or(away).or(integral).unwrap_or(default_rounding(to));
    let (a, from_wide) = source(operand(operands, 1)?, from_type, scope)?;
    let b = if packed {
        scope.source(operand(operands, 2)?, from_type)?
    } else {
        DISCARD
    };
    let (d, to_wide) = target(operand(operands, 0)?, scope)?;
    let integral = integral.is_some() && is_float(to);
    Ok(Op::Convert(Convert {
        from,
        to,
        round,
        integral,
        ftz,
        sat,
        relu,
        from_wide,
        to_wide,
        d,
        a,
        b,
    }))
}

/// `cvt.rn.satfinite.e4m3x2.f32 d, a, b`, `cvt.rn.satfinite.e4m3x2.f16x2 d, a` and `cvt.rn.f16x2.e4m3x2 d, a`.
fn narrow(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Option<Op>> {
    let types = [("e4m3x2", E4M3), ("e5m2x2", E5M2)];
    if !modifiers.has("e4m3x2") && !modifiers.has("e5m2x2") {
        return Ok(None);
    }
    modifiers.expect("rn")?;
    let relu = modifiers.take("relu");
    let widens = !modifiers.take("satfinite");
    let from_halves = modifiers.take("f16x2");
    let format = modifiers.take_any(&types).ok_or("the type is missing")?;
    let floats = !widens && !from_halves;
    if floats {
        modifiers.expect("f32")?;
    } else if !from_halves {
        return Err("unknown form of the instruction".to_owned());
    }
    let (to, from) = if widens {
        (Type::B32, Type::B16)
    } else {
        (Type::B16, if floats { Type::F32 } else { Type::B32 })
    };
    no_more(operands, 2 + usize::from(floats))?;
    Ok(Some(Op::Narrow(NarrowConvert {
        format,
        widens,
        relu,
        d: scope.target(operand(operands, 0)?, to)?,
        a: scope.source(operand(operands, 1)?, from)?,
        b: if floats {
            scope.source(operand(operands, 2)?, from)?
        } else {
            DISCARD
        },
    })))
}

fn convert_type(ty: Type) -> Result<ConvertType> {
    Ok(match ty {
        Type::U8 | Type::U16 | Type::U32 | Type::U64 => ConvertType::Integer {
            bytes: ty.size() as u8,
            signed: false,
        },
        Type::S8 | Type::S16 | Type::S32 | Type::S64 => ConvertType::Integer {
            bytes: ty.size() as u8,
            signed: true,
        },
        Type::F16 | Type::F16x2 => ConvertType::F16,
        Type::BF16 | Type::BF16x2 => ConvertType::Bf16,
        Type::F32 => ConvertType::F32,
        Type::F64 => ConvertType::F64,
        _ => return Err("this type cannot be converted".to_owned()),
    })
}

fn is_float(ty: ConvertType) -> bool {
    !matches!(ty, ConvertType::Integer { .. })
}

/// The rounding mode. Floats are rounded to integers towards zero if no mode is given, which the PTX assembler refuses.
fn default_rounding(to: ConvertType) -> Rounding {
    if is_float(to) {
        Rounding::Nearest
    } else {
        Rounding::Zero
    }
}

fn check(
    from: ConvertType,
    to: ConvertType,
    rounding: Option<Rounding>,
    integral: Option<Rounding>,
    packed: bool,
) -> Result<()> {
    if rounding.is_some() && !is_float(to) {
        return Err("a conversion to an integer needs `.rni`, `.rzi`, `.rmi` or `.rpi`".to_owned());
    }
    if integral.is_some() && !is_float(from) {
        return Err("integers need no rounding to an integer".to_owned());
    }
    if (packed || to == ConvertType::Tf32) && from != ConvertType::F32 {
        return Err("this form converts `.f32` only".to_owned());
    }
    Ok(())
}

/// A source, whose register may be wider than its type.
fn source(operand: &Operand, ty: Type, scope: &mut Scope<'_>) -> Result<(u32, bool)> {
    if let Operand::Register(register) = operand {
        return match scope.slot(*register)? {
            (File::R64, slot) => Ok((slot, true)),
            (File::R32, slot) if ty.size() < 8 => Ok((slot, false)),
            _ => Err("the source is narrower than its type".to_owned()),
        };
    }
    Ok((scope.source(operand, ty)?, ty.size() == 8))
}

/// A destination, whose register may be wider than its type.
fn target(operand: &Operand, scope: &Scope<'_>) -> Result<(u32, bool)> {
    let Operand::Register(register) = operand else {
        return Err("the destination is no register".to_owned());
    };
    match scope.slot(*register)? {
        (File::R64, slot) => Ok((slot, true)),
        (File::R32, slot) => Ok((slot, false)),
        (File::Predicate, _) => Err("the destination is a predicate".to_owned()),
    }
}
