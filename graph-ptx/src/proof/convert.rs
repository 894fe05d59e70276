//! Values in other types and spaces; parts of registers; arguments.

use super::facts::EVERYWHERE;
use super::machine::{Machine, TooLarge, part_name};
use super::poly::Poly;
use super::value::{Int, Memory, Value, range_of};
use crate::ast::{Operand, Reg, Space, Type};
use std::rc::Rc;

impl Machine<'_> {
    pub(super) fn convert(
        &mut self,
        to: &Operand,
        from: &Operand,
        types: &[Option<Int>],
    ) -> Result<Option<Value>, TooLarge> {
        let [Some(into), of] = types[..] else { return Ok(None) };
        let Some(of) = of else {
            return Ok(Some(Value::Number(Rc::new(self.any(into.bits, into.signed)?))));
        };
        // Addresses keep all of their bits.
        if let address @ (Value::Address(..) | Value::OneOf(_)) = self.value(from)? {
            return Ok((into.bits == of.bits && of.bits >= 32).then_some(address));
        }
        let value = self.number(from, of.bits)?;
        let register = match to {
            Operand::Register(register) => self.bits(*register),
            _ => into.bits,
        };
        let mut value = Some(value);
        let mut bits = of.bits;
        if into.bits > bits {
            value = value.and_then(|value| self.facts.number(self.place, &value, bits, of.signed));
            bits = into.bits;
        }
        bits = bits.min(into.bits);
        if register > bits {
            value = value.and_then(|value| self.facts.number(self.place, &value, bits, into.signed));
        }
        Ok(value.map(|value| Value::Number(Rc::new(value))))
    }

    /// `cvta`: a generic address of one in its own space, or the other way round. Only addresses of global memory keep
    /// their bits.
    pub(super) fn in_other_space(&self, value: Value, space: Option<Space>, is_from_generic: bool) -> Value {
        let is_own = |name: &str| self.find_variable(name).map(|variable| variable.space) == space;
        match (value, is_from_generic) {
            (Value::Address(Memory::Variable(name), offset), false) if is_own(&name) => {
                Value::Address(Memory::Generic(name), offset)
            }
            (Value::Address(Memory::Generic(name), offset), true) if is_own(&name) => {
                Value::Address(Memory::Variable(name), offset)
            }
            (value @ (Value::Address(Memory::Param(_), _) | Value::Number(_)), _) if space == Some(Space::Global) => {
                value
            }
            (Value::OneOf(all), _)
                if space == Some(Space::Global)
                    && all.iter().all(|(_, memory, _)| matches!(memory, Memory::Param(_))) =>
            {
                Value::OneOf(all)
            }
            _ => Value::Unknown,
        }
    }

    /// `mov.b64 {%r1, %r2}, %rd1`
    pub(super) fn unpack(&mut self, registers: Vec<Option<Reg>>, from: &Operand) -> Result<(), TooLarge> {
        let value = self.value(from)?;
        for (position, register) in registers.into_iter().enumerate() {
            let Some(register) = register else { continue };
            let bits = self.bits(register);
            let part = match &value {
                Value::Number(poly) => {
                    let at = bits * position as u32;
                    self.facts.quotient(poly, &Poly::constant(1 << at.min(100)))
                }
                _ => None,
            };
            let is_float = matches!(self.register_type(register), Some(Type::F32 | Type::F64));
            let part = part.filter(|_| !is_float).map(|poly| Value::Number(Rc::new(poly)));
            self.state.insert(register, part.unwrap_or(Value::Unknown));
        }
        Ok(())
    }

    /// `mov.b64 %rd1, {%r1, %r2}`
    pub(super) fn pack(&mut self, parts: &[Operand]) -> Result<Option<Value>, TooLarge> {
        let mut sum = Poly::default();
        let mut at = 0;
        for part in parts {
            let Operand::Register(register) = part else {
                return Ok(None);
            };
            let bits = self.bits(*register);
            let poly = self.number(part, bits)?;
            let poly = self.facts.unsigned(self.place, &poly, bits);
            let Some(next) = poly
                .and_then(|poly| poly.scaled(1 << at))
                .and_then(|poly| sum.plus(&poly))
            else {
                return Ok(None);
            };
            sum = next;
            at += bits;
            if at > 64 {
                return Ok(None);
            }
        }
        Ok(Some(Value::Number(Rc::new(sum))))
    }

    /// The value of a kernel's parameter, or of a part of it, in a register of so many bits.
    pub(super) fn argument(&mut self, name: &str, at: i64, ty: Option<Int>, bits: u32) -> Result<Value, TooLarge> {
        let Some(param) = self.function.params.iter().position(|param| param.name == name) else {
            return Ok(Value::Unknown);
        };
        if at == 0
            && bits == 64
            && ty.is_some_and(|ty| ty.bits == 64)
            && matches!(
                self.kernel.params.get(param).map(|param| &param.kind),
                Some(super::Kind::Memory { .. })
            )
        {
            return Ok(Value::Address(Memory::Param(param), Rc::new(Poly::default())));
        }
        let Some(ty) = ty else { return Ok(Value::Unknown) };
        let poly = match (
            &self.kernel.params.get(param).map(|param| &param.kind),
            &self.names.arguments.get(param),
        ) {
            (Some(super::Kind::Integer { bits, .. }), Some(Some(poly))) if at == 0 && *bits == ty.bits => poly.clone(),
            _ => {
                let (low, high) = range_of(ty.bits, ty.signed);
                let name = match self.kernel.params.get(param) {
                    Some(param) => part_name(param, at, ty.bits),
                    None => return Ok(Value::Unknown),
                };
                self.part(&name, low, high)?
            }
        };
        if bits <= ty.bits {
            return Ok(Value::Number(Rc::new(poly)));
        }
        let poly = self.facts.number(EVERYWHERE, &poly, ty.bits, ty.signed);
        Ok(poly.map_or(Value::Unknown, |poly| Value::Number(Rc::new(poly))))
    }
}
