//! A twin of a graph on the CPU emulator, for one launch on what the host knows of the memory.

use crate::backend::executable::Executable;
use crate::devices::bodies::Bodies;
use crate::devices::options::DebugOptions;
use crate::devices::uploads::Uploads;
use crate::devices::{Backend, Emulated};
use crate::error::{Error, Result, Site};
use crate::graph::GraphData;
use crate::graph::definition::predecessors;
use crate::in_flight::uses::Terms;
use crate::ownership::block::{Piece, SharedMemory};
use crate::ownership::blueprint::{Blueprint, Programmatic};
use crate::ownership::device_memory::KernelMemory;
use crate::ownership::shared_resources::SharedResources;
use crate::ownership::storage::Storage;
use crate::program::communicator::seat::Seats;
use crate::program::{External, Op, Program, Work};
use crate::shape::NO_LENGTHS;
use graph_plan::{Lists, Memory, Nest};
use std::sync::Arc;
use std::time::Instant;

/// The bytes of memory that no twin has more of.
const MAX_BYTES: usize = 1 << 30;

/// A graph without the nodes that cannot run, or must not run twice: those that run code of the user, and kernels that
/// the emulator does not have; the nodes that come after them; and nodes whose bodies have such nodes.
pub(super) struct Twin<'g> {
    data: &'g GraphData,
    /// The memory of the graph itself.
    storage: &'g [Storage],
    /// What device memory held before the launch, by resource, as far as that is known.
    copies: &'g [(usize, Vec<u8>)],
    debug: Option<DebugOptions>,
    order: Nest,
    after: Lists<u32>,
    /// The nodes that run are enabled, and the others do nothing.
    program: Program,
    /// The first node that is left out because of what it runs.
    pub(super) stop: Option<usize>,
}

/// The bytes of memory of which nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// As in a new graph: zeros, or the values that a module gives its variables.
    New,
    /// No zeros.
    Filled,
}

impl<'g> Twin<'g> {
    pub(super) fn new(data: &'g GraphData, executable: &'g Executable) -> Self {
        let outcome = graph_plan::check_errors(&data.draft);
        let after = predecessors(&data.draft, &outcome);
        let mut program = data.program.clone();
        let mut stops = vec![false; program.ops.len()];
        for (op, stop) in program.ops.iter_mut().zip(&mut stops) {
            if let Op::External(external) = op {
                *stop = !matches!(external, External::Record(_) | External::Wait(_));
                *op = Op::Work(Work::Join);
            }
        }
        let mut twin = Self {
            data,
            storage: executable.storage(),
            copies: executable.copies(),
            debug: executable.debug_options(),
            order: outcome.order,
            after,
            program,
            stop: None,
        };
        twin.leave_out(stops);
        twin
    }

    /// Leaves out these nodes, those after them, and those with bodies that have one.
    fn leave_out(&mut self, mut stops: Vec<bool>) {
        let first = stops.iter().position(|&stop| stop);
        self.stop = self.stop.into_iter().chain(first).min();
        // A body comes after the one that its node is in.
        for (body, declared) in self.data.draft.bodies.iter().enumerate().rev() {
            for node in self.order.sequence(body) {
                stops[node] |= self.after.of(node).iter().any(|&before| stops[before as usize]);
                if let (true, Some(around)) = (stops[node], declared.node) {
                    stops[around] = true;
                }
            }
        }
        for (enabled, stop) in self.program.enabled.iter_mut().zip(stops) {
            *enabled &= !stop;
        }
    }

    /// Leaves out the nodes that launch a kernel. Returns whether there were some.
    fn leave_out_kernel(&mut self, name: &str) -> bool {
        let mut stops = vec![false; self.program.ops.len()];
        for (op, stop) in self.program.ops.iter_mut().zip(&mut stops) {
            let kernel = op.kernel().map(|kernel| kernel.function as usize);
            if kernel.is_some_and(|function| self.program.functions[function].facts.name == name) {
                (*op, *stop) = (Op::Work(Work::Join), true);
            }
        }
        let some = stops.contains(&true);
        self.leave_out(stops);
        some
    }

    /// Whether there is anything to run.
    pub(super) fn runs(&self) -> bool {
        let ops = self.program.ops.iter().zip(&self.program.enabled);
        ops.into_iter().any(|(op, &enabled)| enabled && op.kernel().is_some())
    }

    /// The resources that running nodes may read and of whose contents nothing is known.
    pub(super) fn unknown(&self) -> Vec<usize> {
        let mut read = vec![false; self.data.draft.resources.len()];
        for access in &self.data.draft.accesses {
            read[access.resource] |= access.mode.reads() && self.program.enabled[access.node];
        }
        let resources = read.into_iter().enumerate();
        let is_unknown = |resource| !self.is_known(resource) && !self.is_overwritten(resource);
        let unknown = resources.filter(|&(resource, read)| read && is_unknown(resource));
        unknown.map(|(resource, _)| resource).collect()
    }

    /// Whether the host knows what the memory held before the launch, or no launch needs that.
    fn is_known(&self, resource: usize) -> bool {
        let is_generator = || {
            let mut rngs = self.data.rngs.iter().flat_map(|rng| &rng.rngs);
            rngs.any(|rng| resource == rng.resource || resource == rng.states)
        };
        match (self.data.draft.resources[resource].memory, &self.storage[resource]) {
            (Memory::Scratch | Memory::Mapped, _) => true,
            (Memory::Host, Storage::Host(_)) => !self.is_written_by_the_host(resource),
            (Memory::Host, _) => false,
            (Memory::Device | Memory::Array | Memory::Constant | Memory::Variable, _) => {
                self.copies.iter().any(|(copied, _)| *copied == resource) || is_generator()
            }
        }
    }

    /// Whether a copy or a memset writes all of the memory before anything else touches it.
    fn is_overwritten(&self, resource: usize) -> bool {
        let bytes = self.data.layouts[resource].map_or(0, |layout| layout.bytes);
        let accesses = &self.data.draft.accesses;
        let touching = accesses.iter().filter(|access| access.resource == resource);
        let nodes: Vec<usize> = touching.map(|access| access.node).collect();
        let writes_all = |node: usize| {
            let written = self.program.ops[node].work().and_then(Work::written);
            let is_whole = written.is_some_and(|written| {
                let mut parts = written.parts();
                parts.any(|part| (part.resource as usize, part.start, part.bytes) == (resource, 0, bytes))
            });
            self.program.enabled[node] && is_whole
        };
        let mut writers = nodes.iter().filter(|&&node| writes_all(node));
        writers.any(|&writer| {
            let mut others = nodes.iter().filter(|&&node| node != writer);
            others.all(|&other| self.order.before(writer, other))
        })
    }

    /// Whether a host function writes the memory. One may still run after a fault.
    fn is_written_by_the_host(&self, resource: usize) -> bool {
        let mut accesses = self.data.draft.accesses.iter();
        accesses.any(|access| {
            let writes = access.resource == resource && access.mode.writes();
            writes && matches!(self.data.program.ops[access.node], Op::External(_))
        })
    }

    /// Launches it once. Returns the error of the launch, if it failed.
    ///
    /// # Errors
    /// If it cannot be launched.
    pub(super) fn launch(&mut self, unknown: Unknown, deadline: Instant) -> Result<Option<Error>> {
        let bytes = self.data.layouts.iter().flatten().map(|layout| layout.bytes);
        if bytes.fold(0, usize::saturating_add) > MAX_BYTES {
            return Err(Error::Unsupported {
                site: Site::default(),
                message: "its memory is more than 1 GiB",
            });
        }
        let mut executable = loop {
            match self.prepare(deadline) {
                Err(Error::Kernel { kernel, .. }) if self.leave_out_kernel(kernel) => {}
                prepared => break prepared?,
            }
        };
        // What is known comes last: it may be in views of other memory.
        for is_known in [false, true] {
            for resource in (0..self.storage.len()).filter(|&resource| self.is_known(resource) == is_known) {
                self.fill(resource, &executable.storage()[resource], unknown)?;
            }
        }
        let draft = &self.data.draft;
        let mut rngs = self.data.rngs.iter();
        rngs.try_for_each(|rng| rng.begin(draft, executable.storage()))?;
        let launched = executable.launch(draft, &self.program);
        Ok(launched.and_then(|()| executable.wait(draft)).err())
    }

    fn prepare(&self, deadline: Instant) -> Result<Executable> {
        let data = self.data;
        let emulator = Backend::Emulator(Emulated::until(deadline));
        let shared = self.views(&emulator)?;
        let blueprint = Blueprint {
            draft: &data.draft,
            program: &self.program,
            order: &self.order,
            after: &self.after,
            programmatic: &Programmatic::of(&data.draft, &self.program),
            layouts: &data.layouts,
            delays: None,
            debug: self.debug,
            driver: 0,
            shared: &shared,
            arena: &data.arena,
            variables: &data.variables,
            arrays: &[],
            seats: &Arc::<Seats>::default(),
            changed: false,
            bodies: Bodies::default(),
            uploads: Uploads::default(),
        };
        Executable::prepare(&emulator, &blueprint)
    }

    /// Memory of the twin for views of one memory: they overlap there as well. All other memory is its own.
    fn views(&self, emulator: &Backend) -> Result<SharedResources> {
        let draft = &self.data.draft;
        let views = self.data.shared.views(&self.data.device.backend);
        let mut shared = Vec::new();
        for views in views.groups() {
            let names: Vec<&str> = views.iter().map(|view| &*draft.resources[view.resource].name).collect();
            let name = names.join(", ");
            let bytes = views.iter().map(|view| view.start + view.bytes).max().unwrap_or(0) as usize;
            let site = || Site::graph(&draft.name).at_memory(&name);
            let memory = KernelMemory::zeroed(emulator, &name, bytes, site)?;
            let whole = Piece::new(memory, bytes, NO_LENGTHS, Terms::Owned);
            shared.extend(views.iter().map(|view| {
                let piece = Piece {
                    start: view.start as usize,
                    bytes: view.bytes as usize,
                    ..whole.clone()
                };
                (view.resource, SharedMemory::Device(piece), true)
            }));
        }
        Ok(SharedResources::new(draft, shared.into_iter()))
    }

    /// Gives memory of the twin what that of the graph held.
    fn fill(&self, resource: usize, to: &Storage, unknown: Unknown) -> Result<()> {
        const PATTERN: [u8; 4096] = [0x3b; 4096];
        let site = || Site::graph(&self.data.draft.name).at_memory(&self.data.draft.resources[resource].name);
        let copy = self.copies.iter().find(|(copied, _)| *copied == resource);
        match (&self.storage[resource], to) {
            (Storage::Mapped(from), Storage::Mapped(to)) => from.copy_to(to, site),
            (Storage::Host(from), Storage::Host(to)) if self.is_known(resource) => {
                let bytes = from.bytes().min(to.bytes());
                // SAFETY: both have these bytes, all initialised, and nobody else knows those of the twin. Nobody
                // writes the others: no host function does, the context does nothing more after a fault (D3 of
                // `docs/safety.md`; in debug mode a kernel may still run, and no kernel has such memory), and the graph
                // is borrowed, so that nobody has a mutable reference.
                unsafe { to.pointer().copy_from_nonoverlapping(from.pointer(), bytes) };
                Ok(())
            }
            _ => {
                let Some((memory, start)) = to.device() else {
                    return Ok(());
                };
                match (copy, unknown) {
                    (Some((_, copy)), _) => memory.write(start, copy, site),
                    (None, Unknown::Filled) if !self.is_known(resource) => {
                        let bytes = self.data.layouts[resource].map_or(0, |layout| layout.bytes);
                        let mut pieces = (0..bytes).step_by(PATTERN.len());
                        pieces.try_for_each(|at| {
                            memory.write(start + at, &PATTERN[..PATTERN.len().min(bytes - at)], site)
                        })
                    }
                    (None, Unknown::New | Unknown::Filled) => Ok(()),
                }
            }
        }
    }
}
