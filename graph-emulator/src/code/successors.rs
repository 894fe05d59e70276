//! The instructions that may follow an operation.

use super::{Op, Slot};

/// The instructions that may follow an operation, and the lanes that it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Successors<'a> {
    /// The next instruction.
    Next,
    /// The next instruction, after the lanes of the warp that this register names have arrived.
    Together(Slot),
    /// One of these instructions.
    Branch(&'a [u32]),
    /// No instruction of the function.
    End,
}

impl Op {
    /// The instructions that may follow it.
    pub(crate) fn successors(&self) -> Successors<'_> {
        match self {
            Op::Branch(target) => Successors::Branch(std::slice::from_ref(target)),
            Op::BranchIndexed { targets, .. } => Successors::Branch(targets),
            Op::Return | Op::Exit | Op::Trap => Successors::End,
            Op::Collective(op) => Successors::Together(op.members()),
            Op::Matrix(op) => Successors::Together(op.mask),
            Op::Nop
            | Op::Integer(_)
            | Op::Multiply(_)
            | Op::Shift(_)
            | Op::Bits(_)
            | Op::Carry(_)
            | Op::Video(_)
            | Op::Float(_)
            | Op::Math(_)
            | Op::Compare(_)
            | Op::Test(_)
            | Op::Select(_)
            | Op::Move(_)
            | Op::Predicate(_)
            | Op::Convert(_)
            | Op::Narrow(_)
            | Op::Load(_)
            | Op::Store(_)
            | Op::Atomic(_)
            | Op::Sequence(_)
            | Op::AsyncCopy(_)
            | Op::LocalAddress { .. }
            | Op::IsSpace { .. }
            | Op::Fence
            | Op::Clock { .. }
            | Op::Call(_)
            | Op::NanoSleep
            | Op::Barrier(_)
            | Op::Mbarrier(_)
            | Op::BulkCopy(_)
            | Op::TextureFetch(_)
            | Op::TextureQuery(_)
            | Op::Surface(_)
            | Op::Cluster(_)
            | Op::ClusterAddress(_)
            | Op::ActiveMask { .. } => Successors::Next,
        }
    }

    /// The instructions that it may branch to, none if it ends the thread; `None` if the next instruction always
    /// follows.
    pub(crate) fn targets(&self) -> Option<&[u32]> {
        match self.successors() {
            Successors::Branch(targets) => Some(targets),
            Successors::End => Some(&[]),
            Successors::Next | Successors::Together(_) => None,
        }
    }

    /// Changes the instructions that it may branch to: all of its [`targets`](Op::targets).
    pub(crate) fn retarget(&mut self, to: impl Fn(u32) -> u32) {
        match self {
            Op::Branch(target) => *target = to(*target),
            Op::BranchIndexed { targets, .. } => *targets = targets.iter().map(|&target| to(target)).collect(),
            other => debug_assert!(
                !matches!(other.successors(), Successors::Branch(_)),
                "its targets stay as they are"
            ),
        }
    }
}
