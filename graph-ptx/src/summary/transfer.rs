//! The effect of one instruction on the values of the fixpoint.

use std::rc::Rc;

use super::flow::{Cell, Flow, Reach};
use super::forward::{loaded, stored};
use super::opcode::{Action, Computation, address_of, extent, through, width, written};
use super::program::Symbol;
use super::source::Source;
use super::value::{Spot, Value};
use crate::ast::{Base, Instruction, Operand, Space};

/// External functions that leave memory alone, as far as a graph can see.
pub(super) const HARMLESS: [&str; 6] = [
    "vprintf",
    "malloc",
    "free",
    "__assertfail",
    "__trap",
    "cudaGraphSetConditional",
];

impl Flow<'_, '_> {
    /// Updates the results of one instruction.
    pub(super) fn transfer(&mut self, context: usize, index: u32) {
        let prepared = Rc::clone(&self.contexts[context].prepared);
        let instruction = &prepared.body.instructions[index as usize];
        let action = prepared.actions[index as usize];
        match action {
            Action::Nothing => {}
            Action::Call => self.transfer_call(context, index, instruction),
            Action::Store => {
                self.transfer_store(context, instruction);
                for load in prepared.forwards.loads_after(index) {
                    self.enqueue(context, load);
                }
            }
            Action::Move => self.transfer_move(context, instruction),
            Action::Unknown => self.transfer_unknown(context, instruction),
            Action::Load | Action::Atomic | Action::Compute(_) => {
                let store = prepared.forwards.store_before(index);
                let store = store.map(|store| &prepared.body.instructions[store as usize]);
                let forwarded = store.and_then(|store| self.forwarded(context, store, instruction));
                let result = forwarded.unwrap_or_else(|| self.result(context, instruction, action));
                for register in written(instruction, action) {
                    self.join_slot(context, register, result);
                }
            }
        }
    }

    /// The value of a load right after a store, if both are of one place of one local variable.
    fn forwarded(&mut self, context: usize, store: &Instruction, load: &Instruction) -> Option<Value> {
        let ((to, value), from) = (stored(store)?, loaded(load)?);
        let (to, from) = (self.operand(context, to), self.operand(context, from));
        if to.is_bottom() && !self.settled {
            return Some(Value::BOTTOM);
        }
        let place = self.spot(to)?;
        let same = self.spot(from) == Some(place) && self.is_alone(place);
        same.then(|| self.operand(context, value))
    }

    /// The value of the destination.
    fn result(&mut self, context: usize, instruction: &Instruction, action: Action) -> Value {
        let sources = self.operands(context, instruction.operands.get(1..).unwrap_or_default());
        match (action, &sources[..]) {
            (Action::Load, [address, ..]) => {
                // The coordinates in a texture or a surface are no part of the address.
                let handle = through(instruction).and_then(|_| address_of(&instruction.operands[1]));
                let address = handle.map_or(*address, |handle| self.operand(context, handle));
                self.load(instruction, address)
            }
            (Action::Atomic, _) => self.transfer_atomic(context, instruction),
            (Action::Compute(computation), sources) => {
                let packed = match instruction.operands.get(1) {
                    Some(Operand::Vector(parts)) => <[Value; 2]>::try_from(self.operands(context, parts)).ok(),
                    _ => None,
                };
                let workspace = self.workspace(instruction, sources, packed);
                workspace.unwrap_or_else(|| self.compute(instruction, computation, sources))
            }
            (Action::Load, [])
            | (Action::Store | Action::Move | Action::Call | Action::Nothing | Action::Unknown, _) => {
                self.sets.mix(&sources)
            }
        }
    }

    fn compute(&mut self, instruction: &Instruction, computation: Computation, sources: &[Value]) -> Value {
        match (computation, sources) {
            (Computation::Copy, [source, ..]) => *source,
            (Computation::Add, [a, b]) => {
                let sum = self.sets.add(*a, *b);
                match instruction.operands[1..] {
                    [_, Operand::Integer(bytes)] => along(*a, bytes, sum),
                    [Operand::Integer(bytes), _] => along(*b, bytes, sum),
                    _ => sum,
                }
            }
            (Computation::Subtract, [a, b]) => {
                let difference = self.sets.subtract(*a, *b);
                match instruction.operands[1..] {
                    [_, Operand::Integer(bytes)] => along(*a, bytes.wrapping_neg(), difference),
                    _ => difference,
                }
            }
            (Computation::MultiplyAdd, [a, b, c]) => {
                let product = self.sets.mix(&[*a, *b]);
                self.sets.add(product, *c)
            }
            (Computation::Combine, [a, b]) => self.combine(instruction, *a, *b),
            (Computation::Select, [a, b, ..]) => self.sets.join(*a, *b),
            (Computation::Convert, [source]) => self.convert(instruction, *source),
            (Computation::Resize, [source]) => self.resize(instruction, *source),
            (Computation::Shared, _) => self.pointer(Source::Shared),
            (Computation::Fresh, _) => Value::OPAQUE,
            // Also any computation with an unusual number of operands.
            (
                Computation::Mix
                | Computation::Copy
                | Computation::Add
                | Computation::Subtract
                | Computation::MultiplyAdd
                | Computation::Combine
                | Computation::Select
                | Computation::Convert
                | Computation::Resize,
                sources,
            ) => self.sets.mix(sources),
        }
    }

    /// The address of an object.
    fn pointer(&mut self, source: Source) -> Value {
        Value::pointer(self.sets.single(source))
    }

    /// The value of an operand: for an address, the value of its base; for a vector, of any of its parts.
    pub(super) fn operand(&mut self, context: usize, operand: &Operand) -> Value {
        match operand {
            Operand::Register(register) | Operand::Part(register, _) => self.value_at(self.place(context, register.0)),
            Operand::Address(Base::Register(register), offset) => {
                self.value_at(self.place(context, register.0)).moved(*offset)
            }
            Operand::Symbol(name, offset) | Operand::Address(Base::Symbol(name), offset) => {
                self.symbol(context, name).moved(*offset)
            }
            Operand::Integer(0) => Value::NULL,
            Operand::Vector(parts) => self.joined(context, parts),
            Operand::Special(name) => self.special(name),
            Operand::NotPredicate(_)
            | Operand::Pair(..)
            | Operand::Integer(_)
            | Operand::F32(_)
            | Operand::F64(_)
            | Operand::Address(Base::Absolute, _)
            | Operand::Label(_)
            | Operand::Discard => Value::NUMBER,
        }
    }

    fn operands(&mut self, context: usize, operands: &[Operand]) -> Vec<Value> {
        operands.iter().map(|operand| self.operand(context, operand)).collect()
    }

    /// The value of any of these operands.
    fn joined<'o>(&mut self, context: usize, operands: impl IntoIterator<Item = &'o Operand>) -> Value {
        operands.into_iter().fold(Value::BOTTOM, |joined, operand| {
            let value = self.operand(context, operand);
            self.sets.join(joined, value)
        })
    }

    /// The address that a symbol names.
    fn symbol(&mut self, context: usize, name: &str) -> Value {
        let source = match self.contexts[context].prepared.symbols.get(name) {
            Some(Symbol::Slot(slot)) => Some(Source::Slot(self.place(context, *slot))),
            Some(Symbol::KernelParam(index)) => Some(Source::ParamAddress(*index)),
            Some(&Symbol::Local(index)) => {
                let spot = self.local(context, index);
                return self.in_local(Some(spot));
            }
            Some(Symbol::Memory(space)) => memory(*space),
            None => self.program.variable(name).and_then(|index| {
                let number = u32::try_from(index).ok()?;
                memory(self.program.module.variables[index].space).or(Some(Source::Variable(number)))
            }),
        };
        source.map_or(Value::OPAQUE, |source| self.pointer(source))
    }

    /// An address in local memory, at a place or anywhere.
    fn in_local(&mut self, spot: Option<Spot>) -> Value {
        let pointer = self.pointer(Source::Local);
        Value { spot, ..pointer }
    }

    /// The result of a bit operation. The low bits of an address alone carry no taint: code that rebuilds the address
    /// needs the other bits too.
    fn combine(&mut self, instruction: &Instruction, a: Value, b: Value) -> Value {
        let low = |operand: &Operand| matches!(operand, Operand::Integer(mask) if (0..4096).contains(mask));
        if instruction.opcode == "and" && instruction.operands[1..].iter().any(low) {
            let is_open = a.is_bottom() || b.is_bottom();
            return if is_open { Value::BOTTOM } else { Value::OPAQUE };
        }
        // A complement is a negation, not an address.
        let complement = |operand: &Operand| !matches!(operand, Operand::Integer(0..4096));
        if instruction.opcode == "xor" && instruction.operands[1..].iter().all(complement) {
            return self.sets.mix(&[a, b]);
        }
        self.sets.combine(a, b)
    }

    /// `cvta`: to another window, or from one.
    fn convert(&mut self, instruction: &Instruction, source: Value) -> Value {
        let named = match instruction.spaces().next() {
            _ if instruction.has("to") => None,
            Some(Space::Shared) => Some(Source::Shared),
            Some(Space::Local) => Some(Source::Local),
            Some(Space::Const) => Some(Source::Const),
            Some(Space::Global | Space::Param | Space::Reg) | None => None,
        };
        match named {
            Some(Source::Local) if self.spot(source).is_some() => source,
            Some(window) if !source.is_bottom() => {
                let bits = self.sets.bits(source);
                Value {
                    taint: bits,
                    ..self.pointer(window)
                }
            }
            _ => source,
        }
    }

    /// `cvt` between 64-bit integers keeps an address; every other `cvt` mixes.
    fn resize(&mut self, instruction: &Instruction, source: Value) -> Value {
        let keeps = |modifier: &String| matches!(modifier.as_str(), "u64" | "s64" | "b64");
        let types = instruction.modifiers.iter().filter(|modifier| keeps(modifier)).count();
        if types == 2 { source } else { self.sets.mix(&[source]) }
    }

    /// The place of an address that is in local memory and nowhere else, if that is one place.
    fn spot(&mut self, address: Value) -> Option<Spot> {
        let only = self.in_local(address.spot);
        address.spot.filter(|_| address == only)
    }

    fn load(&mut self, instruction: &Instruction, address: Value) -> Value {
        let space = instruction.spaces().next();
        let value = self.read(space, address, extent(instruction));
        self.narrowed(instruction, value)
    }

    /// The value of an element, of which an address is nothing but a part of the bits if it is too narrow.
    fn narrowed(&mut self, instruction: &Instruction, value: Value) -> Value {
        let is_wide = width(instruction) >= self.program.module.address_size;
        if is_wide { value } else { self.sets.mix(&[value]) }
    }

    /// The value that `bytes` of memory at an address may hold; any number of bytes if `None`.
    pub(super) fn read(&mut self, space: Option<Space>, address: Value, bytes: Option<u64>) -> Value {
        match space {
            Some(Space::Shared) => return self.cell(Cell::Shared),
            Some(Space::Local) => {
                return match self.spot(address) {
                    Some(spot) => self.read_spot(spot, bytes),
                    None => self.cell(Cell::Local),
                };
            }
            Some(Space::Const) => return Value::OPAQUE,
            Some(Space::Global | Space::Param | Space::Reg) | None => {}
        }
        let mut value = Value::BOTTOM;
        for reach in self.reached(address) {
            let held = match reach {
                Reach::Cell(Cell::Device) => {
                    let taint = self.sets.bits(self.cell(Cell::Device));
                    Value { taint, ..Value::OPAQUE }
                }
                Reach::Cell(cell @ (Cell::Shared | Cell::Local)) => self.cell(cell),
                Reach::Spot(spot) => self.read_spot(spot, bytes),
            };
            value = self.sets.join(value, held);
        }
        for source in self.sets.members(address.base).to_vec() {
            let held = match source {
                Source::Slot(place) => self.value_at(place),
                Source::ParamAddress(index) if self.pointers.get(index as usize) == Some(&true) => {
                    self.pointer(Source::Param(index))
                }
                Source::ParamAddress(index) => Value::by_value(self.sets.single(Source::ByValue(index))),
                Source::Const => Value::OPAQUE,
                Source::Shared
                | Source::Local
                | Source::Param(_)
                | Source::ByValue(_)
                | Source::Variable(_)
                | Source::Workspace
                | Source::WorkspacePart(_) => continue,
            };
            value = self.sets.join(value, held);
        }
        value
    }

    /// The memory that a generic address may lie in.
    fn reached(&mut self, address: Value) -> Vec<Reach> {
        if address.is_bottom() {
            return Vec::new();
        }
        if let Some(spot) = self.spot(address) {
            return vec![Reach::Spot(spot)];
        }
        let bits = self.sets.bits(address);
        let elsewhere = |source: &Source| {
            use Source::{Param, Variable, Workspace, WorkspacePart};
            matches!(source, Param(_) | Variable(_) | Workspace | WorkspacePart(_))
        };
        let device = address.opaque
            || address.number
            || address.null
            || !address.by_value.is_empty()
            || self.sets.is_all(address.base)
            || self.sets.members(address.base).iter().any(elsewhere);
        let mut cells = Vec::new();
        for (cell, source) in [(Cell::Shared, Source::Shared), (Cell::Local, Source::Local)] {
            if self.sets.contains(bits, source) || (device && self.escaped(cell)) {
                cells.push(Reach::Cell(cell));
            }
        }
        if device {
            cells.push(Reach::Cell(Cell::Device));
        }
        cells
    }

    /// Notes that a value is written to `bytes` of memory at an address; to any number of bytes if `None`.
    pub(super) fn write(&mut self, space: Option<Space>, address: Value, bytes: Option<u64>, value: Value) {
        match space {
            Some(Space::Shared) => return self.join_cell(Cell::Shared, value),
            Some(Space::Local) => {
                return match self.spot(address) {
                    Some(spot) => self.write_spot(spot, bytes, value),
                    None if address.is_bottom() && !self.settled => {}
                    None => self.join_cell(Cell::Local, value),
                };
            }
            Some(Space::Global | Space::Const | Space::Param | Space::Reg) | None => {}
        }
        for reach in self.reached(address) {
            match reach {
                Reach::Cell(cell) => self.join_cell(cell, value),
                Reach::Spot(spot) => self.write_spot(spot, bytes, value),
            }
        }
        for source in self.sets.members(address.base).to_vec() {
            if let Source::Slot(place) = source {
                self.join_place(place, value);
            }
        }
    }

    fn transfer_store(&mut self, context: usize, instruction: &Instruction) {
        let Some(address) = instruction.operands.iter().find_map(address_of) else {
            return;
        };
        let address = self.operand(context, address);
        let mut stored = instruction
            .operands
            .iter()
            .filter(|operand| address_of(operand).is_none())
            .peekable();
        let value = match stored.peek() {
            Some(_) => self.joined(context, stored),
            None => Value::OPAQUE,
        };
        let value = self.narrowed(instruction, value);
        self.write(instruction.spaces().next(), address, extent(instruction), value);
    }

    fn transfer_atomic(&mut self, context: usize, instruction: &Instruction) -> Value {
        self.transfer_store(context, instruction);
        let Some(address) = instruction.operands.iter().find_map(address_of) else {
            return Value::OPAQUE;
        };
        let address = self.operand(context, address);
        self.load(instruction, address)
    }

    fn transfer_move(&mut self, context: usize, instruction: &Instruction) {
        let mut addresses = instruction
            .operands
            .iter()
            .filter(|operand| address_of(operand).is_some());
        let (Some(to), Some(from)) = (addresses.next(), addresses.next()) else {
            return;
        };
        let (to, from) = (self.target(context, to), self.target(context, from));
        let mut spaces = instruction.spaces();
        let (to_space, from_space) = (spaces.next(), spaces.next());
        let value = self.read(from_space, from, None);
        self.write(to_space, to, None, value);
    }

    /// The address that a copy goes to or comes from; unknown if a tensor map holds it.
    fn target(&mut self, context: usize, operand: &Operand) -> Value {
        match operand {
            Operand::Vector(_) => Value::OPAQUE,
            address => self.operand(context, address),
        }
    }

    /// The effect of an unknown instruction, which may read and write everything that it names.
    fn transfer_unknown(&mut self, context: usize, instruction: &Instruction) {
        let values = self.operands(context, &instruction.operands);
        let mixed = match self.sets.mix(&values) {
            Value::BOTTOM => Value::OPAQUE,
            mixed => Value { opaque: true, ..mixed },
        };
        for register in written(instruction, Action::Unknown) {
            self.join_slot(context, register, mixed);
        }
        if instruction.operands.iter().any(|operand| address_of(operand).is_some()) {
            for cell in [Cell::Shared, Cell::Local, Cell::Device] {
                self.join_cell(cell, mixed);
            }
        }
    }
}

/// The sum of `from` and a literal, which points into local memory where `from` does, `bytes` further on.
fn along(from: Value, bytes: i128, sum: Value) -> Value {
    let spot = i64::try_from(bytes).ok().and_then(|bytes| from.moved(bytes).spot);
    Value { spot, ..sum }
}

/// The window that a variable of a space is in, `None` for global ones.
fn memory(space: Space) -> Option<Source> {
    match space {
        Space::Shared => Some(Source::Shared),
        Space::Local => Some(Source::Local),
        Space::Const => Some(Source::Const),
        Space::Global | Space::Param | Space::Reg => None,
    }
}
