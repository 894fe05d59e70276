//! The facts that a launch lends to instructions: limits, checks, and all that stays the same while it runs.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::floats::{FloatMemory, FloatStores};
use crate::code::{Code, Function};
use crate::memory::footprint::Footprint;
use crate::memory::heap::Heap;
use crate::memory::texture::{Surface, Texture};
use crate::memory::view::View;

/// Limits and checks of a launch.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The most warp instructions that one block may execute before the launch ends with
    /// [`FaultKind::StepLimit`](crate::FaultKind::StepLimit); no limit if `None`.
    pub step_limit: Option<u64>,
    /// The time at which the launch ends with [`FaultKind::Late`](crate::FaultKind::Late) if it still runs; never if
    /// `None`. Blocks look at the clock now and then, so it may end some milliseconds later.
    pub deadline: Option<Instant>,
    /// The number of host threads that run blocks; if `None`, as many as rayon's current pool has.
    pub threads: Option<usize>,
    /// Whether all blocks run at the same time, because they may wait for each other: they take turns. Only such a
    /// launch has the workspace that `grid_group::sync` of CUDA's cooperative groups needs.
    pub cooperative: bool,
    /// The number of blocks of a cluster in x, y and z; if `None`, the one that the kernel requires, or else 1. The
    /// blocks of a cluster run at the same time: they take turns.
    pub cluster: Option<[u32; 3]>,
    /// Whether it is a fault to read shared memory that no thread of the block has written, or memory whose contents
    /// were [forgotten](crate::Allocation::forget_contents) and not written since.
    pub check_uninitialized: bool,
    /// Whether it is a fault if two threads of a block race on shared memory: they touch the same bytes, at least one
    /// of them writes, the accesses are not both atomic or `volatile`, and no barrier is between them. The threads of a
    /// cluster count as those of one block.
    ///
    /// A load may also meet atomic operations. Barriers of the block and of the warp (`bar.warp.sync`) order accesses,
    /// and so do atomic and `volatile` accesses to shared memory, as locks use them. Stores of the same value do not
    /// race.
    pub check_shared_races: bool,
    /// Whether it is a fault if two threads of a block race on device memory, as for
    /// [`check_shared_races`](Self::check_shared_races). Atomic and `volatile` loads of device memory order all
    /// accesses before them, so some races are missed. Memory of `malloc` is not checked.
    pub check_device_races: bool,
    /// Whether it is a fault if threads are apart where they should be together.
    ///
    /// `shfl.sync` that reads from a lane which takes no part gets an undefined value. It is found wherever it happens,
    /// though a reduction of fewer lanes than a warp may do that in lanes whose results nobody uses.
    ///
    /// A barrier of all threads of a block (`__syncthreads()`) belongs to code that all of them reach. PTX counts the
    /// threads that arrive at another instruction with the same barrier, too; CUDA C++ does not promise that. A thread
    /// that has exited counts as arrived.
    pub check_divergence: bool,
    /// Whether the launch counts [`Report::bank_conflicts`](crate::Report::bank_conflicts) and
    /// [`Report::divergent_branches`](crate::Report::divergent_branches). It is slower then.
    pub count: bool,
    /// Floating-point memory: the stores of infinity or NaN to it are in
    /// [`Report::not_finite`](crate::Report::not_finite).
    pub floats: Vec<FloatMemory>,
    /// Whether the launch fills in [`Report::footprint`](crate::Report::footprint).
    pub record_footprint: bool,
    /// Work that may run at the same time: it is a fault to write what it touches, or to read what it writes.
    pub unordered: Vec<Unordered>,
    /// The receiver of the text that kernels print; standard output if `None`.
    pub printer: Option<Printer>,
}

/// A receiver of the text that kernels print by `printf`.
///
/// It is called once for each call of `printf` by a thread, with the whole text. Blocks run on several host threads, so
/// it may be called on any of them, and on several at the same time.
#[derive(Clone)]
pub struct Printer(Arc<dyn Fn(&str) + Send + Sync>);

impl Printer {
    /// A receiver that calls `receive`. A panic in there ends the launch by that panic.
    pub fn new(receive: impl Fn(&str) + Send + Sync + 'static) -> Printer {
        Printer(Arc::new(receive))
    }
}

impl fmt::Debug for Printer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Printer").finish_non_exhaustive()
    }
}

/// Work that nothing orders before or after a launch.
#[derive(Clone, Debug)]
pub struct Unordered {
    /// Its name in messages, for example ``node `b` ``.
    pub name: Box<str>,
    /// The bytes that it touches.
    pub footprint: Arc<Footprint>,
}

/// A call of `cudaGraphSetConditional` in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditional {
    /// The conditional handle.
    pub handle: u64,
    /// Its new value.
    pub value: u32,
}

/// The calls of `cudaGraphSetConditional`, each with the block that made it.
pub(crate) type Conditionals = Mutex<Vec<([u32; 3], Conditional)>>;

/// The counts of a launch.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    /// The instructions that warps executed.
    pub(crate) instructions: AtomicU64,
    pub(crate) bank_conflicts: AtomicU64,
    pub(crate) divergent_branches: AtomicU64,
}

/// A launch, as instructions see it.
pub(crate) struct Context<'a> {
    pub(crate) code: &'a Code,
    pub(crate) view: &'a View,
    pub(crate) textures: &'a [Texture],
    pub(crate) surfaces: &'a [Surface],
    /// The bytes of the kernel's parameters, laid out as the PTX says.
    pub(crate) parameters: &'a [u8],
    /// The index of the kernel among the functions.
    pub(crate) kernel: usize,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// The number of blocks of a cluster.
    pub(crate) cluster: [u32; 3],
    /// Whether the launch or the kernel says that number.
    pub(crate) explicit_cluster: bool,
    pub(crate) dynamic_shared: u32,
    pub(crate) options: &'a Options,
    /// The address of the workspace where the blocks of a cooperative launch meet, or zero.
    pub(crate) workspace: u64,
    pub(crate) heap: Option<&'a Heap>,
    pub(crate) conditionals: &'a Conditionals,
    /// The counts of all blocks. Blocks add theirs at their end.
    pub(crate) totals: &'a Totals,
    /// The search for stores of values that are not finite.
    pub(crate) floats: &'a FloatStores<'a>,
}

impl<'a> Context<'a> {
    /// The kernel that was launched.
    pub(crate) fn function(&self) -> &'a Function {
        &self.code.functions[self.kernel]
    }

    /// Hands on text that a thread prints.
    pub(crate) fn print(&self, text: &str) {
        match &self.options.printer {
            Some(Printer(receive)) => receive(text),
            None => print!("{text}"),
        }
    }

    /// The number of blocks of a cluster.
    pub(crate) fn cluster_blocks(&self) -> usize {
        self.cluster.iter().product::<u32>() as usize
    }

    /// Whether blocks may wait for each other, so that they take turns.
    pub(crate) fn takes_turns(&self) -> bool {
        self.options.cooperative || self.cluster != [1; 3]
    }

    /// Whether the launch runs beyond its deadline.
    pub(crate) fn is_late(&self) -> bool {
        self.options.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The most warp instructions of a block.
    pub(crate) fn step_limit(&self) -> u64 {
        self.options.step_limit.unwrap_or(u64::MAX)
    }
}
