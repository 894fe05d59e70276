//! `cvt`.

use graph_ptx::ast::{Operand, Type};

use super::reader::Reader;
use super::{Result, video};
use crate::code::{Convert, ConvertType, DISCARD, File, LaneOp, NarrowConvert, Op, Role, Slot};
use crate::softfloat::Rounding;
use crate::softfloat::narrow::{E4M3, E5M2};

/// `cvt.rn.ftz.sat.f32.s64 d, a` and the packing forms `cvt.rn.f16x2.f32 d, a, b`.
pub(super) fn cvt(reader: &mut Reader<'_, '_>) -> Result<Op> {
    if reader.take("pack") {
        return video::cvt_pack(reader);
    }
    if reader.has("e4m3x2") || reader.has("e5m2x2") {
        return narrow(reader);
    }
    let away = reader.take("rna").then_some(Rounding::NearestAway);
    let float_rounding = reader.rounding().or(away);
    let integral = reader.take_any(&[
        ("rni", Rounding::Nearest),
        ("rzi", Rounding::Zero),
        ("rmi", Rounding::Down),
        ("rpi", Rounding::Up),
    ]);
    let (ftz, sat, relu) = (reader.take("ftz"), reader.take("sat"), reader.take("relu"));
    let tf32 = reader.take("tf32");
    let to_type = if tf32 { Type::B32 } else { reader.ty()? };
    let from_type = reader.ty()?;
    let packed = matches!(to_type, Type::F16x2 | Type::BF16x2);
    let to = if tf32 {
        ConvertType::Tf32
    } else {
        convert_type(to_type)?
    };
    let from = convert_type(from_type)?;
    check(from, to, float_rounding, integral, packed)?;
    let (a, from_wide) = source(from_type, reader)?;
    let b = if packed { reader.source(2, from_type)? } else { DISCARD };
    let (d, to_wide) = target(reader)?;
    Ok(LaneOp::Convert(Convert {
        from,
        to,
        round: float_rounding.or(integral).unwrap_or(default_rounding(to)),
        integral: integral.is_some() && is_float(to),
        ftz,
        sat,
        relu,
        from_wide,
        to_wide,
        d,
        a,
        b,
    })
    .into())
}

/// `cvt.rn.satfinite.e4m3x2.f32 d, a, b`, `cvt.rn.satfinite.e4m3x2.f16x2 d, a` and `cvt.rn.f16x2.e4m3x2 d, a`.
fn narrow(reader: &mut Reader<'_, '_>) -> Result<Op> {
    reader.expect("rn")?;
    let relu = reader.take("relu");
    let widens = !reader.take("satfinite");
    let from_halves = reader.take("f16x2");
    let format = reader.one_of(&[("e4m3x2", E4M3), ("e5m2x2", E5M2)], "the type is missing")?;
    let floats = !widens && !from_halves;
    if floats {
        reader.expect("f32")?;
    } else if !from_halves {
        return Err("unknown form of the instruction".to_owned());
    }
    let (to, from) = if widens {
        (Type::B32, Type::B16)
    } else {
        (Type::B16, if floats { Type::F32 } else { Type::B32 })
    };
    reader.no_more(2 + usize::from(floats))?;
    Ok(LaneOp::Narrow(NarrowConvert {
        format,
        widens,
        relu,
        d: reader.target(0, to)?,
        a: reader.source(1, from)?,
        b: if floats { reader.source(2, from)? } else { DISCARD },
    })
    .into())
}

fn convert_type(ty: Type) -> Result<ConvertType> {
    let integer = |signed| ConvertType::Integer {
        bytes: ty.size() as u8,
        signed,
    };
    Ok(match ty {
        Type::U8 | Type::U16 | Type::U32 | Type::U64 => integer(false),
        Type::S8 | Type::S16 | Type::S32 | Type::S64 => integer(true),
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

/// The source, and whether its register has 64 bits: it may be wider than the type.
fn source(ty: Type, reader: &mut Reader<'_, '_>) -> Result<(Slot, bool)> {
    let Operand::Register(register) = reader.operand(1)? else {
        return Ok((reader.source(1, ty)?, ty.size() == 8));
    };
    match reader.scope.slot(*register)? {
        (File::Predicate, _) => Err("the source is narrower than its type".to_owned()),
        (File::R32, _) if ty.size() == 8 => Err("the source is narrower than its type".to_owned()),
        found => Ok((reader.scope.uses(found, Role::Source), found.0 == File::R64)),
    }
}

/// The destination, and whether its register has 64 bits: it may be wider than the type.
fn target(reader: &mut Reader<'_, '_>) -> Result<(Slot, bool)> {
    let Operand::Register(register) = reader.operand(0)? else {
        return Err("the destination is no register".to_owned());
    };
    match reader.scope.slot(*register)? {
        (File::Predicate, _) => Err("the destination is a predicate".to_owned()),
        found => Ok((reader.scope.uses(found, Role::Target), found.0 == File::R64)),
    }
}
