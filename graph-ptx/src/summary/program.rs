//! The functions of a module, prepared for the analysis: the meaning of symbols, and the instructions that depend on
//! each slot.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::blocks::{Exit, Labels};
use super::forward::Forwards;
use super::opcode::{Action, action, written};
use super::webs::split_webs;
use crate::ast::{Base, Body, Function, Module, Operand, Space, Variable, each_leaf};

/// A symbol of a function.
#[derive(Clone, Copy, Debug)]
pub(super) enum Symbol {
    /// A parameter or result of a `.func`, or a `.param` variable: it has a slot.
    Slot(u32),
    /// A parameter of the kernel.
    KernelParam(u32),
    /// A `.local` variable: its index among the variables of the body.
    Local(u32),
    /// A variable in another state space.
    Memory(Space),
}

/// A function with code. Its slots are its registers, then its `.param` variables, parameters and results.
#[derive(Debug)]
pub(super) struct Prepared<'m> {
    pub(super) function: &'m Function,
    /// The code with registers split into webs.
    pub(super) body: Body,
    pub(super) actions: Vec<Action>,
    /// The instructions that may follow each instruction.
    pub(super) exits: Vec<Exit>,
    pub(super) forwards: Forwards,
    pub(super) symbols: HashMap<&'m str, Symbol>,
    /// The slots of parameters and of results.
    pub(super) params: Vec<u32>,
    pub(super) results: Vec<u32>,
    pub(super) slots: u32,
    /// For each slot, the instructions that name it.
    users: Vec<Vec<u32>>,
    /// Instructions that read or write memory, and calls.
    pub(super) memory: Vec<u32>,
    /// Registers that no instruction writes.
    pub(super) undefined: Vec<u32>,
}

impl<'m> Prepared<'m> {
    fn new(function: &'m Function, body: &'m Body) -> Self {
        let variables = function.params.iter().chain(&function.results);
        let registers = variables.filter(|variable| variable.space == Space::Reg);
        let fixed: Vec<String> = registers.flat_map(Variable::registers).collect();
        let fixed: HashSet<&str> = fixed.iter().map(String::as_str).collect();
        let split = split_webs(body, &fixed);
        let labels = Labels::new(&split);
        let actions: Vec<Action> = split.instructions.iter().map(action).collect();
        let exits = split.instructions.iter().map(|instruction| labels.exit(instruction));
        let exits: Vec<Exit> = exits.collect();
        let mut prepared = Prepared {
            function,
            forwards: Forwards::find(&split, &actions, &exits),
            actions,
            exits,
            symbols: HashMap::new(),
            params: Vec::new(),
            results: Vec::new(),
            slots: u32::try_from(split.registers.len()).unwrap_or(u32::MAX),
            users: Vec::new(),
            memory: Vec::new(),
            undefined: Vec::new(),
            body: split,
        };
        prepared.name_symbols(body, &fixed);
        prepared.find_users();
        prepared
    }

    fn name_symbols(&mut self, body: &'m Body, fixed: &HashSet<&str>) {
        let mut registers = HashMap::new();
        for (index, register) in (0_u32..).zip(&body.registers) {
            if fixed.contains(register.name.as_str()) {
                registers.insert(register.name.as_str(), index);
            }
        }
        for (index, variable) in (0_u32..).zip(&body.variables) {
            let symbol = match variable.space {
                Space::Param => Symbol::Slot(self.new_slot()),
                Space::Local => Symbol::Local(index),
                space => Symbol::Memory(space),
            };
            self.symbols.insert(&variable.name, symbol);
        }
        for (index, param) in self.function.params.iter().enumerate() {
            if self.function.entry {
                self.symbols.insert(
                    &param.name,
                    Symbol::KernelParam(u32::try_from(index).unwrap_or(u32::MAX)),
                );
            } else {
                let slots = self.slots_of(param, &registers);
                self.params.extend(slots);
            }
        }
        for result in &self.function.results {
            let slots = self.slots_of(result, &registers);
            self.results.extend(slots);
        }
    }

    /// The slots of a parameter or result of a `.func`: its registers, which are several for a vector, or one of its
    /// own, which has its name.
    fn slots_of(&mut self, variable: &'m Variable, registers: &HashMap<&str, u32>) -> Vec<u32> {
        if variable.space == Space::Reg {
            let slot = |name: String| registers.get(name.as_str()).copied();
            return variable
                .registers()
                .map(|name| slot(name).unwrap_or_else(|| self.new_slot()))
                .collect();
        }
        let slot = self.new_slot();
        self.symbols.insert(&variable.name, Symbol::Slot(slot));
        vec![slot]
    }

    fn new_slot(&mut self) -> u32 {
        self.slots += 1;
        self.slots - 1
    }

    fn find_users(&mut self) {
        let mut users = vec![Vec::new(); self.slots as usize];
        let mut defined = vec![false; self.slots as usize];
        for (index, instruction) in (0_u32..).zip(&self.body.instructions) {
            let action = self.actions[index as usize];
            each_leaf(&instruction.operands, &mut |leaf| {
                let slot = match leaf {
                    Operand::Register(register)
                    | Operand::Part(register, _)
                    | Operand::Address(Base::Register(register), _) => Some(register.0),
                    Operand::Symbol(name, _) | Operand::Address(Base::Symbol(name), _) => self.slot_of(name),
                    _ => None,
                };
                if let Some(slot) = slot {
                    users[slot as usize].push(index);
                }
            });
            for register in written(instruction, action) {
                defined[register as usize] = true;
            }
            if action.touches_memory() {
                self.memory.push(index);
            }
        }
        for &slot in self.params.iter().chain(&self.results) {
            defined[slot as usize] = true;
        }
        let registers = self.body.registers.len().min(defined.len());
        self.undefined = (0_u32..)
            .zip(&defined[..registers])
            .filter(|(_, defined)| !**defined)
            .map(|(slot, _)| slot)
            .collect();
        self.users = users;
    }

    fn slot_of(&self, name: &str) -> Option<u32> {
        match self.symbols.get(name) {
            Some(Symbol::Slot(slot)) => Some(*slot),
            _ => None,
        }
    }

    /// The instructions that name a slot.
    pub(super) fn users(&self, slot: u32) -> &[u32] {
        self.users.get(slot as usize).map_or(&[], Vec::as_slice)
    }
}

/// The number of values that a function takes, parts of vectors counted one by one.
pub(super) fn values_taken(function: &Function) -> usize {
    let values = function.params.iter().map(|param| match param.space {
        Space::Reg => param.vector as usize,
        Space::Global | Space::Const | Space::Shared | Space::Local | Space::Param => 1,
    });
    values.sum()
}

/// A module, its names, and the functions prepared so far.
#[derive(Debug)]
pub(super) struct Program<'m> {
    pub(super) module: &'m Module,
    functions: HashMap<&'m str, usize>,
    variables: HashMap<&'m str, usize>,
    prepared: HashMap<usize, Rc<Prepared<'m>>>,
    taken: Option<Rc<[usize]>>,
}

impl<'m> Program<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        let mut functions = HashMap::new();
        for (index, function) in module.functions.iter().enumerate() {
            let known = functions.entry(function.name.as_str()).or_insert(index);
            if function.body.is_some() {
                *known = index;
            }
        }
        for (alias, function) in &module.aliases {
            if let Some(&index) = functions.get(function.as_str()) {
                functions.insert(alias, index);
            }
        }
        let variables = module
            .variables
            .iter()
            .enumerate()
            .map(|(index, variable)| (variable.name.as_str(), index))
            .collect();
        Program {
            module,
            functions,
            variables,
            prepared: HashMap::new(),
            taken: None,
        }
    }

    /// The definition of a function, or its declaration.
    pub(super) fn function(&self, name: &str) -> Option<usize> {
        self.functions.get(name).copied()
    }

    /// A variable of the module.
    pub(super) fn variable(&self, name: &str) -> Option<usize> {
        self.variables.get(name).copied()
    }

    /// Returns the prepared function; `None` if it has no code in this module.
    pub(super) fn prepare(&mut self, function: usize) -> Option<Rc<Prepared<'m>>> {
        if let Some(prepared) = self.prepared.get(&function) {
            return Some(Rc::clone(prepared));
        }
        let definition = self.module.functions.get(function)?;
        let prepared = Rc::new(Prepared::new(definition, definition.code()?));
        self.prepared.insert(function, Rc::clone(&prepared));
        Some(prepared)
    }

    /// The functions whose address is taken: in initialisers, or by instructions that do not call them.
    pub(super) fn taken(&mut self) -> Rc<[usize]> {
        if let Some(taken) = &self.taken {
            return Rc::clone(taken);
        }
        let mut taken = HashSet::new();
        for (_, name, _) in self.module.variables.iter().flat_map(|variable| &variable.relocations) {
            taken.extend(self.function(name));
        }
        for body in self.module.functions.iter().filter_map(Function::code) {
            let others = body
                .instructions
                .iter()
                .filter(|instruction| instruction.opcode != "call");
            for instruction in others {
                each_leaf(&instruction.operands, &mut |leaf| {
                    if let Operand::Symbol(name, _) = leaf {
                        taken.extend(self.function(name));
                    }
                });
            }
        }
        let mut taken: Vec<usize> = taken.into_iter().collect();
        taken.sort_unstable();
        let taken: Rc<[usize]> = taken.into();
        self.taken = Some(Rc::clone(&taken));
        taken
    }
}
