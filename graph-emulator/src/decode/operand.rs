//! Operands of a function's instructions: registers, literals and special registers all become slots.

use graph_ptx::ast::{self, Operand, Reg, Type};

use super::Result;
use super::layout::Place;
use super::scope::{Scope, in_register};
use crate::code::{
    Address, Base, DISCARD, File, FloatType, Guard, Half, IntegerType, NumberType, Passed, Position, Register, Role,
    Slot, Space, Special,
};

impl<'a> Scope<'a> {
    /// The file and slot of a register of at most 64 bits.
    pub(super) fn slot(&self, register: Reg) -> Result<(File, Slot)> {
        if self.halves.contains_key(&register) {
            return Err("a register of 128 bits is no operand of this instruction".to_owned());
        }
        self.registers
            .get(register.0 as usize)
            .copied()
            .ok_or_else(|| "a register is not declared".to_owned())
    }

    pub(super) fn predicate_register(&self, register: Reg) -> Result<Slot> {
        match self.slot(register)? {
            (File::Predicate, slot) => Ok(slot),
            _ => Err("a register is no predicate".to_owned()),
        }
    }

    /// Notes that the instruction uses a register, and returns its slot. Every slot of an instruction comes from here.
    pub(super) fn uses(&mut self, (file, slot): Register, role: Role) -> Slot {
        self.operands.push((file, role, slot));
        slot
    }

    /// A source that is a 32-bit literal.
    pub(super) fn constant32(&mut self, value: u32) -> Slot {
        let next = self.frame.r32;
        let slot = *self.constants32.entry(value).or_insert(next);
        self.frame.r32 += u32::from(slot == next);
        self.uses((File::R32, slot), Role::Source)
    }

    /// A source that is a 64-bit literal.
    pub(super) fn constant64(&mut self, value: u64) -> Slot {
        let next = self.frame.r64;
        let slot = *self.constants64.entry(value).or_insert(next);
        self.frame.r64 += u32::from(slot == next);
        self.uses((File::R64, slot), Role::Source)
    }

    /// A source that is a special register.
    pub(super) fn special_slot(&mut self, special: Special) -> Slot {
        let known = self.specials.iter().find(|(_, known)| *known == special);
        let slot = match known {
            Some(&(slot, _)) => slot,
            None => {
                let slot = self.frame.take(File::R32);
                self.specials.push((slot, special));
                slot
            }
        };
        self.uses((File::R32, slot), Role::Source)
    }

    /// A source of a type: 64-bit types in 64-bit slots, all others in 32-bit ones.
    pub(super) fn source(&mut self, operand: &Operand, ty: Type) -> Result<Slot> {
        let wide = ty.size() == 8;
        match operand {
            Operand::Register(register) => match (self.slot(*register)?, wide) {
                (found @ (File::R32, _), false) | (found @ (File::R64, _), true) => Ok(self.uses(found, Role::Source)),
                _ => Err("a register has not the width of the instruction's type".to_owned()),
            },
            Operand::Special(name) if !wide => self.special(name),
            Operand::Special(name) => Err(format!("`{name}` is no 64-bit register")),
            Operand::Symbol(name, addend) => self.symbol(name, *addend, wide),
            _ => {
                let bits = literal(operand, ty)?;
                Ok(if wide {
                    self.constant64(bits)
                } else {
                    self.constant32(bits as u32)
                })
            }
        }
    }

    pub(super) fn source32(&mut self, operand: &Operand) -> Result<Slot> {
        self.source(operand, Type::B32)
    }

    fn special(&mut self, name: &str) -> Result<Slot> {
        match name {
            "%gridid" | "%smid" => Ok(self.constant32(0)),
            "%nsmid" => Ok(self.constant32(1)),
            _ => {
                let special = special_named(name).ok_or_else(|| format!("unknown special register `{name}`"))?;
                Ok(self.special_slot(special))
            }
        }
    }

    /// The address of a name, which must be a constant of the frame.
    fn symbol(&mut self, name: &str, addend: i64, wide: bool) -> Result<Slot> {
        let value = match self.find(name)? {
            Place::Global(address) => address.wrapping_add_signed(addend),
            Place::Shared(offset) | Place::Local(offset) | Place::Parameter(offset) => {
                u64::from(offset).wrapping_add_signed(addend)
            }
            Place::Function(_) => self.symbols.address(name).unwrap_or_default(),
            Place::DynamicShared if addend == 0 && !wide => return Ok(self.special_slot(Special::DynamicShared)),
            Place::DynamicShared | Place::Frame(_) | Place::Builtin(_) => {
                return Err(format!("the address of `{name}` cannot be used here"));
            }
        };
        match u32::try_from(value) {
            _ if wide => Ok(self.constant64(value)),
            Ok(value) => Ok(self.constant32(value)),
            Err(_) => Err(format!("the address of `{name}` does not fit into 32 bits")),
        }
    }

    /// The slot that holds the offset of the dynamic shared memory.
    pub(super) fn dynamic_shared(&mut self) -> Slot {
        self.special_slot(Special::DynamicShared)
    }

    /// The place of a name.
    pub(super) fn find(&self, name: &str) -> Result<Place> {
        let place = self.places.get(name).copied().or_else(|| self.symbols.find(name));
        place.ok_or_else(|| match self.symbols.refusal(name) {
            Some(reason) => reason.to_owned(),
            None => format!("`{name}` is not defined"),
        })
    }

    /// The places of the arguments or results of a call. The parts of a vector are passed one by one.
    pub(super) fn all_passed(&mut self, operands: &[Operand], role: Role) -> Result<Vec<Passed>> {
        let parts = operands.iter().flat_map(elements);
        parts.map(|part| self.passed(part, role)).collect()
    }

    /// The place of an argument or a result of a call: a `.param` variable, a register, a literal.
    fn passed(&mut self, operand: &Operand, role: Role) -> Result<Passed> {
        match operand {
            Operand::Register(register) => {
                let register = self.slot(*register)?;
                self.uses(register, role);
                Ok(in_register(register))
            }
            Operand::Integer(value) => Ok(Passed::Constant(*value as u64)),
            Operand::F32(bits) => Ok(Passed::Constant((*bits).into())),
            Operand::F64(bits) => Ok(Passed::Constant(*bits)),
            Operand::Discard => Ok(Passed::Constant(0)),
            Operand::Symbol(name, 0) => match self.places.get(name.as_str()) {
                Some(Place::Frame(offset)) => {
                    let own = self.function.params.iter().find(|param| param.name == *name);
                    let size = self.sizes.get(name.as_str()).copied();
                    let size = size.or(own.map(|param| param.size as u32)).unwrap_or_default();
                    Ok(Passed::Local(*offset, size))
                }
                _ => Err(format!("`{name}` is no `.param` variable")),
            },
            _ => Err("an argument of a call has an unknown form".to_owned()),
        }
    }

    /// A register that no other instruction names, and that this one writes and then reads.
    pub(super) fn temporary(&mut self, file: File) -> Slot {
        let register = (file, self.frame.take(file));
        self.uses(register, Role::Target);
        self.uses(register, Role::Source)
    }

    /// A predicate source. A literal is a predicate that nothing writes, which is false, or its negation.
    pub(super) fn predicate(&mut self, operand: &Operand) -> Result<Guard> {
        let (predicate, negated) = match operand {
            Operand::Integer(value) => {
                let never = self.never.unwrap_or_else(|| self.frame.take(File::Predicate));
                self.never = Some(never);
                (never, *value != 0)
            }
            Operand::Register(register) => (self.predicate_register(*register)?, false),
            Operand::NotPredicate(register) => (self.predicate_register(*register)?, true),
            _ => return Err("a predicate is expected".to_owned()),
        };
        self.uses((File::Predicate, predicate), Role::Source);
        Ok(Guard::new(predicate, negated))
    }

    /// A predicate destination.
    pub(super) fn predicate_target(&mut self, operand: &Operand) -> Result<Slot> {
        match operand {
            Operand::Register(register) => {
                let predicate = self.predicate_register(*register)?;
                Ok(self.uses((File::Predicate, predicate), Role::Target))
            }
            Operand::Discard => Ok(DISCARD),
            _ => Err("a predicate is expected".to_owned()),
        }
    }

    /// A destination of a type.
    pub(super) fn target(&mut self, operand: &Operand, ty: Type) -> Result<Slot> {
        match operand {
            Operand::Register(register) => match (self.slot(*register)?, ty.size() == 8) {
                (found @ (File::R32, _), false) | (found @ (File::R64, _), true) => Ok(self.uses(found, Role::Target)),
                _ => Err("the destination has not the width of the instruction's type".to_owned()),
            },
            _ => Err("the destination is no register".to_owned()),
        }
    }

    /// A destination that may be `_`.
    pub(super) fn target_or_none(&mut self, operand: &Operand, ty: Type) -> Result<Slot> {
        if *operand == Operand::Discard {
            Ok(DISCARD)
        } else {
            self.target(operand, ty)
        }
    }

    /// The instruction after a label.
    pub(super) fn label(&self, name: &str) -> Result<u32> {
        self.labels
            .get(name)
            .copied()
            .ok_or_else(|| format!("there is no label `{name}`"))
    }

    /// The names of a `.branchtargets` list.
    pub(super) fn target_list(&self, name: &str) -> Result<&'a [String]> {
        let list = self.lists.iter().find(|(known, _)| known == name);
        list.map(|(_, names)| names.as_slice())
            .ok_or_else(|| format!("there is no list of targets `{name}`"))
    }

    /// An address operand, and the space it is in.
    pub(super) fn address(&mut self, operand: &Operand, space: Space) -> Result<(Address, Space)> {
        let (base, offset) = match operand {
            Operand::Address(base, offset) => (base, *offset),
            Operand::Symbol(name, offset) => (&ast::Base::Symbol(name.clone()), *offset),
            _ => return Err("an address is expected".to_owned()),
        };
        let absolute = |offset: u64| Address {
            base: Base::Absolute,
            offset: offset as i64,
        };
        match base {
            ast::Base::Absolute => Ok((absolute(offset as u64), space)),
            ast::Base::Register(register) => {
                let register = self.slot(*register)?;
                let base = match register {
                    (File::R32, slot) => Base::R32(slot),
                    (File::R64, slot) => Base::R64(slot),
                    (File::Predicate, _) => return Err("a predicate is no address".to_owned()),
                };
                self.uses(register, Role::Source);
                // Only kernels have a space of parameters. Functions have theirs in local memory.
                let space = match space {
                    Space::Param if !self.function.entry => Space::Local,
                    space => space,
                };
                Ok((Address { base, offset }, space))
            }
            ast::Base::Symbol(name) => Ok(match self.find(name)? {
                Place::Global(address) => (absolute(address.wrapping_add_signed(offset)), Space::Global),
                Place::Shared(at) => (absolute(u64::from(at).wrapping_add_signed(offset)), Space::Shared),
                Place::Local(at) => (absolute(u64::from(at).wrapping_add_signed(offset)), Space::Local),
                Place::Parameter(at) => (absolute(u64::from(at).wrapping_add_signed(offset)), Space::Param),
                Place::Frame(at) => {
                    let (base, offset) = (Base::Frame, i64::from(at).wrapping_add(offset));
                    (Address { base, offset }, Space::Local)
                }
                Place::DynamicShared => {
                    let base = Base::R32(self.dynamic_shared());
                    (Address { base, offset }, Space::Shared)
                }
                Place::Function(_) | Place::Builtin(_) => return Err("a function is no memory".to_owned()),
            }),
        }
    }
}

/// The parts of a vector, or the operand itself.
pub(super) fn elements(operand: &Operand) -> &[Operand] {
    match operand {
        Operand::Vector(parts) => parts,
        other => std::slice::from_ref(other),
    }
}

/// The bits of a literal as a value of a type. As for `ptxas`, integers go with integer types and with `.b16` to
/// `.b64`, `0f3F800000` with types of 32 bits that are no integers, and with `.f64`, which it fills as it is.
fn literal(operand: &Operand, ty: Type) -> Result<u64> {
    let is_float = float_type(ty).is_some();
    match (operand, ty) {
        (Operand::Integer(value), _) if !is_float => Ok(*value as u64),
        (Operand::F32(bits), Type::F32 | Type::B32 | Type::F64) => Ok(u64::from(*bits)),
        (Operand::F64(bits), Type::F32) => Ok(u64::from((f64::from_bits(*bits) as f32).to_bits())),
        (Operand::F64(bits), Type::F64 | Type::B64) => Ok(*bits),
        (Operand::Integer(_), Type::F32 | Type::F64) => {
            Err("an integer literal is no floating-point operand: write `1.0` for `1`".to_owned())
        }
        (Operand::Integer(_) | Operand::F32(_) | Operand::F64(_), _) => {
            Err("a literal is not of the instruction's type".to_owned())
        }
        _ => Err("an operand has a form that the instruction does not take".to_owned()),
    }
}

fn special_named(name: &str) -> Option<Special> {
    let (base, axis) = match name.rsplit_once('.') {
        Some((base, "x")) => (base, 0),
        Some((base, "y")) => (base, 1),
        Some((base, "z")) => (base, 2),
        Some(_) => return None,
        None => (name, 0),
    };
    Some(match base {
        "%tid" => Special::Tid(axis),
        "%ntid" => Special::Ntid(axis),
        "%ctaid" => Special::Position(Position::Ctaid(axis)),
        "%nctaid" => Special::Nctaid(axis),
        "%clusterid" => Special::Position(Position::ClusterId(axis)),
        "%nclusterid" => Special::NclusterId(axis),
        "%cluster_ctaid" => Special::Position(Position::ClusterCtaid(axis)),
        "%cluster_nctaid" => Special::ClusterNctaid(axis),
        "%cluster_ctarank" => Special::Position(Position::ClusterCtarank),
        "%cluster_nctarank" => Special::ClusterNctarank,
        "%laneid" => Special::LaneId,
        "%warpid" => Special::WarpId,
        "%nwarpid" => Special::NwarpId,
        "%lanemask_eq" => Special::LaneMaskEq,
        "%lanemask_lt" => Special::LaneMaskLt,
        "%lanemask_le" => Special::LaneMaskLe,
        "%lanemask_gt" => Special::LaneMaskGt,
        "%lanemask_ge" => Special::LaneMaskGe,
        // The other registers of this kind hold facts about the driver that are not known.
        "%envreg1" => Special::Workspace(Half::High),
        "%envreg2" => Special::Workspace(Half::Low),
        "%reserved_smem_offset_1" => Special::ReservedShared,
        "%dynamic_smem_size" => Special::DynamicSharedSize,
        "%total_smem_size" => Special::TotalSharedSize,
        _ => return None,
    })
}

/// The type of numbers.
pub(super) fn number_type(ty: Type) -> Result<NumberType> {
    match float_type(ty) {
        Some(float) => Ok(NumberType::Float(float)),
        None => Ok(NumberType::Integer(integer_type(ty)?)),
    }
}

/// The integer type of an instruction; bits count as unsigned.
pub(super) fn integer_type(ty: Type) -> Result<IntegerType> {
    Ok(match ty {
        Type::U16 | Type::B16 => IntegerType::U16,
        Type::S16 => IntegerType::S16,
        Type::U32 | Type::B32 => IntegerType::U32,
        Type::S32 => IntegerType::S32,
        Type::U64 | Type::B64 => IntegerType::U64,
        Type::S64 => IntegerType::S64,
        _ => return Err("not an integer type of this instruction".to_owned()),
    })
}

pub(super) fn float_type(ty: Type) -> Option<FloatType> {
    Some(match ty {
        Type::F16 => FloatType::F16,
        Type::F16x2 => FloatType::F16x2,
        Type::BF16 => FloatType::Bf16,
        Type::BF16x2 => FloatType::Bf16x2,
        Type::F32 => FloatType::F32,
        Type::F64 => FloatType::F64,
        _ => return None,
    })
}
