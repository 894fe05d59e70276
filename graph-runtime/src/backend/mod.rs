//! The two kinds of device. Nothing above this module knows which one it uses.

mod calls;
pub(crate) mod cuda;
pub(crate) mod emulator;
mod memory;
mod sequence;
mod support;

use crate::error::{CudaError, Error, Result, Site};
use crate::graph::shares::Shares;
use crate::kernel::source::Architecture;
use crate::memory::SharedMemory;
use crate::program::scratch::Arena;
use crate::program::{Op, Part, Program};
use graph_plan::{Draft, Edge, Lists, Nest, Space};
use std::collections::HashSet;
use std::sync::Arc;

pub use cuda::CudarcSlice;
pub(crate) use memory::{DeviceMemory, HostMemory, Scratch, Storage};

/// A device.
#[derive(Clone)]
pub(crate) enum Backend {
    Cuda(Arc<cuda::Cuda>),
    Emulator(emulator::Emulated),
}

impl Backend {
    /// What CUDA sources are compiled for.
    pub(crate) fn architecture(&self) -> Result<Architecture, CudaError> {
        match self {
            Backend::Cuda(cuda) => {
                let (major, minor) = cuda.capability()?;
                Ok(Architecture::Device((10 * major + minor) as u32))
            }
            Backend::Emulator(_) => Ok(Architecture::Emulator),
        }
    }
}

/// All that an executable graph is made from. It has passed every check.
pub(crate) struct Blueprint<'a> {
    pub(crate) draft: &'a Draft,
    pub(crate) program: &'a Program,
    pub(crate) order: &'a Nest,
    /// The direct predecessors of each node, after transitive reduction.
    pub(crate) after: &'a Lists<u32>,
    /// Those of them from which the edge is programmatic.
    pub(crate) programmatic: &'a Programmatic,
    /// Size and alignment of each resource in bytes; `None` for those that the kernels' module owns.
    pub(crate) layouts: &'a [Option<Layout>],
    /// On CUDA: delay every node by a time that this draws.
    pub(crate) delays: Option<u64>,
    /// The newest CUDA version of a driver to build for, as `cuDriverGetVersion` counts.
    pub(crate) driver: u32,
    /// What it uses but does not own.
    pub(crate) shares: &'a Shares,
    /// Where its scratch memory lies.
    pub(crate) arena: &'a Arena,
}

/// How much memory a resource needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) bytes: usize,
    pub(crate) align: usize,
}

/// The programmatic edges of a graph.
#[derive(Default)]
pub(crate) struct Programmatic(HashSet<Edge>);

impl Programmatic {
    pub(crate) fn of(draft: &Draft) -> Self {
        Self(draft.programmatic.iter().map(|&index| draft.edges[index]).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Is the edge between the two programmatic?
    pub(crate) fn contains(&self, from: u32, to: usize) -> bool {
        !self.0.is_empty()
            && self.0.contains(&Edge {
                from: from as usize,
                to,
            })
    }
}

/// A graph that can be launched, with the memory it uses.
pub(crate) enum Executable {
    Cuda(Box<cuda::Executable>),
    Emulator(Box<emulator::Executable>),
}

impl Executable {
    pub(crate) fn build(backend: &Backend, blueprint: &Blueprint<'_>) -> Result<Self> {
        support::check(backend, blueprint)?;
        match backend {
            Backend::Cuda(cuda) => Ok(Executable::Cuda(Box::new(cuda::Executable::build(cuda, blueprint)?))),
            Backend::Emulator(device) => Ok(Executable::Emulator(Box::new(emulator::Executable::build(
                device, blueprint,
            )?))),
        }
    }

    /// Starts the graph on its own stream.
    #[inline]
    pub(crate) fn launch(&mut self, draft: &Draft, program: &Program) -> Result<()> {
        match self {
            Executable::Cuda(exec) => exec.launch().map_err(|error| cuda::launch_error(draft, error)),
            Executable::Emulator(exec) => {
                exec.launch(draft, program);
                Ok(())
            }
        }
    }

    /// Waits until no launch is in flight, and returns what went wrong in them.
    pub(crate) fn wait(&self, draft: &Draft) -> Result<()> {
        match self {
            Executable::Cuda(exec) => {
                exec.wait().map_err(|error| cuda::launch_error(draft, error))?;
                exec.calls().panicked(draft)
            }
            Executable::Emulator(exec) => {
                exec.fault(draft)?;
                exec.calls().panicked(draft)
            }
        }
    }

    /// The memory of each resource.
    pub(crate) fn storage(&self) -> &[Storage] {
        match self {
            Executable::Cuda(exec) => exec.storage(),
            Executable::Emulator(exec) => exec.storage(),
        }
    }

    /// Would [`Executable::apply`] refuse this change, whatever else happens?
    pub(crate) fn check_change(&self, draft: &Draft, program: &Program, node: usize, op: &Op) -> Result<(), Error> {
        match self {
            Executable::Cuda(exec) => exec.check_change(draft, program, node, op),
            Executable::Emulator(exec) => exec.check_change(draft, program, node, op),
        }
    }

    /// Makes later launches run `node` as `program` now says.
    pub(crate) fn apply(&mut self, draft: &Draft, program: &Program, node: usize) -> Result<()> {
        match self {
            Executable::Cuda(exec) => exec.apply(draft, program, node),
            Executable::Emulator(exec) => {
                exec.apply(node);
                Ok(())
            }
        }
    }

    /// The same for all nodes that use a resource which was put somewhere else.
    pub(crate) fn apply_memory(&mut self, draft: &Draft, program: &Program, nodes: &[usize]) -> Result<()> {
        match self {
            Executable::Cuda(exec) => exec.apply_memory(draft, program, nodes),
            Executable::Emulator(exec) => {
                nodes.iter().for_each(|&node| exec.apply(node));
                Ok(())
            }
        }
    }

    /// Puts a resource somewhere else. Nodes that use it must be applied again.
    pub(crate) fn rebind(&mut self, resource: usize, memory: SharedMemory) {
        match self {
            Executable::Cuda(exec) => exec.rebind(resource, Storage::Shared(memory)),
            Executable::Emulator(exec) => exec.rebind(resource, Storage::Shared(memory)),
        }
    }

    /// Makes later launches run, or skip, `node`.
    pub(crate) fn set_enabled(&mut self, draft: &Draft, program: &Program, node: usize, enabled: bool) -> Result<()> {
        match self {
            Executable::Cuda(exec) => exec.set_enabled(draft, program, node, enabled),
            Executable::Emulator(_) => Ok(()),
        }
    }
}

/// Allocates every resource that is not shared.
fn allocate(backend: &Backend, blueprint: &Blueprint<'_>) -> Result<Vec<Storage>> {
    let Blueprint {
        draft, layouts, shares, ..
    } = blueprint;
    let mut scratch = allocate_scratch(backend, blueprint)?.into_iter();
    let shared = shares.by_resource(layouts.len());
    let resources = draft.resources.iter().zip(*layouts).zip(shared);
    let allocated = resources.map(|((resource, layout), shared)| {
        let site = || Site::graph(&draft.name).at_memory(&resource.name);
        Ok(match (shared, layout, resource.space) {
            (Some(memory), ..) => Storage::Shared(memory),
            (None, None, _) => Storage::Module,
            (None, Some(_), _) if resource.scratch => scratch.next().map_or(Storage::Module, Storage::Scratch),
            (None, Some(layout), Space::Host) => Storage::Host(HostMemory::zeroed(backend, *layout, site)?),
            (None, Some(layout), Space::Device) => {
                Storage::Device(DeviceMemory::zeroed(backend, &resource.name, layout.bytes, site)?)
            }
        })
    });
    allocated.collect()
}

/// Allocates the arena. Returns the part of each scratch resource, in order.
fn allocate_scratch(backend: &Backend, blueprint: &Blueprint<'_>) -> Result<Vec<Scratch>> {
    let Blueprint {
        draft, layouts, arena, ..
    } = blueprint;
    if arena.offsets.is_empty() {
        return Ok(Vec::new());
    }
    let site = || Site::graph(&draft.name).at_memory("scratch");
    let whole = Arc::new(DeviceMemory::zeroed(backend, "scratch", arena.bytes, site)?);
    let parts = arena.offsets.iter().map(|&(resource, offset)| {
        let name = &draft.resources[resource].name;
        let bytes = layouts[resource].map_or(0, |layout| layout.bytes);
        Scratch::new(&whole, name, offset, bytes, || Site::graph(&draft.name).at_memory(name))
    });
    parts.collect()
}

impl Part {
    /// Does a node over this memory do nothing?
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}
