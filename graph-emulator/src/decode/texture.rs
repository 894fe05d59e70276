//! `tex`, `tld4`, `txq`, `suld` and `sust` of textures and surfaces whose handle is a number.

use graph_ptx::Geometry;
use graph_ptx::ast::{Base, Operand, Type};

use super::Result;
use super::modifiers::Modifiers;
use super::operand::{elements, no_more, operand};
use super::scope::Scope;
use crate::code::{DISCARD, Op, Outside, Place, Side, Slot, SurfaceAccess, TexelType, TextureFetch, TextureQuery};

const UNKNOWN_FORM: &str = "unknown form of the instruction";

/// `tex.1d.v4.f32.s32 {r, g, b, a}, [handle, {x}]`, `tex.a2d.v4.f32.f32 {r, g, b, a}, [handle, {layer, x, y, y}]`,
/// `tld4.r.2d.v4.f32.f32 {a, b, c, d}, [handle, {x, y}]`
pub(super) fn fetch(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let channels = [("r", 0), ("g", 1), ("b", 2), ("a", 3)];
    let gather = if modifiers.opcode == "tld4" {
        Some(modifiers.take_any(&channels).ok_or("the channel is missing")?)
    } else {
        None
    };
    let geometry = modifiers
        .take_parsed(Geometry::named)
        .ok_or("the geometry is missing")?;
    modifiers.expect("v4")?;
    let (result, ty) = match modifiers.ty()? {
        Type::F32 => (TexelType::F32, Type::F32),
        ty @ (Type::U32 | Type::S32) => (TexelType::Integer, ty),
        _ => return Err("not a type of this instruction".to_owned()),
    };
    let coordinates = modifiers.ty()?;
    let (geometry, floats) = match (geometry, coordinates, gather) {
        (Geometry::Line, Type::S32, None) => (Geometry::Linear, false),
        (Geometry::Plane, Type::S32, None) => (geometry, false),
        (Geometry::Plane, Type::F32, _) | (_, Type::F32, None) => (geometry, true),
        _ => return Err("unknown form of the coordinates".to_owned()),
    };
    no_more(operands, 2)?;
    let Operand::Vector(results) = operand(operands, 0)? else {
        return Err(UNKNOWN_FORM.to_owned());
    };
    let [r, g, b, a] = &results[..] else {
        return Err(UNKNOWN_FORM.to_owned());
    };
    let target = |operand| scope.target_or_none(operand, ty);
    let d = [target(r)?, target(g)?, target(b)?, target(a)?];
    let (handle, at) = place(operand(operands, 1)?, geometry, coordinates, scope)?;
    Ok(Op::TextureFetch(Box::new(TextureFetch {
        handle,
        result,
        at,
        floats,
        gather,
        d,
    })))
}

/// `suld.b.2d.v2.b16.trap {a, b}, [handle, {x, y}]`, `sust.b.a1d.b32.clamp [handle, {layer, x}], {a}`
pub(super) fn surface(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let store = modifiers.opcode == "sust";
    modifiers.expect("b")?;
    modifiers.ignore(&["ca", "cg", "cs", "cv", "wb", "wt"]);
    let geometry = modifiers
        .take_parsed(Geometry::named)
        .ok_or("the geometry is missing")?;
    let count = modifiers.take_any(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
    let ty = modifiers.ty()?;
    let bytes = match ty {
        Type::B8 => 1,
        Type::B16 => 2,
        Type::B32 => 4,
        Type::B64 if count < 4 => 8,
        _ => return Err("not a type of this instruction".to_owned()),
    };
    let modes = [
        ("trap", Outside::Trap),
        ("clamp", Outside::Clamp),
        ("zero", Outside::Zero),
    ];
    let outside = modifiers
        .take_any(&modes)
        .ok_or("the mode outside of the surface is missing")?;
    no_more(operands, 2)?;
    let (at, values) = if store { (0, 1) } else { (1, 0) };
    let elements = elements(operand(operands, values)?);
    if elements.len() != usize::from(count) {
        return Err(UNKNOWN_FORM.to_owned());
    }
    let mut values = [DISCARD; 4];
    for (value, element) in values.iter_mut().zip(elements) {
        *value = if store {
            scope.source(element, ty)?
        } else {
            scope.target_or_none(element, ty)?
        };
    }
    let (handle, at) = place(operand(operands, at)?, geometry, Type::S32, scope)?;
    Ok(Op::Surface(Box::new(SurfaceAccess {
        handle,
        store,
        at,
        outside,
        bytes,
        count,
        values,
    })))
}

/// `txq.width.b32 d, [handle]`. (No driver loads `suq` of a handle, or runs `txq.array_size`.)
pub(super) fn query(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let sides = [("width", Side::Width), ("height", Side::Height), ("depth", Side::Depth)];
    let side = modifiers.take_any(&sides).ok_or("unknown question")?;
    modifiers.expect("b32")?;
    no_more(operands, 2)?;
    let d = scope.target(operand(operands, 0)?, Type::U32)?;
    let handle = self::handle(operand(operands, 1)?, scope)?;
    Ok(Op::TextureQuery(TextureQuery { handle, d, side }))
}

/// The handle and the place in `[handle, {layer, x, y, z}]`. One more coordinate, without a meaning, may follow.
fn place(operand: &Operand, geometry: Geometry, ty: Type, scope: &mut Scope<'_>) -> Result<(Slot, Place)> {
    let Operand::Vector(parts) = operand else {
        return Err(UNKNOWN_FORM.to_owned());
    };
    let [handle, place] = &parts[..] else {
        return Err(UNKNOWN_FORM.to_owned());
    };
    let mut parts = elements(place);
    let mut layer = None;
    if let ([first, rest @ ..], true) = (parts, geometry.is_layered()) {
        layer = Some(scope.source(first, Type::U32)?);
        parts = rest;
    }
    let needed = geometry.dimensions();
    let written = usize::from(layer.is_some()) + parts.len();
    if parts.len() < needed || (parts.len() > needed && written != 4) {
        return Err("unknown form of the coordinates".to_owned());
    }
    let slots: Result<Vec<Slot>> = parts[..needed].iter().map(|part| scope.source(part, ty)).collect();
    Ok((self::handle(handle, scope)?, Place::new(geometry, layer, &slots?)))
}

/// The register of a handle.
fn handle(operand: &Operand, scope: &mut Scope<'_>) -> Result<Slot> {
    match operand {
        Operand::Address(Base::Register(register), 0) => scope.source(&Operand::Register(*register), Type::U64),
        _ => Err("the texture or surface is no 64-bit handle in a register".to_owned()),
    }
}
