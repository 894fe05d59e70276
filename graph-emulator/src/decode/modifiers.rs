//! The modifiers of an instruction, which are taken one by one until none is left.

use graph_ptx::ast::{self, Type};

use super::Result;
use crate::code::{FloatType, IntegerType};
use crate::softfloat::Rounding;

/// The modifiers of an instruction that were not taken yet.
pub(super) struct Modifiers<'a> {
    pub(super) opcode: &'a str,
    left: Vec<&'a str>,
}

impl<'a> Modifiers<'a> {
    pub(super) fn new(instruction: &'a ast::Instruction) -> Modifiers<'a> {
        Modifiers {
            opcode: &instruction.opcode,
            left: instruction.modifiers.iter().map(String::as_str).collect(),
        }
    }

    /// Takes a modifier, and returns whether the instruction had it.
    pub(super) fn take(&mut self, name: &str) -> bool {
        let position = self.left.iter().position(|&modifier| modifier == name);
        position.map(|position| self.left.remove(position)).is_some()
    }

    /// Takes a modifier that the instruction must have.
    pub(super) fn expect(&mut self, name: &str) -> Result<()> {
        if self.take(name) {
            Ok(())
        } else {
            Err(format!("`.{name}` is missing"))
        }
    }

    /// Takes the first modifier of the table that the instruction has.
    pub(super) fn take_any<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        let found = table.iter().find(|(name, _)| self.left.contains(name))?;
        self.take(found.0);
        Some(found.1)
    }

    /// Whether the instruction has a modifier.
    pub(super) fn has(&self, name: &str) -> bool {
        self.left.contains(&name)
    }

    /// Takes the modifier of the table that comes first in the instruction.
    pub(super) fn take_first<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        let known = |modifier: &&str| table.iter().find(|(name, _)| name == modifier);
        let (index, value) = self
            .left
            .iter()
            .enumerate()
            .find_map(|(index, modifier)| Some((index, known(modifier)?.1)))?;
        self.left.remove(index);
        Some(value)
    }

    /// Takes the first modifier that can be parsed.
    pub(super) fn take_parsed<T>(&mut self, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let (index, value) = self
            .left
            .iter()
            .enumerate()
            .find_map(|(index, modifier)| Some((index, parse(modifier)?)))?;
        self.left.remove(index);
        Some(value)
    }

    /// Drops modifiers that have no effect here.
    pub(super) fn ignore(&mut self, names: &[&str]) {
        self.left.retain(|modifier| !names.contains(modifier));
    }

    pub(super) fn ignore_all(&mut self) {
        self.left.clear();
    }

    /// Drops all modifiers that begin with `prefix`, and returns whether there were any.
    pub(super) fn ignore_prefix(&mut self, prefix: &str) -> bool {
        let before = self.left.len();
        self.left.retain(|modifier| !modifier.starts_with(prefix));
        before != self.left.len()
    }

    /// Takes the first type.
    pub(super) fn ty(&mut self) -> Result<Type> {
        self.take_parsed(value_type)
            .ok_or_else(|| "the type is missing".to_owned())
    }

    /// Takes a floating-point rounding mode, if one is there.
    pub(super) fn rounding(&mut self) -> Option<Rounding> {
        self.take_any(&[
            ("rn", Rounding::Nearest),
            ("rz", Rounding::Zero),
            ("rm", Rounding::Down),
            ("rp", Rounding::Up),
        ])
    }

    /// Fails if a modifier is left.
    pub(super) fn finish(&self) -> Result<()> {
        match self.left.first() {
            None => Ok(()),
            Some(modifier) => Err(format!("unknown modifier `.{modifier}`")),
        }
    }
}

/// The type of a value that registers hold: handles of textures and surfaces are none.
fn value_type(name: &str) -> Option<Type> {
    Type::named(name).filter(|&ty| ty != Type::Opaque)
}

/// The integer type of an instruction; bits count as unsigned.
pub(super) fn integer_type(ty: Type) -> Result<IntegerType> {
    Ok(match ty {
        Type::U16 | Type::B16 => IntegerType::U16,
        Type::S16 => IntegerType::S16,
        Type::U32 | Type::B32 => IntegerType::U32,
        Type::S32 => IntegerType::S32,
        Type::U64 | Type::B64 => IntegerType::U64,
        Type::S64 => IntegerType::S64,
        _ => return Err("not an integer type of this instruction".to_owned()),
    })
}

pub(super) fn float_type(ty: Type) -> Option<FloatType> {
    Some(match ty {
        Type::F16 => FloatType::F16,
        Type::F16x2 => FloatType::F16x2,
        Type::BF16 => FloatType::Bf16,
        Type::BF16x2 => FloatType::Bf16x2,
        Type::F32 => FloatType::F32,
        Type::F64 => FloatType::F64,
        _ => return None,
    })
}
