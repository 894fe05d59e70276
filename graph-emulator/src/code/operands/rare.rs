//! The operands of rarer instructions, and what finding all operands shares.

use crate::code::{
    Address, AsyncCopy, Atomic, AtomicOp, AtomicType, Barrier, BarrierOp, Base, BulkCopy, Call, Callee, Collective,
    File, Fragment, MatrixOp, Mbarrier, MbarrierOp, Passed, Phase, Role, Slot, SurfaceAccess, TextureFetch, VoteOp,
};
use File::{Predicate, R32, R64};
use Role::{Source, Target as To};

pub(super) fn width(wide: bool) -> File {
    if wide { R64 } else { R32 }
}

pub(super) fn address(address: &mut Address, each: &mut impl FnMut(File, Role, &mut Slot)) {
    match &mut address.base {
        Base::R32(slot) => each(R32, Source, slot),
        Base::R64(slot) => each(R64, Source, slot),
        Base::Frame | Base::Absolute => {}
    }
}

pub(super) fn atomic(op: &mut Atomic, mut each: impl FnMut(File, Role, &mut Slot)) {
    let wide = matches!(op.ty, AtomicType::B64 | AtomicType::S64 | AtomicType::F64);
    address(&mut op.address, &mut each);
    each(width(wide), To, &mut op.d);
    each(width(wide), Source, &mut op.b);
    if op.op == AtomicOp::CompareExchange {
        each(width(wide), Source, &mut op.c);
    }
}

pub(super) fn async_copy(op: &mut AsyncCopy, mut each: impl FnMut(File, Role, &mut Slot)) {
    address(&mut op.to, &mut each);
    address(&mut op.from, &mut each);
    each(R32, Source, &mut op.source_bytes);
    if let Some(guard) = &mut op.ignore {
        each(Predicate, Source, &mut guard.predicate);
    }
}

pub(super) fn call(op: &mut Call, mut each: impl FnMut(File, Role, &mut Slot)) {
    if let Callee::Indirect(slot) = &mut op.target {
        each(R64, Source, slot);
    }
    let mut passed = |passed: &mut Passed, role| match passed {
        Passed::R32(slot) => each(R32, role, slot),
        Passed::R64(slot) => each(R64, role, slot),
        Passed::Predicate(slot) => each(Predicate, role, slot),
        Passed::Local(..) | Passed::Constant(_) => {}
    };
    op.arguments.iter_mut().for_each(|argument| passed(argument, Source));
    op.results.iter_mut().for_each(|result| passed(result, To));
}

pub(super) fn barrier(op: &mut Barrier, mut each: impl FnMut(File, Role, &mut Slot)) {
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

pub(super) fn mbarrier(op: &mut Mbarrier, mut each: impl FnMut(File, Role, &mut Slot)) {
    address(&mut op.address, &mut each);
    match &mut op.op {
        MbarrierOp::Init { count: word }
        | MbarrierOp::Expect { bytes: word }
        | MbarrierOp::Complete { bytes: word } => {
            each(R32, Source, word);
        }
        MbarrierOp::Invalidate | MbarrierOp::Copied { .. } => {}
        MbarrierOp::Arrive(arrive) => {
            each(R64, To, &mut arrive.state);
            each(R32, Source, &mut arrive.count);
            each(R32, Source, &mut arrive.expects);
        }
        MbarrierOp::Wait { p, phase } => {
            each(Predicate, To, p);
            match phase {
                Phase::State(state) => each(R64, Source, state),
                Phase::Parity(parity) => each(R32, Source, parity),
            }
        }
    }
}

pub(super) fn bulk_copy(op: &mut BulkCopy, mut each: impl FnMut(File, Role, &mut Slot)) {
    address(&mut op.to, &mut each);
    address(&mut op.from, &mut each);
    each(R32, Source, &mut op.bytes);
    if let Some(barrier) = &mut op.barrier {
        address(barrier, &mut each);
    }
}

pub(super) fn texture_fetch(op: &mut TextureFetch, mut each: impl FnMut(File, Role, &mut Slot)) {
    each(R64, Source, &mut op.handle);
    op.at.slots().for_each(|slot| each(R32, Source, slot));
    op.d.iter_mut().for_each(|slot| each(R32, To, slot));
}

pub(super) fn surface(op: &mut SurfaceAccess, mut each: impl FnMut(File, Role, &mut Slot)) {
    each(R64, Source, &mut op.handle);
    op.at.slots().for_each(|slot| each(R32, Source, slot));
    let (file, role) = (width(op.bytes == 8), if op.store { Source } else { To });
    let values = &mut op.values[..usize::from(op.count)];
    values.iter_mut().for_each(|slot| each(file, role, slot));
}

pub(super) fn collective(op: &mut Collective, mut each: impl FnMut(File, Role, &mut Slot)) {
    match op {
        Collective::Barrier { members } => each(R32, Source, members),
        Collective::Shuffle(op) => {
            each(R32, To, &mut op.d);
            each(Predicate, To, &mut op.p);
            [&mut op.a, &mut op.b, &mut op.c, &mut op.mask]
                .into_iter()
                .for_each(|slot| each(R32, Source, slot));
        }
        Collective::Vote(op) => {
            each(if op.op == VoteOp::Ballot { R32 } else { Predicate }, To, &mut op.d);
            each(Predicate, Source, &mut op.p);
            each(R32, Source, &mut op.mask);
        }
        Collective::Match(op) => {
            each(R32, To, &mut op.d);
            each(Predicate, To, &mut op.p);
            each(width(op.wide), Source, &mut op.a);
            each(R32, Source, &mut op.mask);
        }
        Collective::Reduce(op) => {
            each(R32, To, &mut op.d);
            each(R32, Source, &mut op.a);
            each(R32, Source, &mut op.mask);
        }
        Collective::Elect { d, p, members } => {
            each(R32, To, d);
            each(Predicate, To, p);
            each(R32, Source, members);
        }
    }
}

pub(super) fn matrix(op: &mut MatrixOp, mut each: impl FnMut(File, Role, &mut Slot)) {
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
