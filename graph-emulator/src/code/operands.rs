//! The operands of an instruction, one after the other, for analyses that need nothing else of it.

mod rare;

use super::{
    BitsOp, ClusterAddressOp, CompareTarget, CompareType, ConvertType, DISCARD, File, FloatType, Instruction,
    IntegerType, Move, Op, PredicateOp, Role, Selector, Slot,
};
use File::{Predicate, R32, R64};
use Role::{Source, Target as To};
use rare::{address, width};

/// The registers that each instruction reads and writes.
#[derive(Default)]
pub(crate) struct Operands {
    all: Vec<(File, Role, Slot)>,
    ends: Vec<u32>,
}

impl Operands {
    /// Adds the operands of the next instruction.
    pub(crate) fn push(&mut self, instruction: &mut Instruction) {
        instruction
            .op
            .visit(|file, role, slot| self.all.push((file, role, *slot)));
        self.ends.push(self.all.len() as u32);
    }

    /// The operands of the instruction at `pc`.
    #[inline(always)]
    pub(crate) fn at(&self, pc: u32) -> &[(File, Role, Slot)] {
        let start = (pc as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[start as usize..self.ends[pc as usize] as usize]
    }
}

fn integer_file(ty: IntegerType) -> File {
    width(matches!(ty, IntegerType::U64 | IntegerType::S64))
}

fn float_file(ty: FloatType) -> File {
    width(ty == FloatType::F64)
}

impl BitsOp {
    /// The files of its target and its sources.
    fn files(self) -> &'static [File] {
        match self {
            BitsOp::Popc32 | BitsOp::Clz32 | BitsOp::Brev32 | BitsOp::Bfind { wide: false, .. } => &[R32, R32],
            BitsOp::Popc64 | BitsOp::Clz64 | BitsOp::Bfind { wide: true, .. } => &[R32, R64],
            BitsOp::Brev64 => &[R64, R64],
            BitsOp::BfeU64 | BitsOp::BfeS64 => &[R64, R64, R32, R32],
            BitsOp::Bfi32 => &[R32, R32, R32, R32, R32],
            BitsOp::Bfi64 => &[R64, R64, R64, R32, R32],
            BitsOp::Bmsk { .. } | BitsOp::SzextU { .. } | BitsOp::SzextS { .. } => &[R32, R32, R32],
            BitsOp::BfeU32
            | BitsOp::BfeS32
            | BitsOp::Lop3(_)
            | BitsOp::FunnelLeft { .. }
            | BitsOp::FunnelRight { .. }
            | BitsOp::Prmt(_)
            | BitsOp::Fns
            | BitsOp::Dp4a { .. }
            | BitsOp::Dp2a { .. } => &[R32, R32, R32, R32],
        }
    }
}

impl Op {
    /// Visits every register that the instruction reads or writes.
    pub(crate) fn visit(&mut self, mut visitor: impl FnMut(File, Role, &mut Slot)) {
        let mut each = |file: File, role: Role, slot: &mut Slot| {
            if *slot != DISCARD {
                visitor(file, role, slot);
            }
        };
        match self {
            Op::Integer(op) => {
                let file = integer_file(op.ty);
                each(file, To, &mut op.d);
                op.s[..op.op.operand_count()]
                    .iter_mut()
                    .for_each(|slot| each(file, Source, slot));
            }
            Op::Multiply(op) => {
                let narrow = integer_file(op.ty);
                let double = width(!matches!(op.ty, IntegerType::U16 | IntegerType::S16));
                each(double, To, &mut op.d);
                each(narrow, Source, &mut op.a);
                each(narrow, Source, &mut op.b);
                each(double, Source, &mut op.c);
            }
            Op::Shift(op) => {
                each(integer_file(op.ty), To, &mut op.d);
                each(integer_file(op.ty), Source, &mut op.a);
                each(R32, Source, &mut op.b);
            }
            Op::Bits(op) => {
                let files = op.op.files();
                each(files[0], To, &mut op.d);
                op.s.iter_mut()
                    .zip(&files[1..])
                    .for_each(|(slot, &file)| each(file, Source, slot));
            }
            Op::Carry(op) => {
                let file = integer_file(op.ty);
                let count = op.op.operand_count();
                each(file, To, &mut op.d);
                op.s[..count].iter_mut().for_each(|slot| each(file, Source, slot));
            }
            Op::Float(op) => {
                let file = float_file(op.ty);
                let count = op.op.operand_count();
                each(file, To, &mut op.d);
                op.s[..count].iter_mut().for_each(|slot| each(file, Source, slot));
            }
            Op::Math(op) => {
                each(float_file(op.ty), To, &mut op.d);
                each(float_file(op.ty), Source, &mut op.a);
            }
            Op::Convert(op) => {
                each(width(op.to_wide), To, &mut op.d);
                each(width(op.from_wide), Source, &mut op.a);
                each(width(op.from == ConvertType::F64), Source, &mut op.b);
            }
            Op::LocalAddress { d, wide, .. } | Op::Clock { d, wide } => each(width(*wide), To, d),
            Op::Load(op) | Op::Store(op) if op.count as usize > op.values.len() => {}
            Op::Load(op) => {
                let (file, count) = (width(op.wide), usize::from(op.count));
                address(&mut op.address, &mut each);
                op.values[..count].iter_mut().for_each(|slot| each(file, To, slot));
            }
            Op::Store(op) => {
                let (file, count) = (width(op.wide), usize::from(op.count));
                address(&mut op.address, &mut each);
                op.values[..count].iter_mut().for_each(|slot| each(file, Source, slot));
            }
            Op::Move(op) => moves(op, each),
            Op::Predicate(op) => predicates(op, each),
            Op::Compare(op) => {
                let file = match op.ty {
                    CompareType::Integer(ty) => integer_file(ty),
                    CompareType::Float(ty) => float_file(ty),
                };
                op.s.iter_mut().for_each(|slot| each(file, Source, slot));
                if let Some((_, c, _)) = &mut op.combine {
                    each(Predicate, Source, c);
                }
                match &mut op.to {
                    CompareTarget::Predicates(p, q) => {
                        each(Predicate, To, p);
                        each(Predicate, To, q);
                    }
                    CompareTarget::Mask(d) | CompareTarget::Value(d, _) | CompareTarget::Halves(d, _) => {
                        each(R32, To, d)
                    }
                }
            }
            Op::Test(op) => {
                each(Predicate, To, &mut op.d);
                each(width(op.wide), Source, &mut op.a);
            }
            Op::Select(op) => {
                each(width(op.wide), To, &mut op.d);
                each(width(op.wide), Source, &mut op.a);
                each(width(op.wide), Source, &mut op.b);
                match &mut op.by {
                    Selector::Predicate(p, _) => each(Predicate, Source, p),
                    Selector::Signed(c) | Selector::Float(c, _) => each(R32, Source, c),
                }
            }
            Op::ClusterAddress(op) => {
                let wide = width(op.wide);
                each(wide, Source, &mut op.a);
                match &mut op.op {
                    ClusterAddressOp::Map { rank } => {
                        each(R32, Source, rank);
                        each(wide, To, &mut op.d);
                    }
                    ClusterAddressOp::Rank => each(R32, To, &mut op.d),
                }
            }
            Op::IsSpace { d, a, .. } => {
                each(Predicate, To, d);
                each(R64, Source, a);
            }
            Op::Atomic(op) => rare::atomic(op, each),
            Op::AsyncCopy(op) => rare::async_copy(op, each),
            Op::Sequence(ops) => {
                // Dynamic, because the types of generic visitors would nest without end.
                let each: &mut dyn FnMut(File, Role, &mut Slot) = &mut each;
                ops.iter_mut().for_each(|op| op.visit(&mut *each));
            }
            Op::BranchIndexed { index, .. } => each(R32, Source, index),
            Op::Call(op) => rare::call(op, each),
            Op::Barrier(op) => rare::barrier(op, each),
            Op::Mbarrier(op) => rare::mbarrier(op, each),
            Op::BulkCopy(op) => rare::bulk_copy(op, each),
            Op::TextureFetch(op) => rare::texture_fetch(op, each),
            Op::Surface(op) => rare::surface(op, each),
            Op::TextureQuery(op) => {
                each(R32, To, &mut op.d);
                each(R64, Source, &mut op.handle);
            }
            Op::Collective(op) => rare::collective(op, each),
            Op::ActiveMask { d } => each(R32, To, d),
            Op::Video(op) => {
                each(R32, To, &mut op.d);
                [&mut op.a.slot, &mut op.b.slot, &mut op.c]
                    .into_iter()
                    .for_each(|slot| each(R32, Source, slot));
            }
            Op::Narrow(op) => {
                each(R32, To, &mut op.d);
                each(R32, Source, &mut op.a);
                each(R32, Source, &mut op.b);
            }
            Op::Matrix(op) => {
                each(R32, Source, &mut op.mask);
                rare::matrix(&mut op.op, each);
            }
            Op::Nop | Op::Fence | Op::Branch(_) | Op::Return | Op::Exit | Op::Trap | Op::NanoSleep | Op::Cluster(_) => {
            }
        }
    }
}

fn moves(op: &mut Move, mut each: impl FnMut(File, Role, &mut Slot)) {
    let (file, d, s): (_, &mut [Slot], &mut [Slot]) = match op {
        Move::M32 { d, a } => ((R32, R32), std::slice::from_mut(d), std::slice::from_mut(a)),
        Move::M64 { d, a } => ((R64, R64), std::slice::from_mut(d), std::slice::from_mut(a)),
        Move::Pack32 { d, s } => ((R32, R32), std::slice::from_mut(d), s),
        Move::PackBytes { d, s } => ((R32, R32), std::slice::from_mut(d), s),
        Move::Pack64 { d, s } => ((R64, R32), std::slice::from_mut(d), s),
        Move::PackQuarters { d, s } => ((R64, R32), std::slice::from_mut(d), s),
        Move::Unpack32 { d, a } => ((R32, R32), d, std::slice::from_mut(a)),
        Move::UnpackBytes { d, a } => ((R32, R32), d, std::slice::from_mut(a)),
        Move::Unpack64 { d, a } => ((R32, R64), d, std::slice::from_mut(a)),
        Move::UnpackQuarters { d, a } => ((R32, R64), d, std::slice::from_mut(a)),
    };
    d.iter_mut().for_each(|slot| each(file.0, To, slot));
    s.iter_mut().for_each(|slot| each(file.1, Source, slot));
}

fn predicates(op: &mut PredicateOp, mut each: impl FnMut(File, Role, &mut Slot)) {
    match op {
        PredicateOp::Mov { d, a } | PredicateOp::Not { d, a } => {
            each(Predicate, To, d);
            each(Predicate, Source, a);
        }
        PredicateOp::Set { d, .. } => each(Predicate, To, d),
        PredicateOp::Combine { d, a, b, .. } => {
            each(Predicate, To, d);
            each(Predicate, Source, a);
            each(Predicate, Source, b);
        }
    }
}
