//! An instruction that is being decoded: its modifiers, which are taken one by one until none is left, and its
//! operands.

use graph_ptx::ast::{self, Operand, Type};

use super::Result;
use super::operand::elements;
use super::scope::Scope;
use crate::code::{Address, Guard, Slot, Space};
use crate::softfloat::Rounding;

/// An instruction that is being decoded, in the scope of its function.
pub(super) struct Reader<'r, 'a> {
    pub(super) opcode: &'r str,
    /// The modifiers that were not taken yet.
    left: Vec<&'r str>,
    pub(super) operands: &'r [Operand],
    pub(super) scope: &'r mut Scope<'a>,
}

impl<'r, 'a> Reader<'r, 'a> {
    pub(super) fn new(instruction: &'r ast::Instruction, scope: &'r mut Scope<'a>) -> Reader<'r, 'a> {
        Reader {
            opcode: &instruction.opcode,
            left: instruction.modifiers.iter().map(String::as_str).collect(),
            operands: &instruction.operands,
            scope,
        }
    }

    /// An operand that must be there.
    pub(super) fn operand(&self, index: usize) -> Result<&'r Operand> {
        self.operands
            .get(index)
            .ok_or_else(|| "an operand is missing".to_owned())
    }

    /// Fails if there are more operands than an instruction of this form has.
    pub(super) fn no_more(&self, count: usize) -> Result<()> {
        if self.operands.len() > count {
            Err("too many operands".to_owned())
        } else {
            Ok(())
        }
    }

    /// The operand with this index as a source of a type.
    pub(super) fn source(&mut self, index: usize, ty: Type) -> Result<Slot> {
        self.scope.source(self.operand(index)?, ty)
    }

    pub(super) fn source32(&mut self, index: usize) -> Result<Slot> {
        self.source(index, Type::B32)
    }

    /// The sources of an instruction, by their types. Its destination precedes them. If there are less than `N`, the
    /// first one is repeated.
    pub(super) fn sources<const N: usize>(&mut self, types: &[Type]) -> Result<[Slot; N]> {
        let mut sources = [self.source(1, types[0])?; N];
        for (index, &ty) in types.iter().enumerate().skip(1) {
            sources[index] = self.source(index + 1, ty)?;
        }
        Ok(sources)
    }

    /// The operand with this index as a predicate source.
    pub(super) fn predicate(&mut self, index: usize) -> Result<Guard> {
        self.scope.predicate(self.operand(index)?)
    }

    /// The operand with this index as a destination of a type.
    pub(super) fn target(&mut self, index: usize, ty: Type) -> Result<Slot> {
        self.scope.target(self.operand(index)?, ty)
    }

    pub(super) fn target_or_none(&mut self, index: usize, ty: Type) -> Result<Slot> {
        self.scope.target_or_none(self.operand(index)?, ty)
    }

    pub(super) fn predicate_target(&mut self, index: usize) -> Result<Slot> {
        self.scope.predicate_target(self.operand(index)?)
    }

    /// The operand with this index as an address, and the space that it is in.
    pub(super) fn address(&mut self, index: usize, space: Space) -> Result<(Address, Space)> {
        self.scope.address(self.operand(index)?, space)
    }

    /// The parts of a vector of `count` operands, or the one operand.
    pub(super) fn parts(&self, index: usize, count: usize) -> Result<&'r [Operand]> {
        let parts = elements(self.operand(index)?);
        if parts.len() == count {
            Ok(parts)
        } else {
            Err(format!("{count} registers are expected"))
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

    /// [`take_any`](Self::take_any) of a table of which the instruction must have one.
    pub(super) fn one_of<T: Copy>(&mut self, table: &[(&str, T)], missing: &str) -> Result<T> {
        self.take_any(table).ok_or_else(|| missing.to_owned())
    }

    /// Whether the instruction has a modifier.
    pub(super) fn has(&self, name: &str) -> bool {
        self.left.contains(&name)
    }

    /// Takes the modifier of the table that comes first in the instruction.
    pub(super) fn take_first<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        self.take_parsed(|modifier| Some(table.iter().find(|(name, _)| *name == modifier)?.1))
    }

    /// [`take_first`](Self::take_first) of a table of which the instruction must have one.
    pub(super) fn first_of<T: Copy>(&mut self, table: &[(&str, T)], missing: &str) -> Result<T> {
        self.take_first(table).ok_or_else(|| missing.to_owned())
    }

    /// Takes the first modifier that can be parsed.
    pub(super) fn take_parsed<T>(&mut self, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let mut left = self.left.iter().enumerate();
        let (index, value) = left.find_map(|(index, modifier)| Some((index, parse(modifier)?)))?;
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

    /// Takes the first of these names of state spaces that the instruction has. `.const` is a part of `.global`.
    pub(super) fn space(&mut self, names: &[&str]) -> Option<Space> {
        let name = names.iter().find(|name| self.take(name))?;
        Some(match name.split("::").next() {
            Some("shared") => Space::Shared,
            Some("local") => Space::Local,
            Some("param") => Space::Param,
            _ => Space::Global,
        })
    }

    /// Takes `.clamp` or `.wrap`, and returns whether it is `.clamp`.
    pub(super) fn clamps(&mut self) -> Result<bool> {
        self.one_of(&[("clamp", true), ("wrap", false)], "`.clamp` or `.wrap` is missing")
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

/// The number of sources of an arithmetic instruction.
pub(super) fn source_count(opcode: &str) -> usize {
    match opcode {
        "abs" | "neg" | "not" | "cnot" | "sqrt" => 1,
        "mad" | "mad24" | "sad" | "fma" => 3,
        _ => 2,
    }
}
