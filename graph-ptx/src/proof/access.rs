//! Accesses of memory: the bytes that an instruction touches, and the bounds that they must keep.

use super::machine::{Machine, Obligation, TooLarge, Touch, Touching};
use super::poly::Poly;
use super::value::{Int, Memory, Value, int};
use super::{Gap, Kernel, Kind};
use crate::ast::{Base, Instruction, Operand, Space, Type, each_leaf};
use std::rc::Rc;

/// Whether instructions of this name touch memory by an address.
pub(super) fn is_access(opcode: &str) -> bool {
    matches!(
        opcode,
        "ld" | "ldu" | "st" | "atom" | "red" | "cp" | "ldmatrix" | "stmatrix" | "mbarrier" | "wmma"
    )
}

/// The way in which an instruction touches its first or second address.
fn touching(instruction: &Instruction, position: usize) -> Touching {
    let has = |name: &str| instruction.has(name);
    if instruction.is_ordered() {
        return Touching::Atomic;
    }
    match instruction.opcode.as_str() {
        "st" | "stmatrix" => Touching::Write,
        "cp" if position == 0 && !has("mbarrier") => Touching::Write,
        "wmma" if has("store") => Touching::Write,
        "atom" | "red" | "mbarrier" => Touching::Atomic,
        "cp" if has("mbarrier") => Touching::Atomic,
        _ => Touching::Read,
    }
}

/// Whether an instruction accesses memory of a space in this way, also by a generic address. Elsewhere, it may do
/// anything.
fn takes(instruction: &Instruction, how: Touching, space: Space) -> bool {
    match instruction.opcode.as_str() {
        "ldmatrix" | "stmatrix" | "mbarrier" => space == Space::Shared,
        "cp" if instruction.has("mbarrier") => space == Space::Shared,
        "atom" | "red" | "wmma" => matches!(space, Space::Global | Space::Shared),
        "ldu" => space == Space::Global,
        _ => how == Touching::Read || space != Space::Const,
    }
}

/// An address of an instruction.
struct Place<'i> {
    /// The number of the instruction.
    index: usize,
    base: &'i Base,
    offset: i64,
    /// The space that the instruction names for it; generic without.
    space: Option<Space>,
    how: Touching,
    /// Whether all lanes of a warp access what the address of one of them says.
    is_shared_by_warp: bool,
}

impl Place<'_> {
    /// Whether it is a parameter, or a `.param` variable of a call.
    fn is_argument(&self) -> bool {
        self.space == Some(Space::Param) && matches!(self.base, Base::Symbol(_))
    }
}

impl Machine<'_> {
    /// Runs an instruction that touches memory.
    pub(super) fn access(&mut self, index: usize, instruction: &Instruction) -> Result<(), TooLarge> {
        let opcode = instruction.opcode.as_str();
        let modifier = |name: &str| instruction.has(name);
        let unknown = Gap::Instruction(format!("{opcode}.{}", instruction.modifiers.join(".")));
        let spaces: Vec<Space> = instruction.spaces().collect();
        // Also those in vectors, such as `[map, {%r1}]`.
        let mut named = Vec::new();
        each_leaf(&instruction.operands, &mut |leaf| {
            if let Operand::Address(base, offset) = leaf {
                named.push((base, *offset));
            }
        });
        // A copy names the spaces of both of its addresses.
        let addresses: Vec<Place<'_>> = named
            .into_iter()
            .enumerate()
            .map(|(position, (base, offset))| Place {
                index,
                base,
                offset,
                space: spaces.get(position).copied(),
                how: touching(instruction, position),
                is_shared_by_warp: matches!(opcode, "ldmatrix" | "stmatrix" | "wmma"),
            })
            .collect();
        match (opcode, &addresses[..]) {
            ("ld" | "ldu", [at]) => {
                let Some(size) = instruction.bytes_at_once() else {
                    self.leave_open(index, unknown);
                    return Ok(());
                };
                if at.is_argument() {
                    return self.load_argument(instruction, at);
                }
                self.check(at, &Poly::constant(size.into()), size)?;
                self.loaded(instruction)
            }
            ("st", [at]) => match instruction.bytes_at_once() {
                Some(_) if at.is_argument() => Ok(()),
                Some(size) if !modifier("async") && !modifier("bulk") => {
                    self.check(at, &Poly::constant(size.into()), size)
                }
                _ => {
                    self.leave_open(index, unknown);
                    Ok(())
                }
            },
            ("atom" | "red", [at]) => {
                match instruction.bytes_at_once() {
                    Some(size) if !modifier("async") => {
                        self.check(at, &Poly::constant(size.into()), size)?;
                    }
                    _ => self.leave_open(index, unknown),
                }
                if opcode == "atom" {
                    self.loaded(instruction)?;
                }
                Ok(())
            }
            ("ldmatrix" | "stmatrix", [at]) => {
                self.check(at, &Poly::constant(16), 16)?;
                // A register has several of the elements that the type names.
                self.forget_results(instruction);
                Ok(())
            }
            ("mbarrier", _) => {
                for at in &addresses {
                    self.check(at, &Poly::constant(8), 8)?;
                }
                self.forget_results(instruction);
                Ok(())
            }
            ("wmma", _) => self.matrix(index, instruction, &addresses),
            // Waiting for copies.
            ("cp", []) => Ok(()),
            ("cp", [to, from]) if modifier("ca") || modifier("cg") => {
                let Some(size) = instruction.bytes_at_once() else {
                    self.leave_open(index, unknown);
                    return Ok(());
                };
                let bytes = Poly::constant(size.into());
                self.check(to, &bytes, size)?;
                self.check(from, &bytes, size)
            }
            ("cp", [at]) if modifier("mbarrier") => self.check(at, &Poly::constant(8), 8),
            _ => {
                self.forget_results(instruction);
                self.leave_open(index, unknown);
                Ok(())
            }
        }
    }

    fn forget_results(&mut self, instruction: &Instruction) {
        for register in super::flow::written_by(instruction) {
            self.state.insert(register, Value::Unknown);
        }
    }

    /// `wmma.load.a.sync.aligned.row.m16n16k16.f16 {..}, [%rd1], %r1;` touches at most 16 rows of 16 elements, which
    /// are as many elements apart as the last operand says. Each row begins at a multiple of 16 bytes.
    fn matrix(&mut self, index: usize, instruction: &Instruction, addresses: &[Place<'_>]) -> Result<(), TooLarge> {
        self.forget_results(instruction);
        let [at] = addresses else {
            return Ok(());
        };
        let is_square = instruction.has("m16n16k16");
        let stride = match instruction.operands.last() {
            Some(stride @ (Operand::Register(_) | Operand::Integer(_))) => {
                let stride = self.number(stride, 32)?;
                self.facts.unsigned(self.place, &stride, 32)
            }
            _ => None,
        };
        let (Some(stride), Some(width), true) = (stride, instruction.element_bytes(), is_square) else {
            self.leave_open(
                index,
                Gap::Instruction(format!("wmma.{}", instruction.modifiers.join("."))),
            );
            return Ok(());
        };
        let width = i128::from(width);
        if self.facts.multiple(&stride) * width % 16 != 0 {
            self.leave_open(index, Gap::Alignment(16));
        }
        let bytes = stride
            .scaled(15 * width)
            .and_then(|rows| rows.plus_constant(16 * width));
        match bytes {
            Some(bytes) => self.check(at, &bytes, 16),
            None => {
                self.leave_open(index, Gap::Size);
                Ok(())
            }
        }
    }

    fn load_argument(&mut self, instruction: &Instruction, at: &Place<'_>) -> Result<(), TooLarge> {
        let Base::Symbol(name) = at.base else { return Ok(()) };
        let width = instruction.element_bytes().unwrap_or(8);
        let ty = instruction.modifiers.iter().rev().find_map(|modifier| int(modifier));
        let results = instruction.operands.first().map(super::flow::parts_of);
        for (position, register) in results.into_iter().flatten().enumerate() {
            let Some(register) = register else { continue };
            let offset = at.offset.saturating_add((width as i64).saturating_mul(position as i64));
            let value = match self.register_type(register) {
                Some(Type::F32 | Type::F64) | None => Value::Unknown,
                Some(_) => self.argument(name, offset, ty, self.bits(register))?,
            };
            self.state.insert(register, value);
        }
        Ok(())
    }

    /// The results of a load: any numbers of its type.
    fn loaded(&mut self, instruction: &Instruction) -> Result<(), TooLarge> {
        let ty = instruction.modifiers.iter().rev().find_map(|modifier| int(modifier));
        let is_float = instruction.element_bytes().is_some() && ty.is_none();
        for register in super::flow::written_by(instruction) {
            let value = match (ty, self.register_type(register)) {
                (Some(Int { bits, signed }), Some(kind)) if !matches!(kind, Type::F32 | Type::F64) && !is_float => {
                    Value::Number(Rc::new(self.any(bits, signed)?))
                }
                _ => Value::Unknown,
            };
            self.state.insert(register, value);
        }
        Ok(())
    }

    /// Checks that the bytes from an address on are within their memory. `align` is the alignment of the access.
    fn check(&mut self, at: &Place<'_>, bytes: &Poly, align: u64) -> Result<(), TooLarge> {
        if !self.checks {
            return Ok(());
        }
        let index = at.index;
        let address = match at.base {
            Base::Register(register) => self.read(*register),
            Base::Symbol(name) => self.value(&Operand::Symbol(name.clone(), 0))?,
            Base::Absolute => Value::Unknown,
        };
        match address {
            Value::Address(memory, from) => self.check_in(at, bytes, align, None, &memory, &from),
            Value::OneOf(all) => {
                for (place, memory, from) in &*all {
                    self.check_in(at, bytes, align, Some(*place), memory, from);
                }
            }
            _ => self.leave_open(index, Gap::Address),
        }
        Ok(())
    }

    /// Checks an access of this memory. The facts of the place `also` hold too.
    fn check_in(
        &mut self,
        at: &Place<'_>,
        bytes: &Poly,
        align: u64,
        also: Option<usize>,
        memory: &Memory,
        from: &Poly,
    ) {
        let index = at.index;
        let Some(from) = from.plus_constant(at.offset.into()) else {
            self.leave_open(index, Gap::Address);
            return;
        };
        let size = match memory {
            Memory::Param(param) => match self.kernel.params.get(*param).map(|param| &param.kind) {
                Some(Kind::Memory { unit: Some(unit), .. }) => {
                    let len = self.names.arguments.get(*param).cloned().flatten();
                    len.and_then(|len| len.scaled(i128::from(*unit)))
                }
                _ => None,
            },
            Memory::Variable(name) | Memory::Generic(name) => self.size_of(name),
        };
        // An address of shared memory is no address of global memory, nor a generic one.
        let space = self.space_of(memory).unwrap_or(Space::Global);
        if !self.is_in_space(memory, at.space) || !takes(self.instruction(index), at.how, space) {
            self.leave_open(index, Gap::Address);
            return;
        }
        let Some(size) = size else {
            self.leave_open(index, Gap::Size);
            return;
        };
        let goals = size
            .minus(&from)
            .and_then(|rest| rest.minus(bytes))
            .map(|above| vec![from.clone(), above]);
        let Some(goals) = goals else {
            self.leave_open(index, Gap::Address);
            return;
        };
        self.touched.push(Touch {
            instruction: index,
            place: self.place,
            memory: memory.clone(),
            also,
            from: from.clone(),
            bytes: bytes.value().filter(|_| !at.is_shared_by_warp),
            how: at.how,
        });
        let place = self.place;
        let open: Vec<Poly> = goals
            .into_iter()
            .filter(|goal| !self.facts.proves_also(place, also, goal))
            .collect();
        if open.is_empty() {
            if self.is_aligned(memory, &from, align) {
                self.proved += 1;
            } else {
                self.leave_open(index, Gap::Alignment(align));
            }
            return;
        }
        self.open.push(Obligation {
            instruction: index,
            gap: Gap::Bounds {
                memory: self.kernel.name_of(memory),
                open: open.first().map_or_else(String::new, |goal| self.facts.text(goal)),
            },
            goals: open,
            place,
            also,
        });
    }

    /// Whether an address is a multiple of `align`. Buffers begin at multiples of 16: `docs/safety.md`.
    fn is_aligned(&self, memory: &Memory, from: &Poly, align: u64) -> bool {
        let beginning = match memory {
            Memory::Param(_) => 16,
            Memory::Variable(name) | Memory::Generic(name) => {
                self.find_variable(name).map_or(1, |variable| u64::from(variable.align))
            }
        };
        let is_multiple = self.facts.multiple(from) % i128::from(align.max(1)) == 0;
        align <= 1 || (is_multiple && beginning.is_multiple_of(align))
    }

    /// The bytes of a variable; those of dynamic shared memory are what the launch gives.
    fn size_of(&self, name: &str) -> Option<Poly> {
        let variable = self.find_variable(name)?;
        match (variable.space, variable.size) {
            (Space::Shared, 0) => Some(self.names.shared.clone()),
            (_, 0) => None,
            (_, size) => Some(Poly::constant(size.into())),
        }
    }

    /// The space of a variable; `None` for the memory of a parameter.
    pub(super) fn space_of(&self, memory: &Memory) -> Option<Space> {
        match memory {
            Memory::Param(_) => None,
            Memory::Variable(name) | Memory::Generic(name) => self.find_variable(name).map(|variable| variable.space),
        }
    }

    fn is_in_space(&self, memory: &Memory, named: Option<Space>) -> bool {
        let own = self.space_of(memory);
        match (memory, named) {
            (Memory::Param(_) | Memory::Generic(_), None) | (Memory::Param(_), Some(Space::Global)) => true,
            // Addresses of global memory are generic ones too.
            (Memory::Variable(_), None) => own == Some(Space::Global),
            (Memory::Generic(_), Some(named)) => named == Space::Global && own == Some(named),
            (Memory::Variable(_), Some(named)) => own == Some(named),
            (Memory::Param(_), Some(_)) => false,
        }
    }
}

impl Kernel {
    /// The name of memory in messages.
    pub(super) fn name_of(&self, memory: &Memory) -> String {
        match memory {
            Memory::Param(param) => self
                .params
                .get(*param)
                .map_or_else(String::new, |param| param.name.clone()),
            Memory::Variable(name) | Memory::Generic(name) => name.clone(),
        }
    }
}
