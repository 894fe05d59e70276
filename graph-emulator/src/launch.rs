//! Launching a kernel: what a launch consists of, and running its grid.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use crate::block::{Block, fault};
use crate::decode::MAX_SHARED;
use crate::exec::Context;
use crate::fault::{Fault, FaultKind};
use crate::footprint::Footprint;
use crate::heap::Heap;
use crate::module::{Kernel, Module};
use crate::view::{Range, View};
use crate::watch::global::GlobalWatch;

/// A kernel launch.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// The bytes of each argument, in the order of the kernel's parameters.
    pub arguments: &'a [&'a [u8]],
    /// The memory that the kernel may reach, besides its module's variables.
    pub buffers: &'a [Buffer<'a>],
    /// Limits and checks.
    pub options: &'a Options,
}

/// A range of an [`Allocation`](crate::Allocation) passed to a kernel.
///
/// Ranges may be adjacent or overlap; where they overlap, what any of them permits is permitted.
#[derive(Clone, Copy, Debug)]
pub struct Buffer<'a> {
    /// Its name in fault messages.
    pub name: &'a str,
    /// The address of its first byte.
    pub address: u64,
    /// Its size in bytes.
    pub len: usize,
    /// What the kernel may do with it.
    pub access: Access,
}

/// What a kernel may do with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Load only.
    Read,
    /// Load, store and atomic operations.
    ReadWrite,
}

/// Limits and checks of a launch.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The most warp instructions that one block may execute before the launch ends with
    /// [`FaultKind::StepLimit`](crate::FaultKind::StepLimit); no limit without.
    pub step_limit: Option<u64>,
    /// Host threads to run blocks on; without, as many as rayon's current pool has.
    pub threads: Option<usize>,
    /// Must all blocks run at the same time, since they may wait for each other? Each has a host thread of its own then.
    pub cooperative: bool,
    /// Is it a fault to read shared memory that no thread of the block has written, or memory whose contents were
    /// [forgotten](crate::Allocation::forget_contents) and not written since?
    pub check_uninitialized: bool,
    /// Is it a fault when two threads of a block touch the same shared memory, one of them writes, not both accesses are
    /// atomic or `volatile` (a load may also meet atomic operations), and no barrier is between them? Barriers of the block and of the warp (`bar.warp.sync`) order,
    /// and so do atomic and `volatile` accesses to shared memory, as locks use them. Stores of one value do not race.
    pub check_shared_races: bool,
    /// Is [`Report::footprint`] wanted?
    pub record_footprint: bool,
    /// What runs at the same time, as far as anyone knows: it is a fault to write what it touches, or read what it writes.
    pub unordered: Vec<Unordered>,
}

/// Work that nothing orders before or after a launch.
#[derive(Clone, Debug)]
pub struct Unordered {
    /// What messages call it, for example ``node `b` ``.
    pub name: Box<str>,
    /// What it touches.
    pub footprint: Arc<Footprint>,
}

/// What a launch did besides changing memory.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The calls of `cudaGraphSetConditional`, by block and in the order of each block: the last one for a handle holds.
    pub conditionals: Vec<Conditional>,
    /// What it read and wrote of global memory but the device heap, if [`Options::record_footprint`] asks for it.
    pub footprint: Footprint,
}

/// A call of `cudaGraphSetConditional` in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditional {
    /// The conditional handle.
    pub handle: u64,
    /// Its new value.
    pub value: u32,
}

/// Checks of what the threads of a block do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Checks {
    pub(crate) uninitialized: bool,
    pub(crate) races: bool,
}

/// The calls of `cudaGraphSetConditional`, each with the block that made it.
pub(crate) type Conditionals = Mutex<Vec<([u32; 3], Conditional)>>;

/// The most blocks of a [cooperative](Options::cooperative) launch: each has a host thread of its own.
pub const MOST_TOGETHER: u64 = 256;

/// Check a launch and run its blocks; the first fault in the order of blocks is returned.
pub(crate) fn run(module: &Module, kernel: &Kernel<'_>, function: usize, launch: &Launch<'_>) -> Result<Report, Fault> {
    let invalid = |message: String| {
        let kind = FaultKind::InvalidLaunch(message.into());
        Fault {
            kernel: kernel.name().into(),
            block: [0; 3],
            thread: [0; 3],
            line: 0,
            source: None,
            kind,
        }
    };
    check_dimensions(kernel, launch).map_err(invalid)?;
    let parameters = parameters(kernel, launch.arguments).map_err(invalid)?;
    let view = View::new(module.memory().clone(), ranges(module, launch).map_err(invalid)?);
    let (options, conditionals) = (launch.options, Conditionals::default());
    if !options.check_uninitialized {
        view.assume_written();
    }
    let stop = options.cooperative.then(AtomicBool::default);
    let global = GlobalWatch::new(&view, module.heap().map(Heap::addresses), options);
    let context = Context {
        code: module.code(),
        view: &view,
        parameters: &parameters,
        kernel: function,
        grid: launch.grid,
        block: launch.block,
        dynamic_shared: launch.shared_bytes,
        step_limit: options.step_limit,
        stop: stop.as_ref(),
        heap: module.heap(),
        conditionals: &conditionals,
        global: global.as_ref(),
        checks: Checks {
            uninitialized: options.check_uninitialized,
            races: options.check_shared_races,
        },
    };
    Grid::new(&context).run(options.threads).map_err(|fault| *fault)?;
    let mut conditionals = conditionals.into_inner().unwrap_or_else(PoisonError::into_inner);
    conditionals.sort_by_key(|([x, y, z], _)| [*z, *y, *x]);
    Ok(Report {
        conditionals: conditionals.into_iter().map(|(_, conditional)| conditional).collect(),
        footprint: global.map(|global| global.footprint()).unwrap_or_default(),
    })
}

/// CUDA's limits, and the kernel's own.
fn check_dimensions(kernel: &Kernel<'_>, launch: &Launch<'_>) -> Result<(), String> {
    let Launch {
        grid,
        block,
        shared_bytes,
        ..
    } = launch;
    let product = |sides: &[u32; 3]| sides.iter().fold(1u64, |all, &side| all.saturating_mul(side.into()));
    let threads = product(block);
    if launch.options.cooperative && product(grid) > MOST_TOGETHER {
        return Err(format!(
            "a cooperative launch of {} blocks is too large: the emulator runs {MOST_TOGETHER} at the same time",
            product(grid)
        ));
    }
    if grid.contains(&0) || block.contains(&0) {
        return Err(format!("grid {grid:?} and block {block:?} must not be empty"));
    }
    if grid[0] > i32::MAX as u32 || grid[1] > 65535 || grid[2] > 65535 {
        return Err(format!("the grid {grid:?} is beyond 2147483647, 65535, 65535"));
    }
    if threads > 1024 || block[2] > 64 {
        return Err(format!("the block {block:?} is beyond 1024 threads, or 64 in z"));
    }
    if kernel.required_block().is_some_and(|required| required != *block) {
        return Err(format!(
            "the block is {block:?}, but `.reqntid` {:?}",
            kernel.required_block().unwrap_or_default()
        ));
    }
    if kernel.is_clustered() {
        return Err(
            "it runs in clusters of several blocks (`.reqnctapercluster`), which the emulator does not have".into(),
        );
    }
    if let Some(max) = kernel.max_block()
        && threads > product(&max)
    {
        return Err(format!("the block {block:?} has more threads than `.maxntid` {max:?}"));
    }
    if u64::from(kernel.shared_bytes()) + u64::from(*shared_bytes) > u64::from(MAX_SHARED) {
        return Err(format!("{shared_bytes} bytes of dynamic shared memory are too many"));
    }
    Ok(())
}

/// Lay out the arguments as the PTX says.
fn parameters(kernel: &Kernel<'_>, arguments: &[&[u8]]) -> Result<Vec<u8>, String> {
    let declared = kernel.parameters();
    if declared.len() != arguments.len() {
        return Err(format!(
            "it takes {} arguments, not {}",
            declared.len(),
            arguments.len()
        ));
    }
    let mut bytes: Vec<u8> = Vec::new();
    for (index, (parameter, argument)) in declared.iter().zip(arguments).enumerate() {
        if parameter.size != argument.len() {
            let (expected, given) = (parameter.size, argument.len());
            return Err(format!("argument {index} has {expected} bytes, not {given}"));
        }
        bytes.resize(bytes.len().next_multiple_of(parameter.align.max(1)), 0);
        bytes.extend_from_slice(argument);
    }
    Ok(bytes)
}

/// The memory that the launch may reach.
fn ranges(module: &Module, launch: &Launch<'_>) -> Result<Vec<Range>, String> {
    let mut ranges = Vec::new();
    for (name, allocation, access) in module.variables() {
        let (name, storage) = (name.to_owned(), allocation.storage().clone());
        ranges.push(Range {
            name,
            address: allocation.address(),
            len: allocation.len() as u64,
            access,
            storage,
        });
    }
    if let Some(heap) = module.heap() {
        let heap = heap.allocation();
        ranges.push(Range {
            name: "device heap".to_owned(),
            address: heap.address(),
            len: heap.len() as u64,
            access: Access::ReadWrite,
            storage: heap.storage().clone(),
        });
    }
    for buffer in launch.buffers {
        let Buffer {
            name,
            address,
            len,
            access,
        } = *buffer;
        let found = module
            .memory()
            .find_before(address)
            .ok_or_else(|| format!("the buffer `{name}` is no allocation"))?;
        let storage = found.storage.ok_or_else(|| format!("the buffer `{name}` was freed"))?;
        let offset = address - found.address;
        if offset > found.len as u64 || len as u64 > found.len as u64 - offset {
            return Err(format!(
                "the buffer `{name}` does not lie in the allocation `{}`",
                found.name
            ));
        }
        ranges.push(Range {
            name: name.to_owned(),
            address,
            len: len as u64,
            access,
            storage,
        });
    }
    Ok(ranges)
}

/// The blocks of a launch, handed out in order.
struct Grid<'a> {
    context: &'a Context<'a>,
    blocks: u64,
    /// Blocks handed out at once.
    batch: u64,
    next: AtomicU64,
    /// The first block known to be at fault; later ones need not run.
    limit: AtomicU64,
    fault: Mutex<Option<(u64, Box<Fault>)>>,
}

impl<'a> Grid<'a> {
    fn new(context: &'a Context<'a>) -> Grid<'a> {
        let blocks = context.grid.iter().map(|&count| u64::from(count)).product();
        let (next, limit) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
        Grid {
            context,
            blocks,
            batch: 1,
            next,
            limit,
            fault: Mutex::new(None),
        }
    }

    fn run(mut self, threads: Option<usize>) -> Result<(), Box<Fault>> {
        if let Some(stop) = self.context.stop {
            return self.run_together(stop);
        }
        let available = threads.unwrap_or_else(rayon::current_num_threads).max(1) as u64;
        let workers = available.min(self.blocks);
        self.batch = (self.blocks / (workers * 32)).clamp(1, 256);
        if workers == 1 {
            self.work();
        } else {
            rayon::scope(|scope| {
                for _ in 0..workers {
                    scope.spawn(|_| self.work());
                }
            });
        }
        match self.fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some((_, fault)) => Err(fault),
        }
    }

    /// Run all blocks at the same time. When one is at fault the others, which may wait for it, are stopped.
    fn run_together(&self, stop: &AtomicBool) -> Result<(), Box<Fault>> {
        let first = Mutex::new(None);
        let end = |fault: Box<Fault>| {
            if !stop.swap(true, Relaxed) {
                *first.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
            }
        };
        std::thread::scope(|scope| {
            for index in 0..self.blocks {
                let position = self.position(index);
                let run = move || {
                    let result = Block::new(self.context).run(self.context, position);
                    result.unwrap_or_else(end);
                };
                if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, run) {
                    let message = format!("the host cannot run {} blocks at the same time: {error}", self.blocks);
                    let kind = FaultKind::InvalidLaunch(message.into());
                    return end(fault(self.context, position, [0; 3], 0, kind));
                }
            }
        });
        let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
        first.map_or(Ok(()), Err)
    }

    /// Run batches of blocks until none is left.
    fn work(&self) {
        let mut block = Block::new(self.context);
        loop {
            let start = self.next.fetch_add(self.batch, Relaxed);
            for index in start..(start + self.batch).min(self.blocks) {
                if index >= self.limit.load(Relaxed) {
                    return;
                }
                if let Err(fault) = block.run(self.context, self.position(index)) {
                    return self.report(index, fault);
                }
            }
            if start + self.batch >= self.blocks {
                return;
            }
        }
    }

    /// Keep a fault if it is the first in the order of blocks.
    fn report(&self, index: u64, fault: Box<Fault>) {
        self.limit.fetch_min(index, Relaxed);
        let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(known, _)| index < *known) {
            *first = Some((index, fault));
        }
    }

    fn position(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.context.grid.map(u64::from);
        [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32]
    }
}
