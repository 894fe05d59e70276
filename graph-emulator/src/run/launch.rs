//! Launching a kernel: the description of a launch, its validation, and its report.

use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

use super::block::fault;
use super::grid::Grid;
use super::module::{Kernel, Module};
use crate::code::{MAX_CLUSTER, MAX_SHARED};
use crate::fault::{Fault, FaultKind};
use crate::memory::footprint::Footprint;
use crate::memory::heap::Heap;
use crate::memory::texture::{Surface, Texture};
use crate::memory::view::{Access, Buffer, PassedRange, View};
use crate::memory::{Allocation, MemoryError};
use crate::sanitize::global::GlobalSanitizer;
use crate::state::Context;
use crate::state::context::{Conditional, Conditionals, Options, Totals};
use crate::state::floats::{FloatStores, Store};

/// A kernel launch.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The number of blocks in x, y and z.
    pub grid: [u32; 3],
    /// The number of threads of a block in x, y and z.
    pub block: [u32; 3],
    /// The dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// The bytes of each argument, in the order of the kernel's parameters.
    pub arguments: &'a [&'a [u8]],
    /// The memory that the kernel may access, besides its module's variables.
    pub buffers: &'a [Buffer<'a>],
    /// The textures through which the kernel may read these. It gets a [handle](Texture::handle) of each.
    pub textures: &'a [Texture],
    /// The surfaces through which the kernel may load and store these. It gets a [handle](Surface::handle) of each.
    pub surfaces: &'a [Surface],
    /// Limits and checks.
    pub options: &'a Options,
}

/// The effects of a launch besides changes of memory.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The calls of `cudaGraphSetConditional`, in the order of blocks, and of each block in its own order. The last
    /// call for a handle counts.
    pub conditionals: Vec<Conditional>,
    /// The instructions that warps executed, of all blocks. An instruction that the lanes of a warp execute apart
    /// counts once for each of their groups.
    pub instructions: u64,
    /// The number of times that shared memory had to move words again because an instruction of a warp accessed several
    /// words in one of the 32 banks: n - 1 for an n-way conflict. Of `ld`, `st`, `atom`, `red`, `cp.async`, `ldmatrix`
    /// and `stmatrix`. 0 unless [`Options::count`] asks for it.
    pub bank_conflicts: u64,
    /// The branches that some lanes of a warp took and others did not, as PTX has them: a compiler makes short ones
    /// predicates. 0 unless [`Options::count`] asks for it.
    pub divergent_branches: u64,
    /// For each address in [`Options::floats`] the last store of infinity or NaN, as a fault of kind
    /// [`FaultKind::NotFinite`]; of 65,536 addresses at most, in order. Not of atomic operations.
    pub not_finite: Vec<(u64, Fault)>,
    /// The bytes of global memory that it read and wrote, without the device heap; empty unless
    /// [`Options::record_footprint`] asks for it.
    pub footprint: Footprint,
}

/// The most blocks of a [cooperative](Options::cooperative) launch, whose registers and shared memory exist at the same
/// time.
pub const MAX_TOGETHER: u64 = 256;

impl Module {
    /// Runs a kernel and waits for its end.
    ///
    /// # Errors
    /// A [`Fault`] of kind [`FaultKind::InvalidLaunch`] if the kernel, its arguments or the dimensions are wrong; one
    /// of another kind if a thread did something wrong. Memory that was written before the fault stays written.
    pub fn launch(&self, kernel: &str, launch: &Launch<'_>) -> Result<(), Fault> {
        self.run(kernel, launch).map(drop)
    }

    /// Runs a kernel, waits for its end, and reports its effects besides changes of memory.
    ///
    /// # Errors
    /// See [`Module::launch`].
    pub fn run(&self, kernel: &str, launch: &Launch<'_>) -> Result<Report, Fault> {
        match self.kernel(kernel) {
            Some(kernel) => run(self, &kernel, launch),
            None => Err(invalid(kernel, "the module has no such kernel".to_owned())),
        }
    }
}

/// A launch that cannot be carried out.
fn invalid(kernel: &str, message: String) -> Fault {
    Fault {
        kernel: kernel.into(),
        block: [0; 3],
        thread: [0; 3],
        line: 0,
        source: None,
        inlined_at: None,
        kind: FaultKind::InvalidLaunch(message.into()),
    }
}

/// Checks a launch and runs its blocks; returns the first fault in the order of blocks.
fn run(module: &Module, kernel: &Kernel<'_>, launch: &Launch<'_>) -> Result<Report, Fault> {
    if let Some(error) = kernel.refused() {
        let kind = FaultKind::Unsupported(Box::new(error.clone()));
        return Err(Fault {
            line: error.line,
            kind,
            ..invalid(kernel.name(), String::new())
        });
    }
    let invalid = |message| invalid(kernel.name(), message);
    check_dimensions(kernel, launch).map_err(invalid)?;
    check_handles(launch).map_err(invalid)?;
    let parameters = parameters(kernel, launch.arguments).map_err(invalid)?;
    let mut ranges = ranges(module, launch).map_err(invalid)?;
    let workspace = workspace(module, launch).map_err(invalid)?;
    ranges.extend(workspace.as_ref().map(|workspace| whole(workspace, Access::ReadWrite)));
    let view = View::new(module.memory().clone(), ranges);
    let (options, conditionals) = (launch.options, Conditionals::default());
    let totals = Totals::default();
    let floats = FloatStores::new(&options.floats);
    if !options.check_uninitialized {
        view.assume_written();
    }
    let sanitizer = GlobalSanitizer::new(&view, module.heap().map(Heap::addresses), options).map_err(invalid)?;
    let (cluster, explicit_cluster) = match launch.options.cluster.or(kernel.cluster()) {
        Some(cluster) => (cluster, true),
        None => ([1; 3], false),
    };
    let context = Context {
        cluster,
        explicit_cluster,
        code: module.code(),
        view: &view,
        textures: launch.textures,
        surfaces: launch.surfaces,
        parameters: &parameters,
        kernel: kernel.function(),
        grid: launch.grid,
        block: launch.block,
        dynamic_shared: launch.shared_bytes,
        options,
        workspace: workspace.as_ref().map_or(0, Allocation::address),
        heap: module.heap(),
        conditionals: &conditionals,
        totals: &totals,
        floats: &floats,
    };
    Grid::new(&context, sanitizer.as_ref()).run().map_err(|fault| *fault)?;
    let stores = floats.stores().into_iter();
    let place = |store: Store| *fault(&context, store.block, store.thread, store.pc, FaultKind::NotFinite);
    let not_finite = stores.map(|(address, store)| (address, place(store))).collect();
    let mut conditionals = conditionals.into_inner().unwrap_or_else(PoisonError::into_inner);
    conditionals.sort_by_key(|([x, y, z], _)| [*z, *y, *x]);
    Ok(Report {
        not_finite,
        instructions: totals.instructions.load(Relaxed),
        bank_conflicts: totals.bank_conflicts.load(Relaxed),
        divergent_branches: totals.divergent_branches.load(Relaxed),
        conditionals: conditionals.into_iter().map(|(_, conditional)| conditional).collect(),
        footprint: sanitizer.map(|sanitizer| sanitizer.footprint()).unwrap_or_default(),
    })
}

/// Checks the dimensions against CUDA's limits and the kernel's own.
fn check_dimensions(kernel: &Kernel<'_>, launch: &Launch<'_>) -> Result<(), String> {
    let Launch {
        grid,
        block,
        shared_bytes,
        ..
    } = launch;
    let product = |sides: &[u32; 3]| sides.iter().fold(1u64, |all, &side| all.saturating_mul(side.into()));
    let threads = product(block);
    if launch.options.cooperative && product(grid) > MAX_TOGETHER {
        return Err(format!(
            "a cooperative launch of {} blocks is too large: the emulator runs {MAX_TOGETHER} at the same time",
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
    check_cluster(kernel, launch)?;
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

/// The most threads of a cluster in which races are looked for: the memory for that grows with their square.
const MAX_COMPARED: u64 = 4096;

/// Checks the cluster against the grid and the kernel.
fn check_cluster(kernel: &Kernel<'_>, launch: &Launch<'_>) -> Result<(), String> {
    let Launch {
        grid, block, options, ..
    } = launch;
    if kernel.counts_clusters() {
        return Err("its grid counts clusters (`.blocksareclusters`), which the emulator does not have".to_owned());
    }
    let (asked, required) = (options.cluster, kernel.cluster());
    if let (Some(asked), Some(required)) = (asked, required)
        && asked != required
    {
        return Err(format!(
            "the cluster is {asked:?}, but `.reqnctapercluster` {required:?}"
        ));
    }
    let Some(cluster) = asked.or(required) else {
        return Ok(());
    };
    let product = |sides: &[u32; 3]| sides.iter().fold(1u64, |all, &side| all.saturating_mul(side.into()));
    let blocks = product(&cluster);
    if blocks == 0 || blocks > MAX_CLUSTER {
        return Err(format!("the cluster {cluster:?} has not 1 to {MAX_CLUSTER} blocks"));
    }
    if grid
        .iter()
        .zip(cluster)
        .any(|(grid, cluster)| !grid.is_multiple_of(cluster))
    {
        return Err(format!("the grid {grid:?} is not made of whole clusters {cluster:?}"));
    }
    let threads = blocks.saturating_mul(product(block));
    let compares = options.check_shared_races || options.check_device_races;
    if compares && blocks > 1 && threads > MAX_COMPARED {
        return Err(format!(
            "a cluster of {threads} threads is too large to look for races of more than {MAX_COMPARED}"
        ));
    }
    Ok(())
}

/// Checks the descriptions of textures and surfaces.
fn check_handles(launch: &Launch<'_>) -> Result<(), String> {
    let textures = launch.textures.iter().map(Texture::mistake).enumerate();
    let surfaces = launch.surfaces.iter().map(Surface::mistake).enumerate();
    let mut all = textures
        .map(|found| ("texture", found))
        .chain(surfaces.map(|found| ("surface", found)));
    match all.find_map(|(kind, (index, mistake))| Some((kind, index, mistake?))) {
        Some((kind, index, mistake)) => Err(format!("there is no such {kind} as number {index}: {mistake}")),
        None => Ok(()),
    }
}

/// Lays out the arguments as the PTX says.
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

/// The bytes of the workspace of a cooperative launch: its size, and the word by which CUDA's cooperative groups count
/// the blocks that have arrived.
const WORKSPACE: usize = 8;

/// The workspace of the launch, if it is cooperative and the module asks for one.
fn workspace(module: &Module, launch: &Launch<'_>) -> Result<Option<Allocation>, String> {
    let wanted = launch.options.cooperative && module.code().uses_workspace();
    let allocated = wanted.then(|| {
        let workspace = module.memory().allocate("grid workspace", WORKSPACE)?;
        workspace.write(0, &(WORKSPACE as u32).to_le_bytes())?;
        Ok(workspace)
    });
    allocated.transpose().map_err(|error: MemoryError| error.to_string())
}

/// All of an allocation.
fn whole(allocation: &Allocation, access: Access) -> PassedRange {
    PassedRange {
        name: allocation.name().to_owned(),
        address: allocation.address(),
        len: allocation.len() as u64,
        access,
        storage: allocation.storage().clone(),
    }
}

/// The memory that the launch may access.
fn ranges(module: &Module, launch: &Launch<'_>) -> Result<Vec<PassedRange>, String> {
    let variables = module.variables();
    let mut ranges: Vec<PassedRange> = variables
        .map(|(allocation, access)| whole(allocation, access))
        .collect();
    ranges.extend(module.heap().map(|heap| whole(heap.allocation(), Access::ReadWrite)));
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
        ranges.push(PassedRange {
            name: name.to_owned(),
            address,
            len: len as u64,
            access,
            storage,
        });
    }
    Ok(ranges)
}
