//! Programmatic edges, if driver and device support them.

use super::kernels::Kernels;
use crate::devices::cuda::Cuda;
use crate::driver;
use crate::error::{At, Result, Site};
use crate::kernel::PROGRAMMATIC_FROM;
use crate::ownership::blueprint::{Blueprint, Programmatic};
use std::collections::BTreeMap;

/// The first CUDA version whose graphs have edges with data.
const EDGE_DATA: u32 = 12_030;
/// The first compute capability with programmatic launches.
const CAPABILITY: (i32, i32) = (PROGRAMMATIC_FROM as i32 / 10, PROGRAMMATIC_FROM as i32 % 10);

/// The edges to lower as programmatic ones: all of them, or none.
pub(super) fn edges<'a>(cuda: &Cuda, blueprint: &Blueprint<'a>, none: &'a Programmatic) -> Result<&'a Programmatic> {
    let graph = || Site::graph(&blueprint.draft.name);
    if blueprint.programmatic.is_empty() {
        return Ok(none);
    }
    // SAFETY: the library is loaded, or there would be no context.
    let version = unsafe { driver::context::driver_version() }
        .at(graph)?
        .min(blueprint.driver);
    if version >= EDGE_DATA && cuda.capability().at(graph)? >= CAPABILITY {
        return Ok(blueprint.programmatic);
    }
    announce!(cuda, debug, graph = %blueprint.draft.name, "programmatic edges become plain ones here").at(graph)?;
    Ok(none)
}

/// Gives all kernels that programmatic edges join the same division of an SM's memory into shared memory and cache, if
/// one of them has shared memory. An SM changes its division only while it is idle. So a kernel that starts early would
/// wait for the SM, and for the change: 1 to 5 us for an edge on an H200 (driver 580), where the edge saves 0.3 us.
pub(super) fn divide_alike(kernels: &Kernels, blueprint: &Blueprint<'_>) -> Result<()> {
    let mut functions = BTreeMap::new();
    for node in blueprint.programmatic.nodes() {
        if let Some(kernel) = blueprint.program.ops[node].kernel()
            && let Some(shared) = kernels.own_shared(kernel.function, &kernel.config)
        {
            let most = functions.entry(kernel.function).or_insert(0);
            *most = shared.max(*most);
        }
    }
    if functions.values().all(|shared| *shared == 0) {
        return Ok(());
    }
    functions
        .into_keys()
        .try_for_each(|function| kernels.prefer_shared(function))
        .at(|| Site::graph(&blueprint.draft.name))
}
