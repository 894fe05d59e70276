//! The effect of one instruction on the registers.

use super::machine::{Machine, TooLarge, Way};
use super::opcode::{HARMLESS, OTHERS, types};
use super::poly::Poly;
use super::value::{Condition, Value};
use super::{Gap, access};
use crate::ast::{Base, Instruction, Operand, Reg};
use std::rc::Rc;

impl Machine<'_> {
    /// Runs one instruction at the current place.
    pub(super) fn step(&mut self, index: usize) -> Result<(), TooLarge> {
        self.left = self.left.checked_sub(1).ok_or(TooLarge)?;
        if self.facts.steps == 0 {
            return Err(TooLarge);
        }
        let instruction = self.instruction(index);
        let Some((register, negated)) = instruction.guard else {
            return self.run(index, instruction);
        };
        let condition = match self.read(register) {
            Value::Truth(condition) => condition,
            _ => Rc::new(Condition::Unknown),
        };
        let before = self.place;
        let (runs, skips) = (self.facts.below(before), self.facts.below(before));
        let can_run = self.facts.assume(runs, &condition, !negated);
        self.ways.insert(runs, Way::Guard((Rc::clone(&condition), !negated)));
        let can_skip = self.facts.assume(skips, &condition, negated);
        if !can_run {
            return Ok(());
        }
        let written = super::flow::written_by(instruction);
        let old: Vec<Value> = written.iter().map(|&register| self.read(register)).collect();
        self.place = runs;
        let done = self.run(index, instruction);
        self.place = before;
        done?;
        if can_skip && !written.is_empty() {
            let new: Vec<Value> = written.iter().map(|&register| self.read(register)).collect();
            let chosen = self.choose(&[(runs, new), (skips, old)])?;
            self.state.extend(written.into_iter().zip(chosen));
        }
        Ok(())
    }

    fn run(&mut self, index: usize, instruction: &Instruction) -> Result<(), TooLarge> {
        let opcode = instruction.opcode.as_str();
        if is_of_handle(opcode) {
            self.check_handle(index, instruction);
        }
        if HARMLESS.contains(&opcode) {
            // The address of a tensor map is followed, unlike those of other hints.
            if instruction
                .modifiers
                .iter()
                .any(|modifier| modifier.starts_with("tensormap"))
            {
                self.leave_open(index, Gap::Instruction(format!("{opcode}.tensormap")));
            }
            self.forget(instruction);
            return Ok(());
        }
        if OTHERS.contains(&opcode) {
            // An operand that is an address would be an access that is not known.
            let addresses = instruction
                .operands
                .iter()
                .any(|operand| matches!(operand, Operand::Address(..)));
            if addresses && !is_of_handle(opcode) {
                self.leave_open(index, Gap::Instruction(opcode.to_owned()));
            }
            self.forget(instruction);
            return self.narrow(instruction);
        }
        if access::is_access(opcode) {
            return self.access(index, instruction);
        }
        if opcode == "call" {
            self.forget(instruction);
            let callee = instruction.operands.iter().find_map(|operand| match operand {
                Operand::Symbol(name, _) => Some(name.as_str()),
                _ => None,
            });
            // A module may define a function of this name itself.
            if callee != Some("__assertfail") || self.module.defines("__assertfail") {
                self.leave_open(index, Gap::Call(callee.unwrap_or("a function").to_owned()));
            }
            return Ok(());
        }
        if let ("mov", [result @ Operand::Vector(_), from]) = (opcode, &instruction.operands[..]) {
            return self.unpack(super::flow::parts_of(result), from);
        }
        let Some(value) = self.compute(instruction)? else {
            self.forget(instruction);
            let is_arithmetic = matches!(
                opcode,
                "add"
                    | "sub"
                    | "mul"
                    | "mad"
                    | "div"
                    | "rem"
                    | "abs"
                    | "neg"
                    | "min"
                    | "max"
                    | "and"
                    | "or"
                    | "xor"
                    | "not"
                    | "shl"
                    | "shr"
                    | "selp"
                    | "setp"
                    | "cvt"
                    | "cvta"
                    | "mov"
                    | "bfe"
                    | "mapa"
            );
            if !is_arithmetic {
                self.leave_open(index, Gap::Instruction(opcode.to_owned()));
            }
            return Ok(());
        };
        self.write(instruction, value);
        Ok(())
    }

    /// Leaves an access open whose texture or surface is not that of a parameter.
    fn check_handle(&mut self, index: usize, instruction: &Instruction) {
        let handle = instruction.operands.iter().find_map(|operand| match operand {
            // With a sampler of its own, it has three parts.
            Operand::Vector(parts) if parts.len() == 2 => register_of(&parts[0]),
            operand => register_of(operand),
        });
        let is_known = match handle.map(|register| self.read(register)) {
            Some(Value::Number(number)) => self.is_handle(&number),
            _ => false,
        };
        if !is_known {
            self.leave_open(index, Gap::Handle);
        }
    }

    /// Nothing is known of the results of an instruction.
    fn forget(&mut self, instruction: &Instruction) {
        for register in super::flow::written_by(instruction) {
            self.state.insert(register, Value::Unknown);
        }
    }

    /// The ranges of the results of a few instructions.
    fn narrow(&mut self, instruction: &Instruction) -> Result<(), TooLarge> {
        let high = match instruction.opcode.as_str() {
            "popc" | "clz" => 64,
            _ => return Ok(()),
        };
        if let Some(Operand::Register(register)) = instruction.operands.first() {
            let value = Value::Number(Rc::new(self.any_in(0, high)?));
            self.state.insert(*register, value);
        }
        Ok(())
    }

    fn write(&mut self, instruction: &Instruction, value: Value) {
        match instruction.operands.first() {
            Some(Operand::Register(register)) => {
                self.state.insert(*register, value);
            }
            Some(Operand::Pair(first, second)) => {
                let opposite = match &value {
                    Value::Truth(condition) => Value::Truth(condition.not()),
                    _ => Value::Unknown,
                };
                for (operand, value) in [(first, value), (second, opposite)] {
                    if let Operand::Register(register) = &**operand {
                        self.state.insert(*register, value);
                    }
                }
            }
            _ => self.forget(instruction),
        }
    }

    /// The result of an instruction on numbers; `None` if it is not known.
    fn compute(&mut self, instruction: &Instruction) -> Result<Option<Value>, TooLarge> {
        let types = types(instruction);
        let last = types.last().copied().flatten();
        let operands = &instruction.operands;
        // Results that are clamped, and sums with carries.
        if ["sat", "relu", "cc"].iter().any(|clamps| instruction.has(clamps)) {
            return Ok(None);
        }
        let number = |poly: Option<Poly>| poly.map(|poly| Value::Number(Rc::new(poly)));
        match (instruction.opcode.as_str(), &operands[..]) {
            ("mov", [_, Operand::Vector(parts)]) => self.pack(parts),
            ("mov", [_, from]) => self.value(from).map(Some),
            ("cvta", [_, from]) => {
                let value = self.value(from)?;
                let space = instruction.spaces().next();
                Ok(Some(self.in_other_space(value, space, instruction.has("to"))))
            }
            ("add" | "sub", [_, a, b]) => {
                let Some(ty) = last else { return Ok(None) };
                let is_add = instruction.opcode == "add";
                self.sum(a, b, ty, is_add)
            }
            ("setp", [_, a, b, rest @ ..]) => {
                let compared = self.compare(instruction, a, b, last)?;
                self.combined(instruction, compared, rest).map(Some)
            }
            ("selp", [_, a, b, condition]) => self.select(a, b, condition).map(Some),
            ("and" | "or" | "xor", [_, a, b]) if instruction.has("pred") => {
                let (a, b) = (self.condition(a)?, self.condition(b)?);
                Ok(Some(Value::Truth(Rc::new(match instruction.opcode.as_str() {
                    "and" => Condition::And(a, b),
                    "or" => Condition::Or(a, b),
                    _ => Condition::Unknown,
                }))))
            }
            ("not", [_, a]) if instruction.has("pred") => Ok(Some(Value::Truth(self.condition(a)?.not()))),
            ("cvt", [to, from]) => self.convert(to, from, &types),
            (opcode, [_, a]) => {
                let Some(ty) = last else { return Ok(None) };
                let a = self.number(a, ty.bits)?;
                Ok(number(match opcode {
                    "neg" => a.negated(),
                    "not" => a.negated().and_then(|a| a.plus_constant(-1)),
                    "abs" => {
                        let a = self.facts.signed(self.place, &a, ty.bits);
                        a.filter(|a| self.facts.proves(self.place, a))
                    }
                    _ => None,
                }))
            }
            ("mad", [_, a, b, c]) => {
                let Some(ty) = last else { return Ok(None) };
                let product = self.product(instruction, a, b, ty)?;
                let bits = if instruction.has("wide") { ty.bits * 2 } else { ty.bits };
                let (Some(product), c) = (product, self.value(c)?) else {
                    return Ok(None);
                };
                Ok(match c {
                    Value::Address(..) | Value::OneOf(_) => c.with_offset(|offset| offset.plus(&product)),
                    Value::Number(c) => number(c.plus(&product)),
                    _ => number(self.any(bits, false)?.plus(&product)),
                })
            }
            ("bfe", [_, a, at, len]) => {
                let Some(ty) = last.filter(|ty| !ty.signed) else {
                    return Ok(None);
                };
                let (at, len) = (self.number(at, 32)?.value(), self.number(len, 32)?.value());
                let a = self.number(a, ty.bits)?;
                let Some((at, len)) = at.zip(len) else { return Ok(None) };
                if at < 0 || len < 0 || at + len > i128::from(ty.bits) {
                    return Ok(None);
                }
                Ok(number(self.field(&a, at as u32, len as u32)))
            }
            (_, [_, a, b]) => {
                let Some(ty) = last else { return Ok(None) };
                self.binary(instruction, a, b, ty).map(number)
            }
            _ => Ok(None),
        }
    }
}

/// Whether an instruction names a texture or a surface by its handle.
fn is_of_handle(opcode: &str) -> bool {
    matches!(opcode, "tex" | "tld4" | "suld" | "sust" | "txq" | "suq")
}

/// The register in an address, if it is all of the address.
fn register_of(address: &Operand) -> Option<Reg> {
    match address {
        Operand::Address(Base::Register(register), 0) => Some(*register),
        _ => None,
    }
}
