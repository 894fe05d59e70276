//! Operations, in groups: a place that treats all of a group alike names the group only.

use std::sync::Arc;

use super::{
    AsyncCopy, AsyncStore, Atomic, Barrier, Bits, BulkCopy, Call, Carry, ClusterAddress, ClusterBarrier, Collective,
    Compare, Convert, Float, Integer, Logic, Math, Matrix, Mbarrier, Move, NarrowConvert, Select, Slot, Space,
    SurfaceAccess, Test, TextureFetch, TextureQuery, Transfer, Video,
};

/// The operation of an instruction.
#[derive(Clone, Debug, Default)]
pub(crate) enum Op {
    /// An instruction without effect here: `griddepcontrol`, `prefetch`, `pragma`.
    #[default]
    Nop,
    Lanes(LaneOp),
    Carry(Carry),
    Query(Query),
    Memory(MemoryOp),
    /// Operations to execute one after the other, none of which changes the flow of control: for example the elements
    /// of a vector of atomic operations.
    Sequence(Box<[Op]>),
    Jump(Jump),
    Wait(Wait),
    Collective(Collective),
    Matrix(Box<Matrix>),
}

/// Operations on the registers of each lane by itself, which cannot fault.
#[derive(Clone, Debug)]
pub(crate) enum LaneOp {
    Integer(Integer),
    Bits(Bits),
    Video(Box<Video>),
    Float(Float),
    Math(Math),
    Compare(Box<Compare>),
    Test(Test),
    Select(Select),
    Move(Move),
    Logic(Logic),
    Convert(Convert),
    Narrow(NarrowConvert),
}

/// Questions about a thread, an address or a texture.
#[derive(Clone, Debug)]
pub(crate) enum Query {
    /// The absolute address of a variable of the frame in local memory: `d = frame + offset`.
    LocalAddress {
        d: Slot,
        offset: u32,
        wide: bool,
        generic: bool,
    },
    /// `isspacep`
    IsSpace {
        d: Slot,
        a: Slot,
        space: Space,
        /// Whether it asks for the `.const` part of the global space, or for the rest of it.
        constant: bool,
    },
    Clock {
        d: Slot,
        wide: bool,
    },
    ActiveMask {
        d: Slot,
    },
    ClusterAddress(ClusterAddress),
    Texture(TextureQuery),
}

/// Accesses to memory by each lane.
#[derive(Clone, Debug)]
pub(crate) enum MemoryOp {
    Load(Box<Transfer>),
    Store(Box<Transfer>),
    Atomic(Box<Atomic>),
    AsyncCopy(Box<AsyncCopy>),
    AsyncStore(Box<AsyncStore>),
    Mbarrier(Box<Mbarrier>),
    BulkCopy(Box<BulkCopy>),
    Texture(Box<TextureFetch>),
    Surface(Box<SurfaceAccess>),
}

/// Changes of the flow of control.
#[derive(Clone, Debug)]
pub(crate) enum Jump {
    Branch(u32),
    /// `brx.idx`
    Indexed {
        index: Slot,
        targets: Arc<[u32]>,
    },
    Call(Box<Call>),
    Return,
    Exit,
    Trap,
}

/// Waiting, for time, for memory or for other threads of the block or the cluster.
#[derive(Clone, Debug)]
pub(crate) enum Wait {
    /// `membar`, `fence`
    Fence,
    NanoSleep,
    Barrier(Box<Barrier>),
    Cluster(ClusterBarrier),
}

// Larger operations make every kernel slower: rare ones are boxed.
const _: () = assert!(size_of::<Op>() <= 32);

macro_rules! groups {
    ($($group:ident => $variant:ident),*) => {$(
        impl From<$group> for Op {
            fn from(op: $group) -> Op {
                Op::$variant(op)
            }
        }
    )*};
}

groups!(LaneOp => Lanes, Query => Query, MemoryOp => Memory, Jump => Jump, Wait => Wait);

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
            Op::Jump(jump) => match jump {
                Jump::Branch(target) => Successors::Branch(std::slice::from_ref(target)),
                Jump::Indexed { targets, .. } => Successors::Branch(targets),
                Jump::Return | Jump::Exit | Jump::Trap => Successors::End,
                Jump::Call(_) => Successors::Next,
            },
            Op::Collective(op) => Successors::Together(op.members()),
            Op::Matrix(op) => Successors::Together(op.mask),
            Op::Nop | Op::Lanes(_) | Op::Carry(_) | Op::Query(_) | Op::Memory(_) | Op::Sequence(_) | Op::Wait(_) => {
                Successors::Next
            }
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
            Op::Jump(Jump::Branch(target)) => *target = to(*target),
            Op::Jump(Jump::Indexed { targets, .. }) => *targets = targets.iter().map(|&target| to(target)).collect(),
            other => debug_assert!(
                !matches!(other.successors(), Successors::Branch(_)),
                "its targets stay as they are"
            ),
        }
    }
}
