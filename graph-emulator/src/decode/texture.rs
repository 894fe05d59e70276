//! `tex`, `tld4`, `txq`, `suld` and `sust` of textures and surfaces whose handle is a number.

use graph_ptx::Geometry;
use graph_ptx::ast::{Base, Operand, Type};

use super::Result;
use super::operand::elements;
use super::reader::Reader;
use crate::code::{
    DISCARD, MemoryOp, Op, Outside, Place, Query, Side, Slot, SurfaceAccess, TexelType, TextureFetch, TextureQuery,
};

const UNKNOWN_FORM: &str = "unknown form of the instruction";

/// `tex.1d.v4.f32.s32 {r, g, b, a}, [handle, {x}]`, `tex.a2d.v4.f32.f32 {r, g, b, a}, [handle, {layer, x, y, y}]`,
/// `tld4.r.2d.v4.f32.f32 {a, b, c, d}, [handle, {x, y}]`
pub(super) fn fetch(reader: &mut Reader<'_, '_>) -> Result<Op> {
    let channels = [("r", 0), ("g", 1), ("b", 2), ("a", 3)];
    let gather = match reader.opcode {
        "tld4" => Some(reader.one_of(&channels, "the channel is missing")?),
        _ => None,
    };
    let geometry = geometry(reader)?;
    reader.expect("v4")?;
    let (result, ty) = match reader.ty()? {
        Type::F32 => (TexelType::F32, Type::F32),
        ty @ (Type::U32 | Type::S32) => (TexelType::Integer, ty),
        _ => return Err("not a type of this instruction".to_owned()),
    };
    let coordinates = reader.ty()?;
    let (geometry, floats) = match (geometry, coordinates, gather) {
        (Geometry::Line, Type::S32, None) => (Geometry::Linear, false),
        (Geometry::Plane, Type::S32, None) => (geometry, false),
        (Geometry::Plane, Type::F32, _) | (_, Type::F32, None) => (geometry, true),
        _ => return Err("unknown form of the coordinates".to_owned()),
    };
    reader.no_more(2)?;
    let [r, g, b, a] = elements(reader.operand(0)?) else {
        return Err(UNKNOWN_FORM.to_owned());
    };
    let mut target = |operand| reader.scope.target_or_none(operand, ty);
    let d = [target(r)?, target(g)?, target(b)?, target(a)?];
    let (handle, at) = place(1, geometry, coordinates, reader)?;
    Ok(MemoryOp::Texture(Box::new(TextureFetch {
        handle,
        result,
        at,
        floats,
        gather,
        d,
    }))
    .into())
}

fn geometry(reader: &mut Reader<'_, '_>) -> Result<Geometry> {
    let geometry = reader.take_parsed(Geometry::named);
    geometry.ok_or_else(|| "the geometry is missing".to_owned())
}

/// `suld.b.2d.v2.b16.trap {a, b}, [handle, {x, y}]`, `sust.b.a1d.b32.clamp [handle, {layer, x}], {a}`
pub(super) fn surface(reader: &mut Reader<'_, '_>) -> Result<Op> {
    let store = reader.opcode == "sust";
    reader.expect("b")?;
    reader.ignore(&["ca", "cg", "cs", "cv", "wb", "wt"]);
    let geometry = geometry(reader)?;
    let count = reader.take_any(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
    let ty = reader.ty()?;
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
    let outside = reader.one_of(&modes, "the mode outside of the surface is missing")?;
    reader.no_more(2)?;
    let (at, values) = if store { (0, 1) } else { (1, 0) };
    let elements = elements(reader.operand(values)?);
    if elements.len() != usize::from(count) {
        return Err(UNKNOWN_FORM.to_owned());
    }
    let mut values = [DISCARD; 4];
    for (value, element) in values.iter_mut().zip(elements) {
        *value = if store {
            reader.scope.source(element, ty)?
        } else {
            reader.scope.target_or_none(element, ty)?
        };
    }
    let (handle, at) = place(at, geometry, Type::S32, reader)?;
    Ok(MemoryOp::Surface(Box::new(SurfaceAccess {
        handle,
        store,
        at,
        outside,
        bytes,
        count,
        values,
    }))
    .into())
}

/// `txq.width.b32 d, [handle]`. (No driver loads `suq` of a handle, or runs `txq.array_size`.)
pub(super) fn query(reader: &mut Reader<'_, '_>) -> Result<Op> {
    let sides = [("width", Side::Width), ("height", Side::Height), ("depth", Side::Depth)];
    let side = reader.one_of(&sides, "unknown question")?;
    reader.expect("b32")?;
    reader.no_more(2)?;
    let d = reader.target(0, Type::U32)?;
    let handle = handle(reader.operand(1)?, reader)?;
    Ok(Query::Texture(TextureQuery { handle, d, side }).into())
}

/// The handle and the place in `[handle, {layer, x, y, z}]`. One more coordinate, without a meaning, may follow.
fn place(index: usize, geometry: Geometry, ty: Type, reader: &mut Reader<'_, '_>) -> Result<(Slot, Place)> {
    let [handle, place] = elements(reader.operand(index)?) else {
        return Err(UNKNOWN_FORM.to_owned());
    };
    let mut parts = elements(place);
    let mut layer = None;
    if let ([first, rest @ ..], true) = (parts, geometry.is_layered()) {
        layer = Some(reader.scope.source(first, Type::U32)?);
        parts = rest;
    }
    let needed = geometry.dimensions();
    let written = usize::from(layer.is_some()) + parts.len();
    if parts.len() < needed || (parts.len() > needed && written != 4) {
        return Err("unknown form of the coordinates".to_owned());
    }
    let slot = |part| reader.scope.source(part, ty);
    let slots: Result<Vec<Slot>> = parts[..needed].iter().map(slot).collect();
    Ok((self::handle(handle, reader)?, Place::new(geometry, layer, &slots?)))
}

/// The register of a handle.
fn handle(operand: &Operand, reader: &mut Reader<'_, '_>) -> Result<Slot> {
    match operand {
        Operand::Address(Base::Register(register), 0) => reader.scope.source(&Operand::Register(*register), Type::U64),
        _ => Err("the texture or surface is no 64-bit handle in a register".to_owned()),
    }
}
