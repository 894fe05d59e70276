//! `tex` and `txq` of textures whose handle is a number.

use graph_ptx::ast::{Base, Operand, Type};

use super::Result;
use super::modifiers::Modifiers;
use super::operand::{no_more, operand};
use super::scope::Scope;
use crate::code::{Coordinates, Op, Slot, TexelType, TextureFetch, TextureQuery};

/// `tex.1d.v4.f32.s32 {r, g, b, a}, [handle, {x}]` and `tex.2d.v4.f32.f32 {r, g, b, a}, [handle, {x, y}]`
pub(super) fn fetch(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let plane = modifiers.take("2d");
    if !plane {
        modifiers.expect("1d")?;
    }
    modifiers.expect("v4")?;
    let (result, ty) = match modifiers.ty()? {
        Type::F32 => (TexelType::F32, Type::F32),
        ty @ (Type::U32 | Type::S32) => (TexelType::Integer, ty),
        _ => return Err("not a type of this instruction".to_owned()),
    };
    let coordinates = modifiers.ty()?;
    no_more(operands, 2)?;
    let (Operand::Vector(results), Operand::Vector(source)) = (operand(operands, 0)?, operand(operands, 1)?) else {
        return Err("unknown form of the instruction".to_owned());
    };
    let ([r, g, b, a], [handle, at]) = (&results[..], &source[..]) else {
        return Err("unknown form of the instruction".to_owned());
    };
    let target = |operand| scope.target_or_none(operand, ty);
    let d = [target(r)?, target(g)?, target(b)?, target(a)?];
    let handle = self::handle(handle, scope)?;
    let at = match at {
        Operand::Vector(parts) => &parts[..],
        part => std::slice::from_ref(part),
    };
    let mut source = |operand| scope.source(operand, coordinates);
    let at = match (plane, coordinates, at) {
        (false, Type::S32, [x]) => Coordinates::Index(source(x)?),
        (true, Type::S32, [x, y]) => Coordinates::Integers([source(x)?, source(y)?]),
        (true, Type::F32, [x, y]) => Coordinates::Floats([source(x)?, source(y)?]),
        (false, Type::F32, _) => {
            return Err("memory that is no array is read by integer coordinates (`tex1Dfetch`)".to_owned());
        }
        _ => return Err("unknown form of the coordinates".to_owned()),
    };
    Ok(Op::TextureFetch(Box::new(TextureFetch { handle, result, at, d })))
}

/// `txq.width.b32 d, [handle]` and `txq.height.b32 d, [handle]`
pub(super) fn query(modifiers: &mut Modifiers<'_>, operands: &[Operand], scope: &mut Scope<'_>) -> Result<Op> {
    let height = modifiers.take("height");
    if !height {
        modifiers.expect("width")?;
    }
    modifiers.expect("b32")?;
    no_more(operands, 2)?;
    let d = scope.target(operand(operands, 0)?, Type::U32)?;
    let handle = self::handle(operand(operands, 1)?, scope)?;
    Ok(Op::TextureQuery(TextureQuery { handle, d, height }))
}

/// The register of a handle.
fn handle(operand: &Operand, scope: &mut Scope<'_>) -> Result<Slot> {
    match operand {
        Operand::Address(Base::Register(register), 0) => scope.source(&Operand::Register(*register), Type::U64),
        _ => Err("the texture is no 64-bit handle in a register".to_owned()),
    }
}
