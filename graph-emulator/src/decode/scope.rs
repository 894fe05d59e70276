//! The names of a function, which are its registers and variables, and its frame, which grows as the function is
//! decoded.

use std::collections::{BTreeMap, HashMap};

use graph_ptx::ast::{self, Operand as AstOperand, Reg, Space as AstSpace, Type};

use super::Result;
use super::layout::{Place, Symbols, place};
use crate::code::{File, FrameSize, Function, Operand, Passed, Register, Slot, Special};

/// The names of a function, and its frame as it grows.
pub(super) struct Scope<'a> {
    pub(super) function: &'a ast::Function,
    pub(super) symbols: &'a Symbols,
    pub(super) registers: Vec<Register>,
    /// The registers of 128 bits: each is two of 64 bits, which follow those of the function.
    pub(super) halves: HashMap<Reg, [Reg; 2]>,
    pub(super) frame: FrameSize,
    pub(super) constants32: HashMap<u32, Slot>,
    pub(super) constants64: HashMap<u64, Slot>,
    pub(super) specials: Vec<(Slot, Special)>,
    pub(super) places: HashMap<&'a str, Place>,
    pub(super) labels: HashMap<&'a str, u32>,
    pub(super) lists: &'a [(String, Vec<String>)],
    pub(super) sizes: HashMap<&'a str, u32>,
    pub(super) params: Vec<Passed>,
    pub(super) results: Vec<Passed>,
    pub(super) shared: u32,
    /// A predicate that nothing writes.
    pub(super) never: Option<Slot>,
    /// The registers that the instruction uses which is being decoded.
    pub(super) operands: Vec<Operand>,
    /// Bytes of a kernel's parameters.
    pub(super) parameters: u32,
}

impl<'a> Scope<'a> {
    pub(super) fn new(
        function: &'a ast::Function,
        body: &'a ast::Body,
        symbols: &'a Symbols,
        start: u32,
    ) -> Result<Scope<'a>> {
        let labels = body
            .labels
            .iter()
            .map(|(name, index)| (name.as_str(), start + *index as u32))
            .collect();
        let mut scope = Scope {
            function,
            symbols,
            registers: Vec::with_capacity(body.registers.len()),
            halves: HashMap::new(),
            frame: FrameSize::default(),
            constants32: HashMap::new(),
            constants64: HashMap::new(),
            specials: Vec::new(),
            places: HashMap::new(),
            labels,
            lists: &body.target_lists,
            sizes: HashMap::new(),
            params: Vec::new(),
            results: Vec::new(),
            shared: symbols.shared,
            never: None,
            operands: Vec::new(),
            parameters: 0,
        };
        for register in &body.registers {
            let slot = scope.register(&register.name, register.ty)?;
            scope.registers.push(slot);
        }
        scope.split(&body.registers);
        scope.place_parameters(&body.registers)?;
        scope.place_variables(&body.variables)?;
        Ok(scope)
    }

    fn register(&mut self, name: &str, ty: Type) -> Result<Register> {
        let file = match (ty, ty.size()) {
            (Type::Pred, _) => File::Predicate,
            (Type::Opaque, _) => return Err(format!("the register `{name}` cannot hold a value")),
            (_, 8 | 16) => File::R64,
            _ => File::R32,
        };
        Ok((file, self.frame.take(file)))
    }

    /// Gives the registers of 128 bits their halves. The first has the slot that the register itself has.
    fn split(&mut self, registers: &[ast::Register]) {
        for (index, _) in registers
            .iter()
            .enumerate()
            .filter(|(_, register)| register.ty.size() == 16)
        {
            let next = self.registers.len() as u32;
            self.registers.push(self.registers[index]);
            self.registers.push((File::R64, self.frame.take(File::R64)));
            self.halves.insert(Reg(index as u32), [Reg(next), Reg(next + 1)]);
        }
    }

    /// The halves of a register of 128 bits, the lower one first.
    pub(super) fn halves(&self, operand: &AstOperand) -> Result<[AstOperand; 2]> {
        let halves = match operand {
            AstOperand::Register(register) => self.halves.get(register),
            _ => None,
        };
        let halves = halves.ok_or_else(|| "a register of 128 bits is expected".to_owned())?;
        Ok(halves.map(AstOperand::Register))
    }

    /// Places the parameters: those of kernels in a space of their own, those of functions in local memory.
    fn place_parameters(&mut self, registers: &[ast::Register]) -> Result<()> {
        if self.function.entry {
            let mut end = 0;
            for param in &self.function.params {
                let offset = place(&mut end, param, 1)?;
                self.places.insert(&param.name, Place::Parameter(offset));
            }
            self.parameters = end;
            self.frame.local = self.symbols.local;
            return Ok(());
        }
        for (is_result, param) in self
            .function
            .results
            .iter()
            .map(|result| (true, result))
            .chain(self.function.params.iter().map(|param| (false, param)))
        {
            let mut passed = Vec::new();
            if param.space == AstSpace::Reg {
                for name in param.registers() {
                    let index = registers.iter().position(|register| register.name == name);
                    let index = index.ok_or_else(|| format!("`{name}` is not defined"))?;
                    passed.push(in_register(self.slot(Reg(index as u32))?));
                }
            } else {
                let offset = place(&mut self.frame.local, param, 4)?;
                self.places.insert(&param.name, Place::Frame(offset));
                passed.push(Passed::Local(offset, param.size as u32));
            }
            let list = if is_result { &mut self.results } else { &mut self.params };
            list.append(&mut passed);
        }
        Ok(())
    }

    fn place_variables(&mut self, variables: &'a [ast::Variable]) -> Result<()> {
        for variable in variables {
            let at = match variable.space {
                AstSpace::Local | AstSpace::Param => Place::Frame(place(&mut self.frame.local, variable, 4)?),
                AstSpace::Shared if variable.size == 0 => Place::DynamicShared,
                AstSpace::Shared if !self.function.entry => {
                    let offset = self.symbols.find_shared(&self.function.name, &variable.name);
                    Place::Shared(offset.unwrap_or_default())
                }
                AstSpace::Shared => Place::Shared(place(&mut self.shared, variable, 4)?),
                _ => {
                    return Err(format!(
                        "the variable `{}` is in a space that functions cannot have",
                        variable.name
                    ));
                }
            };
            self.places.insert(&variable.name, at);
            self.sizes.insert(&variable.name, variable.size as u32);
        }
        Ok(())
    }

    /// The parameters of the function that are in registers.
    pub(super) fn parameter_registers(&self) -> impl Iterator<Item = Register> {
        self.params.iter().filter_map(|param| match *param {
            Passed::R32(slot) => Some((File::R32, slot)),
            Passed::R64(slot) => Some((File::R64, slot)),
            Passed::Predicate(slot) => Some((File::Predicate, slot)),
            Passed::Local(..) | Passed::Constant(_) => None,
        })
    }

    /// The registers that hold literals and special registers from the beginning.
    pub(super) fn constants(&self) -> Constants {
        let constants32 = self
            .constants32
            .iter()
            .map(|(&value, &slot)| ((File::R32, slot), Constant::Value(value.into())));
        let constants64 = self
            .constants64
            .iter()
            .map(|(&value, &slot)| ((File::R64, slot), Constant::Value(value)));
        let specials = self
            .specials
            .iter()
            .map(|&(slot, special)| ((File::R32, slot), Constant::Special(special)));
        constants32.chain(constants64).chain(specials).collect()
    }

    /// The decoded function, once all instructions have been decoded, with the registers that hold constants.
    pub(super) fn finish(mut self, start: u32, constants: &Constants) -> Function {
        self.frame.local = self.frame.local.next_multiple_of(16);
        let mut function = Function {
            name: self.function.name.as_str().into(),
            start,
            frame: self.frame,
            params: self.params,
            results: self.results,
            shared: self.shared,
            ..Function::default()
        };
        for (&(file, slot), &constant) in constants {
            match (constant, file) {
                (Constant::Special(special), _) => function.specials.push((slot, special)),
                (Constant::Value(value), File::R64) => function.constants64.push((slot, value)),
                (Constant::Value(value), _) => function.constants32.push((slot, value as u32)),
            }
        }
        function
    }
}

/// The registers that hold the same from the beginning.
pub(super) type Constants = BTreeMap<Register, Constant>;

/// The constant contents of a register.
#[derive(Clone, Copy)]
pub(super) enum Constant {
    Value(u64),
    Special(Special),
}

/// The place of a register that is passed to a function.
pub(super) fn in_register(register: Register) -> Passed {
    match register {
        (File::R32, slot) => Passed::R32(slot),
        (File::R64, slot) => Passed::R64(slot),
        (File::Predicate, slot) => Passed::Predicate(slot),
    }
}
