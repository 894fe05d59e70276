//! Programmatic edges, if driver and device support them.

use crate::backend::blueprint::{Blueprint, Programmatic};
use crate::backend::device::cuda::Cuda;
use crate::driver;
use crate::error::{At, Result, Site};
use crate::kernel::PROGRAMMATIC_FROM;

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
