//! The operands of rarer instructions: of memory, of warps, of matrices.

use super::File::{Predicate, R32, R64};
use super::Role::{Source, Target as To};
use super::{File, Role, address, width};
use crate::code::{AtomicOp, AtomicType, BarrierOp, Fragment, MatrixOp, Op, Passed, Slot, Target, VoteOp};

impl Op {
    /// Visit the operands of those that [`Op::visit`] leaves.
    pub(super) fn visit_rare(&mut self, mut each: impl FnMut(File, Role, &mut Slot)) {
        match self {
            Op::Atomic(op) => {
                let wide = matches!(op.ty, AtomicType::B64 | AtomicType::S64 | AtomicType::F64);
                address(&mut op.address, &mut each);
                each(width(wide), To, &mut op.d);
                each(width(wide), Source, &mut op.b);
                if op.op == AtomicOp::CompareExchange {
                    each(width(wide), Source, &mut op.c);
                }
            }
            Op::AsyncCopy(op) => {
                address(&mut op.to, &mut each);
                address(&mut op.from, &mut each);
                each(R32, Source, &mut op.source_bytes);
                if let Some(guard) = &mut op.ignore {
                    each(Predicate, Source, &mut guard.predicate);
                }
            }
            Op::Sequence(ops) => {
                // Not generic, or the types of the visitors would nest without end.
                let each: &mut dyn FnMut(File, Role, &mut Slot) = &mut each;
                ops.iter_mut().for_each(|op| op.visit(&mut *each));
            }
            Op::BranchIndexed { index, .. } => each(R32, Source, index),
            Op::Call(call) => {
                if let Target::Indirect(slot) = &mut call.target {
                    each(R64, Source, slot);
                }
                let mut passed = |passed: &mut Passed, role| match passed {
                    Passed::R32(slot) => each(R32, role, slot),
                    Passed::R64(slot) => each(R64, role, slot),
                    Passed::Local(..) | Passed::Constant(_) => {}
                };
                call.arguments.iter_mut().for_each(|argument| passed(argument, Source));
                call.results.iter_mut().for_each(|result| passed(result, To));
            }
            Op::Barrier(op) => {
                each(R32, Source, &mut op.id);
                each(R32, Source, &mut op.count);
                match &mut op.op {
                    BarrierOp::Sync | BarrierOp::Arrive => {}
                    BarrierOp::Popc { d, p, .. } => {
                        each(R32, To, d);
                        each(Predicate, Source, p);
                    }
                    BarrierOp::And { d, p, .. } | BarrierOp::Or { d, p, .. } => {
                        each(Predicate, To, d);
                        each(Predicate, Source, p);
                    }
                }
            }
            Op::WarpBarrier { mask } => each(R32, Source, mask),
            Op::Shuffle(op) => {
                each(R32, To, &mut op.d);
                each(Predicate, To, &mut op.p);
                [&mut op.a, &mut op.b, &mut op.c, &mut op.mask]
                    .into_iter()
                    .for_each(|slot| each(R32, Source, slot));
            }
            Op::Vote(op) => {
                each(if op.op == VoteOp::Ballot { R32 } else { Predicate }, To, &mut op.d);
                each(Predicate, Source, &mut op.p);
                each(R32, Source, &mut op.mask);
            }
            Op::Match(op) => {
                each(R32, To, &mut op.d);
                each(Predicate, To, &mut op.p);
                each(width(op.wide), Source, &mut op.a);
                each(R32, Source, &mut op.mask);
            }
            Op::Reduce(op) => {
                each(R32, To, &mut op.d);
                each(R32, Source, &mut op.a);
                each(R32, Source, &mut op.mask);
            }
            Op::ActiveMask { d } => each(R32, To, d),
            Op::Elect { d, p, mask } => {
                each(R32, To, d);
                each(Predicate, To, p);
                each(R32, Source, mask);
            }
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
                matrix(&mut op.op, each);
            }
            _ => {}
        }
    }
}

fn matrix(op: &mut MatrixOp, mut each: impl FnMut(File, Role, &mut Slot)) {
    let mut fragment = |fragment: &mut Fragment, role: Role| {
        let file = width(fragment.element.is_wide());
        fragment.slots.iter_mut().for_each(|slot| each(file, role, slot));
    };
    match op {
        MatrixOp::Multiply(op) => {
            fragment(&mut op.d, To);
            [&mut op.a, &mut op.b, &mut op.c]
                .into_iter()
                .for_each(|source| fragment(source, Source));
        }
        MatrixOp::Tile(op) => {
            fragment(&mut op.fragment, if op.store { Source } else { To });
            each(R32, Source, &mut op.stride);
            address(&mut op.address, &mut each);
        }
        MatrixOp::Rows(op) => {
            let role = if op.store { Source } else { To };
            op.values.iter_mut().for_each(|slot| each(R32, role, slot));
            address(&mut op.address, &mut each);
        }
        MatrixOp::Transpose { d, a } => {
            each(R32, To, d);
            each(R32, Source, a);
        }
    }
}
