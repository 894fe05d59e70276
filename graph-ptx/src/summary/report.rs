//! From the fixpoint to the summary: each access of an instruction is recorded for each source of its address.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::call::call_of;
use super::dependency::{Reached, is_wait};
use super::flow::{Cell, Flow};
use super::opcode::{Action, address_of, atomic_element, bytes_at_once, element_type, system_word, through};
use super::source::Source;
use super::value::Value;
use super::{Access, KernelSummary, Store, Through, VariableAccess};
use crate::ast::{Base, Instruction, Operand, Space, Type, each_leaf};

/// The way in which memory is touched.
#[derive(Clone, Copy, Debug, Default)]
struct Touch {
    load: bool,
    store: bool,
    atomic: bool,
    /// The size in bytes of the elements of an `atom` or `red`; 0 for all else.
    element: u32,
    /// The type of the elements, if the instruction tells it.
    ty: Option<Type>,
    /// Whether it is an `atom` or `red` that is atomic within a block or a cluster alone.
    narrow: bool,
    /// The size in bytes of the words of a load or a store that is strong for the whole system; 0 for all else.
    word: u32,
    /// Whether it goes through caches that do not see the writes of others.
    noncoherent: bool,
    /// The form of the access, if it is one through a handle.
    through: Option<Through>,
    /// Whether it can come before `griddepcontrol.wait`.
    early: bool,
    /// The bytes that it accesses at once; 16 if it does not say.
    bytes: u32,
}

const LOAD: Touch = Touch {
    load: true,
    store: false,
    atomic: false,
    element: 0,
    ty: None,
    narrow: false,
    word: 0,
    noncoherent: false,
    through: None,
    early: false,
    bytes: 16,
};
const STORE: Touch = Touch {
    load: false,
    store: true,
    ..LOAD
};
const ATOMIC: Touch = Touch { atomic: true, ..STORE };
const BOTH: Touch = Touch { store: true, ..LOAD };
const NONCOHERENT: Touch = Touch {
    noncoherent: true,
    ..LOAD
};
/// The access of code or instructions that are not known.
const ANYTHING: Touch = Touch {
    noncoherent: true,
    ..BOTH
};

/// Keeps the first of the lines.
fn first(place: &mut Option<u32>, line: u32) {
    *place = Some(place.map_or(line, |known| known.min(line)));
}

/// Keeps the last of the lines.
fn last(place: &mut Option<u32>, line: u32) {
    *place = Some(place.map_or(line, |known| known.max(line)));
}

/// The summary being filled.
#[derive(Debug)]
pub(super) struct Report<'s> {
    summary: &'s mut KernelSummary,
    /// Whether the current instruction is early.
    early: bool,
    /// Whether the current instruction may come after `griddepcontrol.launch_dependents`.
    triggered: bool,
    variables: BTreeMap<u32, VariableAccess>,
    /// The indices of the `.const` variables that the code mentions.
    constants: BTreeSet<usize>,
    /// Whether a load may reach `.const` variables that the code does not mention.
    any_constant: bool,
    stores: HashMap<(Vec<usize>, bool), u32>,
}

impl<'s> Report<'s> {
    /// Fills the accesses of `summary` from a finished analysis.
    pub(super) fn fill(summary: &'s mut KernelSummary, flow: &mut Flow<'_, '_>) {
        let early = Reached::early(flow);
        let triggered = Reached::triggered(flow);
        summary.early_exit = early.exit;
        let mut report = Report {
            summary,
            early: false,
            triggered: false,
            variables: BTreeMap::new(),
            constants: BTreeSet::new(),
            any_constant: false,
            stores: HashMap::new(),
        };
        for context in 0..flow.contexts.len() {
            let prepared = Rc::clone(&flow.contexts[context].prepared);
            for (index, (instruction, &action)) in prepared.body.instructions.iter().zip(&prepared.actions).enumerate()
            {
                report.early = early.contains(context, index);
                report.triggered = triggered.contains(context, index);
                report.constants(flow, context, instruction);
                report.instruction(flow, context, instruction, action);
            }
        }
        let constants = flow.program.module.variables.iter().enumerate();
        let constants = constants.filter(|(_, variable)| variable.space == Space::Const);
        let read = constants.filter(|(index, _)| report.any_constant || report.constants.contains(index));
        report.summary.constants = read.map(|(_, variable)| variable.name.clone()).collect();
        report.finish();
    }

    /// Notes the `.const` variables that an instruction mentions. The address of such a variable comes from a mention,
    /// from memory or from a parameter; `cvta` can make one from any number.
    fn constants(&mut self, flow: &mut Flow<'_, '_>, context: usize, instruction: &Instruction) {
        each_leaf(&instruction.operands, &mut |leaf| {
            if let Operand::Symbol(name, _) | Operand::Address(Base::Symbol(name), _) = leaf {
                let is_local = flow.contexts[context].prepared.symbols.contains_key(name.as_str());
                self.constants.extend(flow.program.variable(name).filter(|_| !is_local));
            }
        });
        if instruction.opcode == "cvta" && instruction.spaces().next() == Some(Space::Const) {
            for operand in instruction.operands.iter().skip(1) {
                let value = flow.operand(context, operand);
                self.any_constant |= !is_constant(flow, value);
            }
        }
    }

    fn finish(self) {
        self.summary.variables = self.variables.into_values().collect();
        let store = |((params, unknown), line)| Store { line, params, unknown };
        let mut stores: Vec<Store> = self.stores.into_iter().map(store).collect();
        stores.sort_by(|a, b| (a.line, &a.params).cmp(&(b.line, &b.params)));
        self.summary.stores = stores;
    }

    fn instruction(&mut self, flow: &mut Flow<'_, '_>, context: usize, instruction: &Instruction, action: Action) {
        let line = instruction.line;
        let touch = match action {
            Action::Load if through(instruction).is_some() => Touch {
                through: through(instruction),
                ..NONCOHERENT
            },
            Action::Load if instruction.has("nc") || instruction.opcode == "ldu" => NONCOHERENT,
            Action::Load => Touch {
                word: system_word(instruction),
                ..LOAD
            },
            Action::Store => Touch {
                through: through(instruction),
                word: system_word(instruction),
                ..STORE
            },
            Action::Atomic if instruction.opcode == "tensormap" => BOTH,
            Action::Atomic => Touch {
                element: atomic_element(instruction),
                narrow: instruction.has("cta") || instruction.has("cluster"),
                ..ATOMIC
            },
            Action::Move => return self.copy(flow, context, instruction),
            Action::Call => return self.call(flow, context, instruction),
            Action::Unknown => return self.unknown(flow, context, instruction),
            // It fetches the tensor map. Other prefetches have no effect that a program can see.
            Action::Nothing if instruction.opcode == "prefetch" && instruction.has("tensormap") => NONCOHERENT,
            Action::Nothing if is_wait(instruction) => return first(&mut self.summary.dependency_wait, line),
            Action::Nothing if instruction.opcode == "griddepcontrol" => {
                return first(&mut self.summary.launch_dependents, line);
            }
            Action::Nothing | Action::Compute(_) => return,
        };
        let (ty, bytes) = (element_type(instruction), bytes_at_once(instruction));
        if let Some(address) = instruction.operands.iter().find_map(address_of) {
            let address = flow.operand(context, address);
            self.access(
                flow,
                instruction.spaces().next(),
                address,
                Touch { ty, bytes, ..touch },
                line,
            );
        }
    }

    /// Records the accesses of a copy, which reads through its second address and writes through its first.
    fn copy(&mut self, flow: &mut Flow<'_, '_>, context: usize, instruction: &Instruction) {
        let reduces = instruction
            .modifiers
            .first()
            .is_some_and(|modifier| modifier == "reduce");
        let bytes = bytes_at_once(instruction);
        let touches = [if reduces { ATOMIC } else { STORE }, LOAD].map(|touch| Touch { bytes, ..touch });
        let mut spaces = instruction.spaces();
        let addresses = instruction
            .operands
            .iter()
            .filter_map(|operand| Some((operand, address_of(operand)?)));
        for ((operand, address), touch) in addresses.zip(touches) {
            let address = flow.operand(context, address);
            let space = spaces.next();
            if matches!(operand, Operand::Vector(_)) {
                self.tensor(flow, address, touch, instruction.line);
            } else {
                self.access(flow, space, address, touch, instruction.line);
            }
        }
    }

    /// Records an access through a tensor map. Its target is unknown; a map that is passed by value makes its parameter
    /// an address.
    fn tensor(&mut self, flow: &mut Flow<'_, '_>, map: Value, touch: Touch, line: u32) {
        let mut by_value = false;
        for &source in flow.sets.members(map.base) {
            if let Source::ParamAddress(index) = source {
                by_value = true;
                self.by_value(index, touch, line);
            }
        }
        let only = by_value && map == Value::pointer(map.base) && flow.sets.members(map.base).len() == 1;
        if !only {
            self.access(flow, None, map, NONCOHERENT, line);
            self.access(flow, None, Value::OPAQUE, touch, line);
        }
    }

    /// Records the accesses of a call of code that is not in this module.
    fn call(&mut self, flow: &mut Flow<'_, '_>, context: usize, instruction: &Instruction) {
        let Some(call) = call_of(instruction) else { return };
        for target in flow.targets(call.target, call.arguments.len()) {
            let known = target.is_some_and(|function| flow.program.prepare(function).is_some());
            if known {
                continue;
            }
            let harmless = flow.is_harmless(target);
            let touch = if harmless { LOAD } else { ANYTHING };
            for &argument in &call.arguments {
                let value = flow.content(context, argument);
                let mut bits = flow.sets.bits(value);
                if flow.sets.contains(bits, Source::Local) {
                    let held = flow.cell(Cell::Local);
                    let held = flow.sets.bits(held);
                    bits = flow.sets.union(bits, held);
                }
                if !bits.is_empty() {
                    self.access(flow, None, Value::pointer(bits), touch, instruction.line);
                }
            }
            if !harmless {
                self.access(flow, None, Value::OPAQUE, ANYTHING, instruction.line);
            }
        }
    }

    /// Records an access through each operand of an instruction that is not known: through each address, and through
    /// each register that may hold one.
    fn unknown(&mut self, flow: &mut Flow<'_, '_>, context: usize, instruction: &Instruction) {
        for address in instruction.operands.iter().filter_map(address_of) {
            let address = flow.operand(context, address);
            self.access(flow, instruction.spaces().next(), address, ANYTHING, instruction.line);
        }
        let mut registers = Vec::new();
        each_leaf(&instruction.operands, &mut |leaf| {
            if matches!(leaf, Operand::Register(_)) {
                registers.push(leaf);
            }
        });
        for register in registers {
            let value = flow.operand(context, register);
            if !value.base.is_empty() || !value.by_value.is_empty() {
                self.access(flow, None, value, ANYTHING, instruction.line);
            }
        }
    }

    /// Records one access for every source that its address may come from.
    fn access(&mut self, flow: &mut Flow<'_, '_>, space: Option<Space>, address: Value, mut touch: Touch, line: u32) {
        if space == Some(Space::Const) {
            self.any_constant |= !is_constant(flow, address);
        }
        if space.is_some_and(|space| space != Space::Global) {
            return;
        }
        touch.early = self.early;
        let bits = flow.sets.bits(address);
        let everything = flow.sets.is_all(bits);
        let (mut params, mut part) = (Vec::new(), false);
        for &source in flow.sets.members(bits) {
            match source {
                Source::Param(index) => params.push(index as usize),
                Source::Variable(index) => self.variable(flow, index, touch, line),
                Source::Shared | Source::Local | Source::Const | Source::Workspace => {}
                Source::WorkspacePart(_) => part = true,
                Source::ParamAddress(_) | Source::ByValue(_) | Source::Slot(_) => {}
            }
        }
        if everything {
            params = (0..self.summary.params.len()).collect();
            for index in 0..u32::try_from(flow.program.module.variables.len()).unwrap_or(0) {
                self.variable(flow, index, touch, line);
            }
        }
        for &param in &params {
            let param = &mut self.summary.params[param];
            first(&mut param.address, line);
            param.access.touch(touch, line);
            self.written(touch, line);
        }
        let by_value: Vec<Source> = flow.sets.members(address.by_value).to_vec();
        for source in &by_value {
            if let Source::ByValue(index) = source {
                self.by_value(*index, touch, line);
            }
        }
        // In the global space, an address in another window is not an address.
        let windows = space == Some(Space::Global) && params.is_empty() && by_value.is_empty();
        let lost = address.is_bottom() || part || (windows && !is_global(flow, address));
        let unknown = address.opaque || address.number || everything || lost || flow.sets.is_all(address.by_value);
        if unknown {
            self.unknown_order(touch, line);
        }
        self.any_constant |= unknown && (touch.load || touch.atomic);
        if unknown && touch.load {
            first(&mut self.summary.unknown_load, line);
        }
        if unknown && touch.store {
            first(&mut self.summary.unknown_store, line);
        }
        if touch.store && (unknown || !params.is_empty()) {
            let known = self.stores.entry((params, unknown)).or_insert(line);
            *known = line.min(*known);
        }
    }

    /// Records that the value of a parameter is used as an address.
    fn by_value(&mut self, index: u32, touch: Touch, line: u32) {
        first(&mut self.summary.params[index as usize].address, line);
        self.unknown_order(touch, line);
    }

    /// Records an access of unknown memory for the analysis of programmatic launches.
    fn unknown_order(&mut self, touch: Touch, line: u32) {
        self.written(touch, line);
        if self.early {
            first(&mut self.summary.unknown_early, line);
        }
        if touch.noncoherent {
            first(&mut self.summary.unknown_noncoherent, line);
        }
    }

    /// Records a write of global memory.
    fn written(&mut self, touch: Touch, line: u32) {
        if touch.store {
            last(&mut self.summary.last_write, line);
        }
        if touch.store && self.triggered {
            last(&mut self.summary.last_triggered_write, line);
        }
    }

    fn variable(&mut self, flow: &Flow<'_, '_>, index: u32, touch: Touch, line: u32) {
        let variable = &flow.program.module.variables[index as usize];
        if variable.space != Space::Global {
            return;
        }
        let known = self.variables.entry(index).or_insert_with(|| VariableAccess {
            name: variable.name.clone(),
            access: Access::default(),
        });
        known.access.touch(touch, line);
        self.written(touch, line);
    }
}

/// Whether an address may be one of global memory that is known, other than that of parameters.
fn is_global(flow: &Flow<'_, '_>, address: Value) -> bool {
    let known = |source: &Source| matches!(source, Source::Variable(_) | Source::Workspace);
    flow.sets.members(address.base).iter().any(known)
}

/// Whether a value is certainly an address in `.const` variables that the code mentions.
fn is_constant(flow: &mut Flow<'_, '_>, value: Value) -> bool {
    let members = flow.sets.members(value.base);
    let only = !members.is_empty() && members.iter().all(|source| *source == Source::Const);
    let taint = value.taint;
    let pointer = Value::pointer(value.base);
    only && !flow.sets.is_all(value.base) && value == Value { taint, ..pointer }
}

impl Access {
    fn touch(&mut self, touch: Touch, line: u32) {
        let [two, four, eight, sixteen] = &mut self.atomic_sizes;
        let [four_bytes, eight_bytes] = &mut self.word_sizes;
        let parts = [
            (touch.load, &mut self.loaded),
            (touch.store, &mut self.stored),
            (touch.atomic, &mut self.atomic),
            (touch.element == 0 && touch.through.is_none(), &mut self.plain),
            (touch.narrow, &mut self.narrow),
            (touch.word == 0, &mut self.unmapped),
            (touch.word == 4, four_bytes),
            (touch.word == 8, eight_bytes),
            (touch.element == 2, two),
            (touch.element == 4, four),
            (touch.element == 8, eight),
            (touch.element == 16, sixteen),
            (touch.early, &mut self.early),
            (touch.noncoherent, &mut self.noncoherent),
        ];
        for (_, place) in parts.into_iter().filter(|(touched, _)| *touched) {
            first(place, line);
        }
        match touch.through {
            Some(through) => first(self.place(through), line),
            None => self.widest = self.widest.max(touch.bytes),
        }
        if let Some(ty) = touch.ty {
            self.elements = self.elements.with(ty);
        }
    }
}
