//! Programmatic edges, if driver and device support them: those of the author, and those between predicated kernels
//! that wait for what is before them.

use super::builtin::PROGRAMMATIC;
use super::collective;
use super::kernels::Kernels;
use super::passes::is_always_one_kernel;
use crate::devices::cuda::Cuda;
use crate::driver;
use crate::error::{At, Result, Site};
use crate::kernel::source::ModuleCode;
use crate::ownership::blueprint::{Blueprint, Programmatic};
use crate::program::{Code, External, MemcpyOp, MemsetOp, Op, Work};
use graph_ptx::GuardForm;
use std::collections::{BTreeMap, BTreeSet};

/// The first CUDA version whose graphs have edges with data.
const EDGE_DATA: u32 = 12_030;

/// The most blocks of a predicated kernel that waits for those before it. An edge to 132 blocks saves 0.3 us, one to
/// 1024 blocks costs 0.2 us more if they return at once (H200, driver 580, `benches/bodies.rs`).
const MAX_BLOCKS: u128 = 256;
/// The same for a memset or a copy that is a kernel.
const MAX_BYTES: usize = 1024 * MAX_BLOCKS as usize;

/// The edges to lower as programmatic ones: all of them, or none.
pub(super) fn edges<'a>(cuda: &Cuda, blueprint: &Blueprint<'a>, none: &'a Programmatic) -> Result<&'a Programmatic> {
    if blueprint.programmatic.is_empty() {
        return Ok(none);
    }
    if are_known(cuda, blueprint)? {
        return Ok(blueprint.programmatic);
    }
    let graph = || Site::graph(&blueprint.draft.name);
    announce!(cuda, debug, graph = %blueprint.draft.name, "programmatic edges become plain ones here").at(graph)?;
    Ok(none)
}

/// Whether driver and device know programmatic edges.
fn are_known(cuda: &Cuda, blueprint: &Blueprint<'_>) -> Result<bool> {
    let graph = || Site::graph(&blueprint.draft.name);
    // SAFETY: the library is loaded, or there would be no context.
    let version = unsafe { driver::context::driver_version() }
        .at(graph)?
        .min(blueprint.driver);
    Ok(version >= EDGE_DATA && cuda.capability().at(graph)? >= PROGRAMMATIC)
}

/// The nodes whose predicated kernels wait for the kernels before them, so that programmatic edges may lead to them.
/// Nodes at programmatic edges of the author are not among them: what is at the other end may rely on it that a node
/// which has begun has no predecessor that still runs. A delay would turn such an edge into a plain one.
pub(super) fn waiting(cuda: &Cuda, blueprint: &Blueprint<'_>) -> Result<BTreeSet<usize>> {
    if blueprint.delays.is_some() || !are_known(cuda, blueprint)? {
        return Ok(BTreeSet::new());
    }
    let program = blueprint.program;
    let can_wait_in = |module: &ModuleCode| match module {
        ModuleCode::Ptx(ptx) => graph_ptx::can_wait(ptx.text),
        ModuleCode::Cubin(_) => false,
    };
    let modules: Vec<bool> = program.modules.iter().map(can_wait_in).collect();
    let of_author: BTreeSet<usize> = blueprint.programmatic.nodes().collect();
    let can_wait = |(node, op): &(usize, &Op)| match op {
        Op::Work(Work::Kernel(kernel)) => {
            let module = match program.functions[kernel.function as usize].code {
                Code::Module(module) => modules[module],
                Code::Loaded(_) => false,
            };
            module && kernel.attributes.is_none() && kernel.config.blocks() <= MAX_BLOCKS && !of_author.contains(node)
        }
        // In predicated bodies, built-in kernels.
        Op::Work(Work::Memset(MemsetOp { to, .. }) | Work::Memcpy(MemcpyOp { to, .. })) => {
            is_always_one_kernel(blueprint, *node) && to.part().bytes <= MAX_BYTES
        }
        Op::Work(Work::Join) | Op::Structure(_) | Op::External(_) => false,
    };
    let nodes = program.ops.iter().enumerate().filter(can_wait);
    Ok(nodes.map(|(node, _)| node).collect())
}

/// Gives all kernels that programmatic edges join the same division of an SM's memory into shared memory and cache, if
/// one of them has shared memory. An SM changes its division only while it is idle. So a kernel that starts early would
/// wait for the SM, and for the change: 1 to 5 us for an edge on an H200 (driver 580), where the edge saves 0.3 us.
pub(super) fn divide_alike(kernels: &Kernels, blueprint: &Blueprint<'_>) -> Result<()> {
    let mut functions = BTreeMap::new();
    let mut collectives = Vec::new();
    for node in blueprint.programmatic.nodes() {
        if let Some(kernel) = blueprint.program.ops[node].kernel()
            && let Some(shared) = kernels.own_shared(kernel.function, &kernel.config)
        {
            let most = functions.entry(kernel.function).or_insert(0);
            *most = shared.max(*most);
        }
        if let Op::External(External::Collective(call)) = &blueprint.program.ops[node]
            && !call.communicator.is_by_nccl()
        {
            collectives.push(kernels.builtin(collective::kernel(call), GuardForm::default()));
        }
    }
    if functions.values().all(|shared| *shared == 0) {
        return Ok(());
    }
    let functions = functions.into_keys().flat_map(|function| kernels.handles(function));
    kernels
        .prefer_shared(functions.chain(collectives))
        .at(|| Site::graph(&blueprint.draft.name))
}
