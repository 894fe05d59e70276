//! Programmatic edges, if driver and device support them.

use super::collective;
use super::kernels::{Kernels, PROGRAMMATIC};
use crate::devices::cuda::Cuda;
use crate::driver;
use crate::error::{At, Result, Site};
use crate::ownership::blueprint::{Blueprint, Programmatic};
use crate::program::{External, Op};
use graph_ptx::GuardForm;
use std::collections::BTreeMap;

/// The first CUDA version whose graphs have edges with data.
const EDGE_DATA: u32 = 12_030;

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
    if version >= EDGE_DATA && cuda.capability().at(graph)? >= PROGRAMMATIC {
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
    let mut collectives = Vec::new();
    for node in blueprint.programmatic.nodes() {
        if let Some(kernel) = blueprint.program.ops[node].kernel()
            && let Some(shared) = kernels.own_shared(kernel.function, &kernel.config)
        {
            let most = functions.entry(kernel.function).or_insert(0);
            *most = shared.max(*most);
        }
        if let Op::External(External::Collective(call)) = &blueprint.program.ops[node] {
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
