//! One thread of a kernel with numbers: what it does before it touches memory that it was not given.
//!
//! Memory that the kernel does not write has one byte everywhere. Values that a thread loads of other memory are not
//! known here, nor are floating-point numbers; a thread whose way depends on them tells nothing.

use super::flow::{End, Flow};
use super::machine::Machine;
use super::opcode::{is_of_block, types};
use super::value::{Int, Memory, int, range_of, variable, variables};
use super::{Kernel, Kind, Launch};
use crate::ast::{Base, Body, Function, Instruction, Module, Operand, Reg, Space, Type, Variable};

/// A value of a register.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    /// Bits of an integer or a predicate.
    Bits(u64),
    /// Bytes after the beginning of memory.
    Address(Memory, i128),
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

/// An instruction, as far as it does not depend on values: many threads run it.
struct Decoded {
    end: End,
    /// The registers that it writes.
    written: Vec<Reg>,
    /// The registers of its result, in their order: `None` for a part that is dropped.
    results: Vec<Option<Reg>>,
    /// The types that its modifiers name; `None` for those that are not of integers.
    types: Vec<Option<Int>>,
    /// The last type of integers.
    int: Option<Int>,
    /// The bytes of an element that it accesses.
    width: Option<u64>,
    /// The elements of a vector that it accesses.
    parts: Option<u64>,
}

/// All instructions of a body.
fn decoded(body: &Body, flow: &Flow) -> Vec<Decoded> {
    let decode = |instruction: &Instruction| {
        let modifiers = || instruction.modifiers.iter().map(String::as_str);
        Decoded {
            end: flow.end(instruction, body),
            written: super::flow::written_by(instruction),
            results: instruction
                .operands
                .first()
                .map(super::flow::parts_of)
                .unwrap_or_default(),
            types: types(instruction),
            int: modifiers().rev().find_map(int),
            width: modifiers()
                .filter_map(Type::named)
                .next_back()
                .map(|ty| ty.size() as u64),
            parts: modifiers().find_map(|modifier| match modifier {
                "v2" => Some(2),
                "v4" => Some(4),
                "v8" => Some(8),
                _ => None,
            }),
        }
    };
    body.instructions.iter().map(decode).collect()
}

/// A kernel whose threads are run with numbers.
pub(super) struct Threads<'m> {
    module: &'m Module,
    function: &'m Function,
    body: &'m Body,
    kernel: &'m Kernel,
    /// The instructions of `body`.
    code: Vec<Decoded>,
    /// The parameters whose memory the kernel writes; without those that are not known to be read only.
    written: Vec<bool>,
}

impl<'m> Threads<'m> {
    /// The threads of the kernel that was run with symbols.
    pub(super) fn of(machine: &Machine<'m>) -> Self {
        let &Machine {
            module,
            function,
            body,
            kernel,
            ref flow,
            ..
        } = machine;
        Self {
            module,
            function,
            body,
            kernel,
            code: decoded(body, flow),
            written: written(module, kernel),
        }
    }

    /// The thread of a launch that is at this place, in memory that has one byte everywhere.
    pub(super) fn at<'a>(&'a self, launch: &'a Launch, at: At, fill: u8) -> Thread<'a> {
        Thread {
            of: self,
            launch,
            at,
            fill,
        }
    }

    /// All threads of a launch, in memory of zeros.
    pub(super) fn all<'a>(&'a self, launch: &'a Launch) -> impl Iterator<Item = Thread<'a>> {
        places(launch.grid).flat_map(move |block| {
            let threads = places(launch.block);
            threads.map(move |thread| self.at(launch, At { block, thread }, 0))
        })
    }
}

/// All places of a grid or of a block.
fn places([x, y, z]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..z).flat_map(move |c| (0..y).flat_map(move |b| (0..x).map(move |a| [a, b, c])))
}

/// For each parameter, whether the kernel stores through it; empty if the kernel cannot be read.
fn written(module: &Module, kernel: &Kernel) -> Vec<bool> {
    let params = kernel.params.iter();
    let pointers: Vec<bool> = params.map(|param| matches!(param.kind, Kind::Memory { .. })).collect();
    let Some(summary) = crate::summarize(module, &kernel.entry, &pointers) else {
        return Vec::new();
    };
    let params = summary.params.iter();
    params.map(|param| param.access.stored.is_some()).collect()
}

/// The place of a thread in its launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At {
    /// Its block in the grid.
    pub(super) block: [u32; 3],
    /// Its place in the block.
    pub(super) thread: [u32; 3],
}

/// The thread to run.
pub(super) struct Thread<'a> {
    of: &'a Threads<'a>,
    launch: &'a Launch,
    pub(super) at: At,
    /// The byte that memory has everywhere.
    fill: u8,
}

/// An access that a thread has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Touched {
    pub(super) instruction: usize,
    pub(super) memory: Memory,
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

/// The registers of a running thread, by number, and its accesses.
struct Registers(Vec<Value>, Record);

impl Registers {
    fn new(body: &Body, record: Record) -> Self {
        Self(vec![Value::Unknown; body.registers.len()], record)
    }

    fn read(&self, register: Reg) -> &Value {
        self.0.get(register.0 as usize).unwrap_or(&Value::Unknown)
    }

    fn write(&mut self, register: Reg, value: Value) {
        if let Some(known) = self.0.get_mut(register.0 as usize) {
            *known = value;
        }
    }
}

/// The accesses of a thread, up to the first instruction that may order what follows after another thread.
#[derive(Default)]
struct Record {
    touched: Vec<Touched>,
    barriers: u32,
    meetings: u32,
    has_ended: bool,
    /// Whether the order of threads does not count: then the record has no end.
    is_whole: bool,
    /// Whether the thread has left the kernel.
    has_left: bool,
}

impl Record {
    /// Counts the barriers, and ends the record if others may be waited for in another way.
    fn look(&mut self, instruction: &Instruction) {
        match instruction.opcode.as_str() {
            "bar" | "barrier" if instruction.has("warp") => self.meetings += 1,
            "shfl" | "vote" | "match" | "redux" => self.meetings += 1,
            _ if self.is_whole => {}
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
        let record = Record {
            has_ended: true, // nobody asks for the accesses
            ..Record::default()
        };
        self.run(steps, &mut Registers::new(self.of.body, record))
    }

    /// The accesses of the thread in its first instructions, as far as nothing orders them after others.
    pub(super) fn touches(&self, mut steps: usize) -> Vec<Touched> {
        let mut registers = Registers::new(self.of.body, Record::default());
        self.run(&mut steps, &mut registers);
        registers.1.touched
    }

    /// All accesses of the thread, if it leaves the kernel and all of them are known.
    pub(super) fn whole(&self, steps: &mut usize) -> Option<Vec<Touched>> {
        let record = Record {
            is_whole: true,
            ..Record::default()
        };
        let mut registers = Registers::new(self.of.body, record);
        let fault = self.run(steps, &mut registers);
        (fault.is_none() && registers.1.has_left).then_some(registers.1.touched)
    }

    fn run(&self, steps: &mut usize, registers: &mut Registers) -> Option<Fault> {
        let mut at = 0;
        loop {
            *steps = steps.checked_sub(1)?;
            let Some(instruction) = self.of.body.instructions.get(at) else {
                registers.1.has_left = true;
                return None;
            };
            let runs = match instruction.guard {
                None => true,
                Some((register, negated)) => match registers.read(register) {
                    Value::Bits(bits) => (*bits != 0) != negated,
                    _ => return None,
                },
            };
            if !runs {
                at += 1;
                continue;
            }
            match &self.of.code[at].end {
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
                End::Leave => {
                    registers.1.has_left = true;
                    return None;
                }
                End::Unknown => return None,
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
        if let ("mov", [Operand::Vector(_), from]) = (opcode, &instruction.operands[..]) {
            self.unpack(at, &self.value(from, registers), registers);
            return Ok(None);
        }
        let written = &self.of.code[at].written;
        let value = self.compute(at, instruction, registers).unwrap_or(Value::Unknown);
        if let Some(Operand::Pair(..)) = instruction.operands.first()
            && let [first, second] = written[..]
        {
            let opposite = match &value {
                Value::Bits(bits) if opcode == "setp" && instruction.operands.len() == 3 => {
                    Value::Bits(u64::from(*bits == 0))
                }
                _ => Value::Unknown,
            };
            registers.write(first, value);
            registers.write(second, opposite);
            return Ok(None);
        }
        match written[..] {
            [register] => registers.write(register, value),
            _ => written
                .iter()
                .for_each(|&register| registers.write(register, Value::Unknown)),
        }
        Ok(None)
    }

    /// `mov.b64 {%r1, %r2}, %rd1`
    fn unpack(&self, at: usize, value: &Value, registers: &mut Registers) {
        for (position, register) in self.of.code[at].results.iter().enumerate() {
            let &Some(register) = register else { continue };
            let bits = self.bits(register);
            let part = match value {
                Value::Bits(all) => all.checked_shr(bits * position as u32),
                _ => None,
            };
            let part = part.map(|part| Value::Bits(extend(part, bits, false)));
            registers.write(register, part.unwrap_or(Value::Unknown));
        }
    }

    /// The bits of a register.
    fn bits(&self, register: Reg) -> u32 {
        let known = self.of.body.registers.get(register.0 as usize);
        known.map_or(64, |known| known.ty.size() as u32 * 8)
    }

    fn value(&self, operand: &Operand, registers: &Registers) -> Value {
        match operand {
            Operand::Register(register) => registers.read(*register).clone(),
            Operand::NotPredicate(register) => match registers.read(*register) {
                Value::Bits(bits) => Value::Bits(u64::from(*bits == 0)),
                _ => Value::Unknown,
            },
            Operand::Integer(value) => Value::Bits(*value as u64),
            Operand::Special(name) => self.special(name).map_or(Value::Unknown, Value::Bits),
            Operand::Symbol(name, offset) => {
                let memory = Memory::Variable(name.clone());
                if self.bytes(&memory).is_none() {
                    return Value::Unknown;
                }
                Value::Address(memory, i128::from(*offset))
            }
            _ => Value::Unknown,
        }
    }

    fn special(&self, name: &str) -> Option<u64> {
        if name == "%dynamic_smem_size" {
            return Some(self.launch.shared.into());
        }
        let (group, axis) = name.trim_start_matches('%').split_once('.')?;
        let axis = ["x", "y", "z"].iter().position(|known| *known == axis)?;
        let sides = match group {
            "tid" => self.at.thread,
            "ctaid" => self.at.block,
            "ntid" => self.launch.block,
            "nctaid" => self.launch.grid,
            _ => return None,
        };
        Some(sides[axis].into())
    }

    fn variable(&self, memory: &Memory) -> Option<&Variable> {
        match memory {
            Memory::Param(_) => None,
            Memory::Variable(name) | Memory::Generic(name) => variable(self.of.module, self.of.body, name),
        }
    }

    fn space(&self, memory: &Memory) -> Option<Space> {
        Some(self.variable(memory)?.space)
    }

    /// The bytes of memory.
    fn bytes(&self, memory: &Memory) -> Option<i128> {
        if let Memory::Param(param) = memory {
            let Kind::Memory { unit: Some(unit), .. } = self.of.kernel.params.get(*param)?.kind else {
                return None;
            };
            return Some(self.launch.arguments.get(*param)? * i128::from(unit));
        }
        let variable = self.variable(memory)?;
        match (variable.space, variable.size) {
            (Space::Shared, 0) => Some(self.launch.shared.into()),
            (Space::Param | Space::Reg, _) | (_, 0) => None,
            (_, size) => Some(size.into()),
        }
    }

    /// The bytes that may lie directly before or behind memory: those of the other variables of shared or of local
    /// memory.
    fn beside(&self, memory: &Memory) -> i128 {
        let Some(own) = self
            .variable(memory)
            .filter(|own| matches!(own.space, Space::Shared | Space::Local))
        else {
            return 0;
        };
        let others = variables(self.of.module, self.of.body);
        let others = others.filter(|other| other.space == own.space && other.name != own.name);
        let is_static = own.space == Space::Shared && own.size > 0;
        let dynamic = if is_static { self.launch.shared } else { 0 };
        let bytes = others.map(|other| i128::from(other.size) + i128::from(other.align.max(own.align)));
        bytes.sum::<i128>() + i128::from(dynamic)
    }

    fn access(&self, at: usize, instruction: &Instruction, registers: &mut Registers) -> Result<Option<Fault>, Ends> {
        let &Decoded {
            width,
            parts,
            int: ty,
            ref written,
            ..
        } = &self.of.code[at];
        let width = width.ok_or(Ends)?;
        let size = width * parts.unwrap_or(1);
        let address = instruction.operands.iter().find_map(|operand| match operand {
            Operand::Address(base, offset) => Some((base, i128::from(*offset))),
            _ => None,
        });
        let (base, offset) = address.ok_or(Ends)?;
        let is_param = instruction.has("param");
        if let (true, Base::Symbol(name)) = (is_param, base) {
            self.load_argument(at, name, offset, width, registers);
            return Ok(None);
        }
        let memory = match base {
            Base::Register(register) => registers.read(*register).clone(),
            Base::Symbol(name) => self.value(&Operand::Symbol(name.clone(), 0), registers),
            Base::Absolute => Value::Unknown,
        };
        let Value::Address(memory, from) = memory else {
            return Err(Ends);
        };
        let bytes = self.bytes(&memory).ok_or(Ends)?;
        // Addresses wrap around, so that a negative offset may be a huge one.
        let from = from.checked_add(offset).ok_or(Ends)?;
        let from = i128::from(from as i64);
        let end = from.checked_add(size.into()).ok_or(Ends)?;
        if from < 0 || end > bytes {
            let beside = self.beside(&memory);
            if -beside <= from && end <= bytes + beside {
                return Err(Ends); // another variable may lie there
            }
            return Ok(Some(Fault {
                instruction: at,
                memory: self.of.kernel.name_of(&memory),
                offset: from,
                size,
                bytes,
            }));
        }
        let space = self.space(&memory);
        if !registers.1.has_ended && space != Some(Space::Local) {
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
                memory: memory.itself(self.of.module, self.of.body),
                is_shared: space == Some(Space::Shared),
                offset: from,
                size,
                writes,
                value: value.filter(|_| writes),
                barriers,
                meetings,
            });
        }
        let is_unwritten = match memory {
            Memory::Param(param) => !self.of.written.get(param).unwrap_or(&true),
            Memory::Variable(_) | Memory::Generic(_) => false,
        };
        let known = instruction.opcode == "ld" && is_unwritten;
        let filled = u64::from_le_bytes([self.fill; 8]);
        for &register in written {
            let value = match ty {
                Some(Int { bits, signed }) if known => Value::Bits(extend(filled, bits, signed)),
                _ => Value::Unknown,
            };
            registers.write(register, value);
        }
        Ok(None)
    }

    fn load_argument(&self, at: usize, name: &str, offset: i128, width: u64, registers: &mut Registers) {
        let param = self.of.function.params.iter().position(|param| param.name == name);
        let Decoded { int: ty, results, .. } = &self.of.code[at];
        for (part, register) in results.iter().enumerate() {
            let &Some(register) = register else { continue };
            let offset = offset + part as i128 * i128::from(width);
            let value = param.and_then(|param| self.argument(param, offset, width, *ty));
            registers.write(register, value.unwrap_or(Value::Unknown));
        }
    }

    /// The part of an argument that begins with this byte; `None` if it is not known.
    fn argument(&self, param: usize, offset: i128, width: u64, ty: Option<Int>) -> Option<Value> {
        let kind = self.of.kernel.params.get(param)?.kind;
        if let Kind::Memory { .. } = kind {
            return (offset == 0 && width == 8).then_some(Value::Address(Memory::Param(param), 0));
        }
        let part = ty?;
        let number = match kind {
            Kind::Integer { bits, .. } => {
                let first = u32::try_from(offset).ok()? * 8;
                let is_inside = first + part.bits <= bits;
                is_inside.then_some(*self.launch.arguments.get(param)? as u64 >> first)?
            }
            Kind::Memory { .. } | Kind::Handle | Kind::Other => u64::from_le_bytes([self.fill; 8]),
        };
        Some(Value::Bits(extend(number, part.bits, part.signed)))
    }

    /// The result of an instruction; `None` if it is not known.
    fn compute(&self, at: usize, instruction: &Instruction, registers: &Registers) -> Option<Value> {
        let operands = &instruction.operands;
        let has = |modifier: &str| instruction.has(modifier);
        let types = &self.of.code[at].types;
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
                    Operand::Register(register) => self.bits(*register),
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
                (Value::Address(memory, at), Value::Bits(b)) => {
                    Value::Address(memory, if is_add { at + by(b) } else { at - by(b) })
                }
                (Value::Bits(a), Value::Address(memory, at)) if is_add => Value::Address(memory, at + by(a)),
                _ => return None,
            });
        }
        if let ("mad", [_, a, b, c]) = (instruction.opcode.as_str(), &operands[..]) {
            let product = product(&has, wide(number(a)?), wide(number(b)?), bits)?;
            let out = if has("wide") { bits * 2 } else { bits };
            return Some(match self.value(c, registers) {
                Value::Bits(c) => cut(product.checked_add(i128::from(c))?, out),
                Value::Address(memory, at) => {
                    Value::Address(memory, at + i128::from(extend(product as u64, out, true) as i64))
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
