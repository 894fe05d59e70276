//! The kernel as the analysis runs it: one thread, any thread, with symbols for all that it does not know.

use super::facts::{Choice, EVERYWHERE, Facts, Meaning, Place};
use super::flow::Flow;
use super::hash::Map;
use super::poly::{Poly, Symbol};
use super::term::Names;
use super::value::{Condition, Memory, Value};
use super::{Effort, Gap, Kernel, Kind, Param};
use crate::ast::{Body, Function, Instruction, Module, Operand, Reg, Space, Type, Variable};
use std::rc::Rc;

/// The reason why an analysis ends early: it has too many symbols, or takes too long.
#[derive(Debug)]
pub(super) struct TooLarge;

/// The most bytes of a buffer: more than any GPU can address.
pub(super) const MAX_BYTES: i128 = 1 << 48;

/// The values of registers.
pub(super) type State = Map<Reg, Value>;

/// The value of a register at the beginning of an iteration of a loop.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// Not known yet: any number.
    Any,
    /// Its first value.
    Kept,
    /// Its first value and this, as often as the loop has been through.
    Grows(Poly),
    /// Any bits: also where it was an address, it may be none.
    Lost,
}

/// The plan of a loop that was right the last time.
#[derive(Debug)]
pub(super) struct Guess {
    pub(super) steps: Map<Reg, Step>,
    /// Registers of any value that are not above their first value.
    pub(super) falling: Vec<Reg>,
}

/// An instruction of an access, and the bounds that were not proved.
#[derive(Clone, Debug)]
pub(super) struct Obligation {
    pub(super) instruction: usize,
    pub(super) gap: Gap,
    /// The polynomials that must be at least 0, and the place.
    pub(super) goals: Vec<Poly>,
    pub(super) place: Place,
    /// A place whose facts hold too.
    pub(super) also: Option<Place>,
}

/// The way in which an access touches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touching {
    Read,
    Write,
    /// Indivisible, or in an order with others.
    Atomic,
}

/// An access whose memory is known.
#[derive(Clone, Debug)]
pub(super) struct Touch {
    pub(super) instruction: usize,
    pub(super) place: Place,
    pub(super) memory: Memory,
    /// A place whose facts hold too, if the address is in this memory: it may be in another one.
    pub(super) also: Option<Place>,
    /// Bytes from the beginning of the memory.
    pub(super) from: Poly,
    /// The bytes that one thread accesses; `None` if a warp shares them.
    pub(super) bytes: Option<i128>,
    pub(super) how: Touching,
}

/// A condition that holds, or does not.
pub(super) type Taken = (Rc<Condition>, bool);

/// The way in which control comes to a place from the one above it.
#[derive(Clone, Debug)]
pub(super) enum Way {
    /// Into this block.
    Block(usize),
    /// Over an edge to this block: always, or if a condition says so.
    Edge(usize, Option<Taken>),
    /// To an instruction, if its guard says so.
    Guard(Taken),
    /// Into an iteration of a loop.
    Loop,
}

pub(super) struct Machine<'m> {
    pub(super) module: &'m Module,
    pub(super) function: &'m Function,
    pub(super) body: &'m Body,
    pub(super) kernel: &'m Kernel,
    pub(super) flow: Rc<Flow>,
    pub(super) facts: Facts,
    pub(super) names: Names,
    /// The first symbol that is none of a contract.
    pub(super) contract_end: Symbol,
    thread: [Poly; 3],
    index: [Poly; 3],
    /// Parts of parameters that are structs, and special registers that do not change.
    parts: Map<String, Poly>,
    pub(super) state: State,
    pub(super) place: Place,
    /// The ways to the places of blocks, edges, guards and loops.
    pub(super) ways: Map<Place, Way>,
    /// By the header of a loop.
    pub(super) guesses: Map<usize, Guess>,
    /// Whether accesses are checked: not in the trial runs of loops.
    pub(super) checks: bool,
    pub(super) open: Vec<Obligation>,
    /// The accesses that were checked, proved or not.
    pub(super) touched: Vec<Touch>,
    /// The number of accesses that were proved.
    pub(super) proved: usize,
    /// The instructions that may still be run.
    pub(super) left: usize,
}

impl<'m> Machine<'m> {
    pub(super) fn new(
        module: &'m Module,
        function: &'m Function,
        body: &'m Body,
        kernel: &'m Kernel,
        flow: Flow,
        effort: &Effort,
    ) -> Option<Self> {
        let mut machine = Self {
            module,
            function,
            body,
            kernel,
            flow: Rc::new(flow),
            facts: Facts::new(effort.searches_of(body.instructions.len())),
            names: Names::default(),
            contract_end: 0,
            thread: Default::default(),
            index: Default::default(),
            parts: Map::default(),
            state: State::default(),
            place: EVERYWHERE,
            ways: Map::default(),
            guesses: Map::default(),
            checks: true,
            open: Vec::new(),
            touched: Vec::new(),
            proved: 0,
            left: effort.instructions,
        };
        machine.name_launch()?;
        machine.name_arguments()?;
        machine.contract_end = machine.facts.next()?;
        machine.name_thread()?;
        for term in &kernel.requires {
            machine.names.assume(&mut machine.facts, term);
        }
        Some(machine)
    }

    /// Symbols for the dimensions of the launch, or their only values.
    fn name_launch(&mut self) -> Option<()> {
        let fixed = super::fixed::sides(self.kernel, self.function);
        let limits = [
            ("grid", [i128::from(i32::MAX), 65_535, 65_535]),
            ("block", [1024, 1024, 64]),
        ];
        let most = self
            .function
            .max_block
            .map(|sides| sides.iter().map(|&side| i128::from(side)).product());
        let most: i128 = most.unwrap_or(1024).min(1024);
        for (group, (name, limits)) in limits.into_iter().enumerate() {
            for axis in 0..3 {
                let limit = if group == 1 {
                    limits[axis].min(most)
                } else {
                    limits[axis]
                };
                let side = match fixed[group][axis] {
                    Some(value) => Poly::constant(value.into()),
                    None => {
                        let name = format!("{name}.{}", ["x", "y", "z"][axis]);
                        Poly::symbol(self.facts.named(&name, 1, limit)?)
                    }
                };
                let sides = if group == 0 {
                    &mut self.names.grid
                } else {
                    &mut self.names.block
                };
                sides[axis] = side;
            }
        }
        let [x, y, z] = &self.names.block;
        let (xy, yz, xz) = (x.times(y)?, y.times(z)?, x.times(z)?);
        for product in [xy.times(z)?, xy, yz, xz] {
            self.facts.always(product.negated()?.plus_constant(most));
        }
        self.names.shared = Poly::symbol(self.facts.named("shared", 0, i128::from(i32::MAX))?);
        Some(())
    }

    /// Symbols for integers and then, since contracts bound lengths by them, for the lengths of memory.
    fn name_arguments(&mut self) -> Option<()> {
        self.names.arguments = vec![None; self.kernel.params.len()];
        for (index, param) in self.kernel.params.iter().enumerate() {
            if let Kind::Integer { bits, signed } = &param.kind {
                let (low, high) = super::value::range_of(*bits, *signed);
                self.names.arguments[index] = Some(Poly::symbol(self.facts.named(&param.name, low, high)?));
            }
        }
        for (index, param) in self.kernel.params.iter().enumerate() {
            self.names.arguments[index] = match &param.kind {
                Kind::Memory { len: Some(len), .. } => Some(Poly::constant(i128::from(*len))),
                Kind::Memory { unit, .. } => {
                    let most = MAX_BYTES / i128::from(unit.unwrap_or(1).max(1));
                    Some(Poly::symbol(self.facts.named(
                        &format!("{}.len()", param.name),
                        0,
                        most,
                    )?))
                }
                Kind::Integer { .. } | Kind::Handle | Kind::Other => continue,
            };
        }
        Some(())
    }

    fn name_thread(&mut self) -> Option<()> {
        for block in [true, false] {
            for axis in 0..3 {
                let side = if block {
                    &self.names.grid[axis]
                } else {
                    &self.names.block[axis]
                };
                let side = side.clone();
                let letter = ["x", "y", "z"][axis];
                let name = format!("{}.{letter}", if block { "blockIdx" } else { "threadIdx" });
                let high = self.facts.range(&side).1? - 1;
                let value = if high == 0 {
                    Poly::default()
                } else {
                    let value = Poly::symbol(self.facts.named(&name, 0, high)?);
                    self.facts.always(side.minus(&value)?.plus_constant(-1));
                    value
                };
                if block {
                    self.index[axis] = value;
                } else {
                    self.thread[axis] = value;
                }
            }
        }
        Some(())
    }

    /// Any number of so many bits.
    pub(super) fn any(&mut self, bits: u32, signed: bool) -> Result<Poly, TooLarge> {
        self.facts.any(bits, signed).ok_or(TooLarge)
    }

    pub(super) fn any_in(&mut self, low: i128, high: i128) -> Result<Poly, TooLarge> {
        let symbol = self.facts.free(Some(low), Some(high)).ok_or(TooLarge)?;
        Ok(Poly::symbol(symbol))
    }

    /// The bits of a register.
    pub(super) fn bits(&self, register: Reg) -> u32 {
        let ty = self.body.registers.get(register.0 as usize).map(|register| register.ty);
        ty.map_or(64, |ty| ty.size() as u32 * 8)
    }

    pub(super) fn register_type(&self, register: Reg) -> Option<Type> {
        self.body.registers.get(register.0 as usize).map(|register| register.ty)
    }

    pub(super) fn read(&self, register: Reg) -> Value {
        self.state.get(&register).cloned().unwrap_or(Value::Unknown)
    }

    /// The number in an operand, modulo two to the power of `bits`.
    pub(super) fn number(&mut self, operand: &Operand, bits: u32) -> Result<Poly, TooLarge> {
        match self.value(operand)? {
            Value::Number(poly) => Ok((*poly).clone()),
            Value::Address(..) | Value::OneOf(_) | Value::Truth(_) | Value::Unknown => self.any(bits, false),
        }
    }

    /// The value of an operand.
    pub(super) fn value(&mut self, operand: &Operand) -> Result<Value, TooLarge> {
        Ok(match operand {
            Operand::Register(register) => {
                let value = self.read(*register);
                // An unknown number becomes a symbol, so that it is the same number at its next use.
                match self.register_type(*register) {
                    Some(Type::Pred | Type::F32 | Type::F64 | Type::Opaque | Type::B128) | None => value,
                    Some(_) if value == Value::Unknown => {
                        let value = Value::Number(Rc::new(self.any(self.bits(*register), false)?));
                        self.state.insert(*register, value.clone());
                        value
                    }
                    Some(_) => value,
                }
            }
            Operand::Integer(value) => Value::Number(Rc::new(Poly::constant(*value))),
            Operand::NotPredicate(register) => match self.read(*register) {
                Value::Truth(condition) => Value::Truth(condition.not()),
                _ => Value::Unknown,
            },
            Operand::Special(name) => match self.special(name)? {
                Some(poly) => Value::Number(Rc::new(poly)),
                None => Value::Unknown,
            },
            Operand::Symbol(name, offset) => match self.variable(name) {
                Some(memory) => Value::Address(memory, Rc::new(Poly::constant(i128::from(*offset)))),
                None => Value::Unknown,
            },
            _ => Value::Unknown,
        })
    }

    /// The condition in a predicate operand.
    pub(super) fn condition(&mut self, operand: &Operand) -> Result<Rc<Condition>, TooLarge> {
        Ok(match self.value(operand)? {
            Value::Truth(condition) => condition,
            Value::Number(poly) => match poly.value() {
                Some(value) => Rc::new(Condition::Constant(value != 0)),
                None => Rc::new(Condition::Unknown),
            },
            _ => Rc::new(Condition::Unknown),
        })
    }

    /// A variable with an address: in shared, local, global or constant memory.
    fn variable(&self, name: &str) -> Option<Memory> {
        let found = self.find_variable(name)?;
        matches!(found.space, Space::Shared | Space::Local | Space::Global | Space::Const)
            .then(|| Memory::Variable(name.to_owned()))
    }

    pub(super) fn find_variable(&self, name: &str) -> Option<&'m Variable> {
        if self.function.params.iter().any(|param| param.name == name) {
            return None;
        }
        super::value::variable(self.module, self.body, name)
    }

    /// The value of a special register, if it is a number that is the same at each reading, or has a range.
    fn special(&mut self, name: &str) -> Result<Option<Poly>, TooLarge> {
        let name = name.trim_start_matches('%');
        let (group, axis) = name.split_once('.').unwrap_or((name, "x"));
        let axis = match axis {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            _ => return Ok(None),
        };
        let known = match group {
            "tid" => &self.thread[axis],
            "ctaid" => &self.index[axis],
            "ntid" => &self.names.block[axis],
            "nctaid" => &self.names.grid[axis],
            "dynamic_smem_size" => &self.names.shared,
            "laneid" => return self.part("laneid", 0, 31).map(Some),
            "cluster_ctarank" => return self.part("cluster_ctarank", 0, 15).map(Some),
            "cluster_nctarank" => return self.part("cluster_nctarank", 1, 16).map(Some),
            _ => return Ok(None),
        };
        Ok(Some(known.clone()))
    }

    /// A number that is the same whenever it is read under this name.
    pub(super) fn part(&mut self, name: &str, low: i128, high: i128) -> Result<Poly, TooLarge> {
        if let Some(known) = self.parts.get(name) {
            return Ok(known.clone());
        }
        let symbol = self.facts.named(name, low, high).ok_or(TooLarge)?;
        self.parts.insert(name.to_owned(), Poly::symbol(symbol));
        Ok(Poly::symbol(symbol))
    }

    /// Whether a number is the handle of a texture or of a surface that the kernel gets.
    pub(super) fn is_handle(&self, number: &Poly) -> bool {
        let handles = self.kernel.params.iter().filter(|param| param.kind == Kind::Handle);
        handles
            .map(|param| self.parts.get(&part_name(param, 0, 64)))
            .any(|handle| handle == Some(number))
    }

    /// One value for each position of the options: the same everywhere, or a symbol of a new choice.
    pub(super) fn choose(&mut self, options: &[(Place, Vec<Value>)]) -> Result<Vec<Value>, TooLarge> {
        let Some((_, first)) = options.first() else {
            return Ok(Vec::new());
        };
        let number = self.facts.choices.len();
        let mut choice = Choice {
            symbols: Vec::new(),
            options: options.iter().map(|(place, _)| (*place, Vec::new())).collect(),
        };
        let mut chosen = Vec::with_capacity(first.len());
        // The number is taken, even if the choice stays empty.
        self.facts.choices.push(Rc::default());
        for position in 0..first.len() {
            let values: Vec<&Value> = options.iter().map(|(_, values)| &values[position]).collect();
            if values.iter().all(|value| *value == values[0]) {
                chosen.push(values[0].clone());
                continue;
            }
            let polys: Option<Vec<&Rc<Poly>>> = values
                .iter()
                .map(|value| match (value, values[0]) {
                    (Value::Number(poly), Value::Number(_)) => Some(poly),
                    (Value::Address(memory, poly), Value::Address(first, _)) if memory == first => Some(poly),
                    _ => None,
                })
                .collect();
            let Some(polys) = polys else {
                let places = options.iter().map(|(place, _)| *place);
                let values: Vec<(Place, &Value)> = places.zip(values).collect();
                chosen.push(Value::one_of(&values).unwrap_or(Value::Unknown));
                continue;
            };
            let symbol = self.chosen(number, &mut choice, &polys)?;
            let poly = Rc::new(Poly::symbol(symbol));
            chosen.push(match values[0] {
                Value::Address(memory, _) => Value::Address(memory.clone(), poly),
                _ => Value::Number(poly),
            });
        }
        self.facts.choices[number] = Rc::new(choice);
        Ok(chosen)
    }

    fn chosen(&mut self, number: usize, choice: &mut Choice, polys: &[&Rc<Poly>]) -> Result<Symbol, TooLarge> {
        let ranges: Vec<_> = polys.iter().map(|poly| self.facts.range(poly)).collect();
        let low = ranges
            .iter()
            .map(|range| range.0)
            .reduce(|a, b| Some(a?.min(b?)))
            .flatten();
        let high = ranges
            .iter()
            .map(|range| range.1)
            .reduce(|a, b| Some(a?.max(b?)))
            .flatten();
        let multiple = polys
            .iter()
            .fold(0, |divisor, poly| super::poly::gcd(divisor, self.facts.multiple(poly)));
        let symbol = self
            .facts
            .chosen(number, choice.symbols.len(), low, high)
            .ok_or(TooLarge)?;
        self.facts.info_mut(symbol).multiple = multiple.max(1);
        choice.symbols.push(symbol);
        for ((_, values), poly) in choice.options.iter_mut().zip(polys) {
            values.push((***poly).clone());
        }
        Ok(symbol)
    }

    /// Adds an access that was not proved.
    pub(super) fn leave_open(&mut self, instruction: usize, gap: Gap) {
        if self.checks {
            self.open.push(Obligation {
                instruction,
                gap,
                goals: Vec::new(),
                place: self.place,
                also: None,
            });
        }
    }

    /// The place of the thread in its block along an axis, and that of its block.
    pub(super) fn place_of_thread(&self, axis: usize) -> (Poly, Poly) {
        (self.thread[axis].clone(), self.index[axis].clone())
    }

    /// The symbol of the place of the thread among all threads along an axis, in 32 bits, if there is one.
    pub(super) fn place_in_grid(&self, axis: usize) -> Option<Symbol> {
        let value = self.index[axis]
            .times(&self.names.block[axis])?
            .plus(&self.thread[axis])?;
        let meaning = |signed: bool| Meaning::Wrapped {
            value: value.clone(),
            bits: 32,
            signed,
        };
        self.facts
            .find(&meaning(false))
            .or_else(|| self.facts.find(&meaning(true)))
    }

    /// Whether a symbol is a part of a parameter that is a struct: the same in all threads.
    pub(super) fn is_part(&self, symbol: Symbol) -> bool {
        let parts = self.parts.iter().filter(|(name, _)| name.contains('+'));
        parts.into_iter().any(|(_, part)| part.as_symbol() == Some(symbol))
    }

    /// Whether a symbol is the same number in all threads.
    pub(super) fn is_common(&self, symbol: Symbol) -> bool {
        let all = |poly: &Poly| poly.symbols().iter().all(|&symbol| self.is_common(symbol));
        symbol < self.contract_end
            || self.is_part(symbol)
            || match &self.facts.info(symbol).meaning {
                Meaning::Wrapped { value, .. } => all(value),
                Meaning::Quotient { value, divisor } => all(value) && all(divisor),
                Meaning::Free | Meaning::Chosen { .. } => false,
            }
    }

    /// The instruction of this number.
    pub(super) fn instruction(&self, index: usize) -> &'m Instruction {
        &self.body.instructions[index]
    }
}

/// The name of a part of a parameter: so many bits from a byte on.
pub(super) fn part_name(param: &Param, at: i64, bits: u32) -> String {
    format!("{}+{at} ({bits})", param.name)
}
