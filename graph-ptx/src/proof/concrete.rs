//! One thread of a kernel with numbers: what it does before it touches memory that it was not given.
//!
//! Memory that the kernel does not write has one byte everywhere. Values that a thread loads of other memory are not
//! known here, nor are floating-point numbers; a thread whose way depends on them tells nothing.

use super::flow::{End, Flow};
use super::opcode::is_of_block;
use super::value::{Int, int, range_of};
use super::{Kernel, Kind, Launch};
use crate::ast::{Base, Body, Function, Instruction, Module, Operand, Reg, Space, Type, Variable};
use std::collections::HashMap;

/// A value of a register.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    /// Bits of an integer or a predicate.
    Bits(u64),
    /// Bytes after the beginning of the memory of a parameter.
    Param(usize, i128),
    /// Bytes after the beginning of a variable.
    Variable(String, i128),
    Unknown,
}

/// An access of memory outside of its bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) instruction: usize,
    pub(super) memory: String,
    /// Bytes from the beginning of the memory.
    pub(super) offset: i128,
    pub(super) size: u64,
    /// The bytes of the memory.
    pub(super) bytes: i128,
}

/// The thread to run.
pub(super) struct Thread<'a> {
    pub(super) module: &'a Module,
    pub(super) function: &'a Function,
    pub(super) body: &'a Body,
    pub(super) flow: &'a Flow,
    pub(super) kernel: &'a Kernel,
    pub(super) launch: &'a Launch,
    pub(super) block: [u32; 3],
    pub(super) thread: [u32; 3],
    /// The byte that memory has everywhere.
    pub(super) fill: u8,
    /// The parameters whose memory the kernel writes.
    pub(super) written: &'a [bool],
}

/// An access that a thread has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Touched {
    pub(super) instruction: usize,
    pub(super) memory: String,
    /// Whether it is shared memory of the block.
    pub(super) is_shared: bool,
    /// Bytes from the beginning of the memory.
    pub(super) offset: i128,
    pub(super) size: u64,
    pub(super) writes: bool,
    /// The number that it stores, if it is known.
    pub(super) value: Option<u64>,
    /// The barriers of the block, and the instructions of the whole warp, before it.
    pub(super) barriers: u32,
    pub(super) meetings: u32,
}

/// The registers of a running thread.
struct Registers(HashMap<Reg, Value>, Record);

/// The accesses of a thread, up to the first instruction that may order what follows after another thread.
#[derive(Default)]
struct Record {
    touched: Vec<Touched>,
    barriers: u32,
    meetings: u32,
    has_ended: bool,
}

impl Record {
    /// Counts the barriers, and ends the record if others may be waited for in another way.
    fn look(&mut self, instruction: &Instruction) {
        match instruction.opcode.as_str() {
            "bar" | "barrier" if instruction.has("warp") => self.meetings += 1,
            "shfl" | "vote" | "match" | "redux" => self.meetings += 1,
            "bar" | "barrier" => {
                self.barriers += 1;
                self.has_ended |= !is_of_block(instruction);
            }
            "atom" | "red" | "mbarrier" | "cp" | "mapa" | "griddepcontrol" | "call" => self.has_ended = true,
            "ld" | "st" if instruction.is_ordered() => self.has_ended = true,
            _ => {}
        }
    }
}

/// The end of a run without a fault.
struct Ends;

impl Thread<'_> {
    /// The first access outside of memory. `steps` are the instructions that may be run.
    pub(super) fn fault(&self, steps: &mut usize) -> Option<Fault> {
        self.run(steps, &mut Registers(HashMap::new(), Record::default()))
    }

    /// The accesses of the thread in its first instructions, as far as nothing orders them after others.
    pub(super) fn touches(&self, mut steps: usize) -> Vec<Touched> {
        let mut registers = Registers(HashMap::new(), Record::default());
        self.run(&mut steps, &mut registers);
        registers.1.touched
    }

    fn run(&self, steps: &mut usize, registers: &mut Registers) -> Option<Fault> {
        let mut at = 0;
        loop {
            *steps = steps.checked_sub(1)?;
            let instruction = self.body.instructions.get(at)?;
            let runs = match instruction.guard {
                None => true,
                Some((register, negated)) => match registers.0.get(&register) {
                    Some(Value::Bits(bits)) => (*bits != 0) != negated,
                    _ => return None,
                },
            };
            if !runs {
                at += 1;
                continue;
            }
            match self.flow.end(instruction, self.body) {
                End::Next => {
                    match self.step(at, instruction, registers) {
                        Ok(None) => {}
                        Ok(Some(fault)) => return Some(fault),
                        Err(Ends) => return None,
                    }
                    at += 1;
                }
                End::Jump(targets) => {
                    let [target] = targets[..] else { return None };
                    at = target;
                }
                End::Leave | End::Unknown => return None,
            }
        }
    }

    fn step(&self, at: usize, instruction: &Instruction, registers: &mut Registers) -> Result<Option<Fault>, Ends> {
        let opcode = instruction.opcode.as_str();
        registers.1.look(instruction);
        match opcode {
            "ld" | "ldu" | "st" | "atom" | "red" => return self.access(at, instruction, registers),
            "call" | "brkpt" => return Err(Ends),
            _ => {}
        }
        let written = super::flow::written_by(instruction);
        let value = self.compute(instruction, registers).unwrap_or(Value::Unknown);
        if let Some(Operand::Pair(..)) = instruction.operands.first()
            && let [first, second] = written[..]
        {
            let opposite = match &value {
                Value::Bits(bits) if opcode == "setp" && instruction.operands.len() == 3 => {
                    Value::Bits(u64::from(*bits == 0))
                }
                _ => Value::Unknown,
            };
            registers.0.insert(first, value);
            registers.0.insert(second, opposite);
            return Ok(None);
        }
        match written[..] {
            [register] => drop(registers.0.insert(register, value)),
            _ => written
                .into_iter()
                .for_each(|register| drop(registers.0.insert(register, Value::Unknown))),
        }
        Ok(None)
    }

    fn value(&self, operand: &Operand, registers: &Registers) -> Value {
        match operand {
            Operand::Register(register) => registers.0.get(register).cloned().unwrap_or(Value::Unknown),
            Operand::NotPredicate(register) => match registers.0.get(register) {
                Some(Value::Bits(bits)) => Value::Bits(u64::from(*bits == 0)),
                _ => Value::Unknown,
            },
            Operand::Integer(value) => Value::Bits(*value as u64),
            Operand::Special(name) => self.special(name).map_or(Value::Unknown, Value::Bits),
            Operand::Symbol(name, offset) if self.bytes(name).is_some() => {
                Value::Variable(name.clone(), i128::from(*offset))
            }
            _ => Value::Unknown,
        }
    }

    fn special(&self, name: &str) -> Option<u64> {
        let (group, axis) = name.trim_start_matches('%').split_once('.')?;
        let axis = ["x", "y", "z"].iter().position(|known| *known == axis)?;
        let sides = match group {
            "tid" => self.thread,
            "ctaid" => self.block,
            "ntid" => self.launch.block,
            "nctaid" => self.launch.grid,
            _ => return None,
        };
        Some(sides[axis].into())
    }

    fn variable(&self, name: &str) -> Option<&Variable> {
        let mut all = self.body.variables.iter().chain(&self.module.variables);
        all.find(|variable| variable.name == name)
    }

    fn space(&self, name: &str) -> Option<Space> {
        Some(self.variable(name)?.space)
    }

    /// The bytes of a variable.
    fn bytes(&self, name: &str) -> Option<i128> {
        let variable = self.variable(name)?;
        match (variable.space, variable.size) {
            (Space::Shared, 0) => Some(self.launch.shared.into()),
            (Space::Param | Space::Reg, _) | (_, 0) => None,
            (_, size) => Some(size.into()),
        }
    }

    fn access(&self, at: usize, instruction: &Instruction, registers: &mut Registers) -> Result<Option<Fault>, Ends> {
        let mut types = instruction
            .modifiers
            .iter()
            .filter_map(|modifier| Type::named(modifier));
        let width = types.next_back().map(|ty| ty.size() as u64).ok_or(Ends)?;
        let parts = instruction
            .modifiers
            .iter()
            .find_map(|modifier| match modifier.as_str() {
                "v2" => Some(2),
                "v4" => Some(4),
                "v8" => Some(8),
                _ => None,
            });
        let size = width * parts.unwrap_or(1);
        let address = instruction.operands.iter().find_map(|operand| match operand {
            Operand::Address(base, offset) => Some((base, i128::from(*offset))),
            _ => None,
        });
        let (base, offset) = address.ok_or(Ends)?;
        let is_param = instruction.has("param");
        if let (true, Base::Symbol(name)) = (is_param, base) {
            self.load_argument(instruction, name, offset, width, registers);
            return Ok(None);
        }
        let memory = match base {
            Base::Register(register) => registers.0.get(register).cloned().unwrap_or(Value::Unknown),
            Base::Symbol(name) => self.value(&Operand::Symbol(name.clone(), 0), registers),
            Base::Absolute => Value::Unknown,
        };
        let (name, from, bytes, param) = match memory {
            Value::Param(param, from) => {
                let declared = self.kernel.params.get(param).ok_or(Ends)?;
                let Kind::Memory { unit: Some(unit), .. } = declared.kind else {
                    return Err(Ends);
                };
                let len = self.launch.arguments.get(param).ok_or(Ends)?;
                (declared.name.clone(), from, len * i128::from(unit), Some(param))
            }
            Value::Variable(name, from) => {
                let bytes = self.bytes(&name).ok_or(Ends)?;
                (name, from, bytes, None)
            }
            Value::Bits(_) | Value::Unknown => return Err(Ends),
        };
        // Addresses wrap around, so that a negative offset may be a huge one.
        let from = from.checked_add(offset).ok_or(Ends)?;
        let from = i128::from(from as i64);
        if from < 0 || from.checked_add(size.into()).is_none_or(|end| end > bytes) {
            return Ok(Some(Fault {
                instruction: at,
                memory: name,
                offset: from,
                size,
                bytes,
            }));
        }
        if !registers.1.has_ended && self.space(&name) != Some(Space::Local) {
            let value = match &instruction.operands[..] {
                [_, from] if parts.is_none() => match self.value(from, registers) {
                    Value::Bits(bits) => Some(extend(bits, width as u32 * 8, false)),
                    _ => None,
                },
                _ => None,
            };
            let (barriers, meetings) = (registers.1.barriers, registers.1.meetings);
            let writes = instruction.opcode == "st";
            registers.1.touched.push(Touched {
                instruction: at,
                is_shared: param.is_none() && self.space(&name) == Some(Space::Shared),
                memory: name,
                offset: from,
                size,
                writes,
                value: value.filter(|_| writes),
                barriers,
                meetings,
            });
        }
        let known = instruction.opcode == "ld" && param.is_some_and(|param| !self.written.get(param).unwrap_or(&true));
        let filled = u64::from_le_bytes([self.fill; 8]);
        let ty = instruction.modifiers.iter().rev().find_map(|modifier| int(modifier));
        for register in super::flow::written_by(instruction) {
            let value = match ty {
                Some(Int { bits, signed }) if known => Value::Bits(extend(filled, bits, signed)),
                _ => Value::Unknown,
            };
            registers.0.insert(register, value);
        }
        Ok(None)
    }

    fn load_argument(
        &self,
        instruction: &Instruction,
        name: &str,
        offset: i128,
        width: u64,
        registers: &mut Registers,
    ) {
        let param = self.function.params.iter().position(|param| param.name == name);
        let ty = instruction.modifiers.iter().rev().find_map(|modifier| int(modifier));
        for register in super::flow::written_by(instruction) {
            let value = param.and_then(|param| {
                let declared = &self.kernel.params.get(param)?.kind;
                Some(match (declared, ty) {
                    (Kind::Memory { .. }, _) if offset == 0 && width == 8 => Value::Param(param, 0),
                    (Kind::Integer { bits, .. }, Some(ty)) if offset == 0 && *bits == ty.bits => {
                        let argument = *self.launch.arguments.get(param)?;
                        Value::Bits(extend(argument as u64, ty.bits, ty.signed))
                    }
                    (Kind::Other, Some(ty)) => {
                        Value::Bits(extend(u64::from_le_bytes([self.fill; 8]), ty.bits, ty.signed))
                    }
                    _ => return None,
                })
            });
            registers.0.insert(register, value.unwrap_or(Value::Unknown));
        }
    }

    /// The result of an instruction; `None` if it is not known.
    fn compute(&self, instruction: &Instruction, registers: &Registers) -> Option<Value> {
        let operands = &instruction.operands;
        let has = |modifier: &str| instruction.has(modifier);
        let types: Vec<Option<Int>> = instruction
            .modifiers
            .iter()
            .filter(|modifier| Type::named(modifier).is_some())
            .map(|modifier| int(modifier))
            .collect();
        let number = |operand: &Operand| match self.value(operand, registers) {
            Value::Bits(bits) => Some(bits),
            _ => None,
        };
        if has("sat") || has("relu") || has("cc") {
            return None;
        }
        match (instruction.opcode.as_str(), &operands[..]) {
            ("mov" | "cvta", [_, from]) => return Some(self.value(from, registers)),
            ("selp", [_, a, b, condition]) => {
                let chosen = if number(condition)? != 0 { a } else { b };
                return Some(self.value(chosen, registers));
            }
            ("and" | "or" | "xor", [_, a, b]) if has("pred") => {
                let (a, b) = (number(a)? != 0, number(b)? != 0);
                return Some(Value::Bits(u64::from(match instruction.opcode.as_str() {
                    "and" => a && b,
                    "or" => a || b,
                    _ => a != b,
                })));
            }
            ("not", [_, a]) if has("pred") => return Some(Value::Bits(u64::from(number(a)? == 0))),
            ("cvt", [to, from]) => {
                let [Some(into), Some(of)] = types[..] else { return None };
                let value = match self.value(from, registers) {
                    Value::Bits(bits) => extend(bits, of.bits, of.signed),
                    other => return (into.bits == of.bits).then_some(other),
                };
                let register = match to {
                    Operand::Register(register) => self.body.registers.get(register.0 as usize)?.ty.size() as u32 * 8,
                    _ => into.bits,
                };
                let value = extend(value, into.bits, into.signed);
                return Some(Value::Bits(extend(value, register, false)));
            }
            _ => {}
        }
        let Int { bits, signed } = types.last().copied().flatten()?;
        let wide = |value: u64| -> i128 {
            let value = extend(value, bits, signed);
            if signed {
                i128::from(value as i64)
            } else {
                i128::from(value)
            }
        };
        let cut = |value: i128, bits: u32| Value::Bits(extend(value as u64, bits, false));
        if let ("add" | "sub", [_, a, b]) = (instruction.opcode.as_str(), &operands[..]) {
            let is_add = instruction.opcode == "add";
            let by = |value: u64| i128::from(extend(value, bits, true) as i64);
            return Some(match (self.value(a, registers), self.value(b, registers)) {
                (Value::Bits(a), Value::Bits(b)) => {
                    let value = if is_add { a.wrapping_add(b) } else { a.wrapping_sub(b) };
                    Value::Bits(extend(value, bits, false))
                }
                (Value::Param(param, at), Value::Bits(b)) => {
                    Value::Param(param, if is_add { at + by(b) } else { at - by(b) })
                }
                (Value::Bits(a), Value::Param(param, at)) if is_add => Value::Param(param, at + by(a)),
                (Value::Variable(name, at), Value::Bits(b)) => {
                    Value::Variable(name, if is_add { at + by(b) } else { at - by(b) })
                }
                (Value::Bits(a), Value::Variable(name, at)) if is_add => Value::Variable(name, at + by(a)),
                _ => return None,
            });
        }
        if let ("mad", [_, a, b, c]) = (instruction.opcode.as_str(), &operands[..]) {
            let product = product(&has, wide(number(a)?), wide(number(b)?), bits)?;
            let out = if has("wide") { bits * 2 } else { bits };
            return Some(match self.value(c, registers) {
                Value::Bits(c) => cut(product.checked_add(i128::from(c))?, out),
                Value::Param(param, at) => {
                    Value::Param(param, at + i128::from(extend(product as u64, out, true) as i64))
                }
                Value::Variable(name, at) => {
                    Value::Variable(name, at + i128::from(extend(product as u64, out, true) as i64))
                }
                Value::Unknown => return None,
            });
        }
        if let ("bfe", [_, a, at, len]) = (instruction.opcode.as_str(), &operands[..]) {
            let (a, at, len) = (number(a)?, number(at)? & 255, number(len)? & 255);
            let inside = !signed && at + len <= u64::from(bits) && len > 0;
            return inside.then(|| Value::Bits(extend(extend(a, bits, false) >> at, len as u32, false)));
        }
        let a = number(operands.get(1)?)?;
        let Some(b) = operands.get(2) else {
            return Some(match instruction.opcode.as_str() {
                "neg" => cut(-wide(a), bits),
                "not" => Value::Bits(extend(!a, bits, false)),
                "abs" => cut(wide(a).abs(), bits),
                _ => return None,
            });
        };
        let b = number(b)?;
        Some(match instruction.opcode.as_str() {
            "mul" => cut(
                product(&has, wide(a), wide(b), bits)?,
                if has("wide") { bits * 2 } else { bits },
            ),
            "shl" => match u32::try_from(b & u64::from(u32::MAX)).ok()? {
                by if by >= bits => Value::Bits(0),
                by => Value::Bits(extend(a << by, bits, false)),
            },
            "shr" => cut(
                wide(a) >> (b & u64::from(u32::MAX)).min(u64::from(bits) - u64::from(signed)),
                bits,
            ),
            "and" => Value::Bits(extend(a & b, bits, false)),
            "or" => Value::Bits(extend(a | b, bits, false)),
            "xor" => Value::Bits(extend(a ^ b, bits, false)),
            "min" => cut(wide(a).min(wide(b)), bits),
            "max" => cut(wide(a).max(wide(b)), bits),
            "div" => cut(wide(a).checked_div(wide(b))?, bits),
            "rem" => cut(wide(a).checked_rem(wide(b))?, bits),
            "setp" if operands.len() == 3 => {
                let op = instruction.modifiers.first()?.as_str();
                let signed = signed && !matches!(op, "lo" | "ls" | "hi" | "hs");
                let read = |value: u64| {
                    let value = extend(value, bits, signed);
                    if signed {
                        i128::from(value as i64)
                    } else {
                        i128::from(value)
                    }
                };
                let (a, b) = (read(a), read(b));
                Value::Bits(u64::from(match op {
                    "eq" => a == b,
                    "ne" => a != b,
                    "lt" | "lo" => a < b,
                    "le" | "ls" => a <= b,
                    "gt" | "hi" => a > b,
                    "ge" | "hs" => a >= b,
                    _ => return None,
                }))
            }
            _ => return None,
        })
    }
}

/// The low bits of a number, with those above them cleared or, if it is signed, copies of the top one.
fn extend(value: u64, bits: u32, signed: bool) -> u64 {
    if bits >= 64 {
        return value;
    }
    let low = value & (range_of(bits, false).1 as u64);
    if signed && low >> (bits - 1) == 1 {
        low | (u64::MAX << bits)
    } else {
        low
    }
}

/// The product in the width that `mul` and `mad` say.
fn product(has: &dyn Fn(&str) -> bool, a: i128, b: i128, bits: u32) -> Option<i128> {
    if has("lo") {
        return Some(i128::from((a as u64).wrapping_mul(b as u64)));
    }
    let product = a.checked_mul(b)?;
    if has("hi") {
        return Some(product >> bits);
    }
    has("wide").then_some(product)
}
