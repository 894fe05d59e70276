//! Doing work: kernels, copies, fills, functions of the user, and the nodes of graphs.

use crate::code::{
    ASSERT, Done, Failure, ILLEGAL_ADDRESS, LAUNCH_FAILED, LAUNCH_OUT_OF_RESOURCES, LAUNCH_TIMEOUT, MISALIGNED_ADDRESS,
    NOT_SUPPORTED, UNKNOWN, fail,
};
use crate::find::offset;
use crate::graph::{Body, Step};
use crate::handle::Handle;
use crate::log;
use crate::memory::{Block, Hold, Kind, copy};
use crate::module::{Attributes, COOPERATIVE, Launch, cluster, is_set};
use crate::settings::{SETTINGS, random};
use crate::state::{IN_FUNCTION, state};
use crate::work::{Batch, Call, Conditional, Conditions, Copy, Fill, IF, WHILE, Work};
use graph_emulator::{Access, Buffer, Extent, Fault, FaultKind, Launch as EmulatorLaunch, Options, Surface, Texture};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// Does work, unless its context is lost; it is lost if the work fails.
pub(crate) fn attempt(context: Handle, work: impl FnOnce() -> Done) {
    if state().check_context(context).is_err() {
        return;
    }
    let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| fail(UNKNOWN, "the driver itself has failed"));
    if let Err(failure) = done {
        log::tell(&failure.text);
        state().lose(context, failure);
    }
}

impl Work {
    /// Does the work of a stream, or of a node without bodies.
    pub(crate) fn run(&self, attributes: &Attributes, conditions: &Conditions) -> Done {
        match self {
            Work::Kernel(launch) => {
                let set = launch.run(attributes)?;
                let mut conditions = conditions.lock().unwrap_or_else(PoisonError::into_inner);
                conditions.extend(set.into_iter().map(|set| (set.handle, set.value)));
                Ok(())
            }
            Work::Copy(copy) => copy.run(),
            Work::Fill(fill) => fill.run(),
            Work::Call(call) => {
                call.run();
                Ok(())
            }
            Work::Record(event) => {
                if let Some(event) = state().event_if_there(*event) {
                    event.recorded_at = Some(Instant::now());
                }
                Ok(())
            }
            // The launch has waited for the work that the event of a node stands for.
            Work::Wait(_) | Work::Empty | Work::Child(_) | Work::Conditional(_) => Ok(()),
            Work::Batch(batch) => batch.run(),
            Work::Collective(collective) => collective.run(),
            Work::Allocate(block) => {
                state().blocks.insert(Block::clone(block));
                Ok(())
            }
            Work::Free(address) => match state().blocks.remove(*address, &[Kind::Device]) {
                Some(_) => Ok(()),
                None => fail(ILLEGAL_ADDRESS, format!("{address:#x} is freed, but is not allocated")),
            },
        }
    }
}

impl Launch {
    /// Runs the kernel with all memory of its context, and returns the conditions that it has set.
    pub(crate) fn run(&self, attributes: &Attributes) -> Done<Vec<graph_emulator::Conditional>> {
        let module = &self.function.module;
        let (blocks, textures, surfaces) = {
            let state = state();
            let reaches = |block: &&Block| match &block.hold {
                Hold::Module(other, _) => !Arc::ptr_eq(other, module),
                Hold::Own(_) | Hold::Host(_) => block.kind.is_host() || state.reaches(module.context, block.context),
            };
            let blocks: Vec<Block> = state.blocks.iter().filter(reaches).cloned().collect();
            let textures: Vec<_> = state.textures.clone();
            let surfaces: Vec<_> = state.surfaces.clone();
            (blocks, textures, surfaces)
        };
        let mut names = Vec::with_capacity(blocks.len());
        for block in &blocks {
            names.push(format!("{} bytes at {:#x}", block.bytes, block.address));
        }
        let held = blocks.iter().zip(&names).filter_map(|(block, name)| {
            let allocation = block.hold.allocation()?;
            // Page-locked memory of the user may begin and end within a word.
            let (address, len) = match block.kind {
                Kind::Registered => (allocation.address(), allocation.len()),
                _ => (block.address, block.bytes),
            };
            Some(Buffer {
                name,
                address,
                len,
                access: Access::ReadWrite,
            })
        });
        let arrays = textures.iter().flatten().filter_map(|(_, array)| array.as_ref());
        let arrays = arrays.chain(surfaces.iter().flatten().map(|(_, array)| array));
        let arrays = arrays.map(|array| Buffer {
            name: "CUDA array",
            address: array.allocation.address(),
            len: array.allocation.len(),
            access: Access::ReadWrite,
        });
        let buffers: Vec<Buffer<'_>> = held.chain(arrays).collect();
        let textures: Vec<Texture> = textures
            .iter()
            .map(|slot| slot.as_ref().map_or(NO_TEXTURE, |(texture, _)| *texture))
            .collect();
        let surfaces: Vec<Surface> = surfaces
            .iter()
            .map(|slot| slot.as_ref().map_or(NO_SURFACE, |(surface, _)| *surface))
            .collect();
        let running = Running::begin();
        let arguments: Vec<&[u8]> = self.arguments.bytes.iter().map(|bytes| &**bytes).collect();
        let options = Options {
            step_limit: SETTINGS.step_limit,
            cooperative: is_set(attributes, COOPERATIVE),
            cluster: cluster(attributes),
            threads: running.threads(),
            ..Options::default()
        };
        let launch = EmulatorLaunch {
            grid: self.grid,
            block: self.block,
            shared_bytes: self.shared,
            arguments: &arguments,
            buffers: &buffers,
            textures: &textures,
            surfaces: &surfaces,
            options: &options,
        };
        match module.module.run(&self.function.name, &launch) {
            Ok(report) => Ok(report.conditionals),
            Err(fault) => Err(failure(&fault)),
        }
    }
}

/// A kernel that runs.
struct Running {
    /// The number of others that ran when it began.
    others: usize,
}

/// The number of kernels that run.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

impl Running {
    fn begin() -> Self {
        let others = RUNNING.fetch_add(1, Relaxed);
        Self { others }
    }

    /// The number of host threads that run its blocks. Kernels may wait for each other, so one that does not run alone
    /// takes none of the threads that they share: it runs on that of its queue.
    fn threads(&self) -> Option<usize> {
        (self.others > 0).then_some(1)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Relaxed);
    }
}

/// The description in place of objects that were destroyed: no texel is read through it.
const NO_TEXTURE: Texture = Texture {
    address: 0,
    channel: graph_emulator::Channel::U8,
    channels: 1,
    extent: Extent::Linear { texels: 0 },
    filter: graph_emulator::Filter::Nearest,
    addressing: graph_emulator::Addressing::Clamp,
    normalized_coordinates: false,
    normalized_values: false,
};
const NO_SURFACE: Surface = Surface {
    address: 0,
    channel: graph_emulator::Channel::U8,
    channels: 1,
    extent: Extent::Line { width: 0, layers: None },
};

/// The code that CUDA has for a fault.
fn failure(fault: &Fault) -> Failure {
    let code = match &fault.kind {
        FaultKind::Misaligned { .. } => MISALIGNED_ADDRESS,
        FaultKind::Assertion(_) => ASSERT,
        FaultKind::Unsupported(_) => NOT_SUPPORTED,
        FaultKind::OutOfMemory => LAUNCH_OUT_OF_RESOURCES,
        FaultKind::StepLimit(_) => LAUNCH_TIMEOUT,
        FaultKind::InvalidAddress { .. }
        | FaultKind::NotPassed(_)
        | FaultKind::OutOfBounds { .. }
        | FaultKind::ReadOnly(_)
        | FaultKind::Freed(_) => ILLEGAL_ADDRESS,
        _ => LAUNCH_FAILED,
    };
    Failure {
        code,
        text: fault.to_string().into(),
    }
}

impl Call {
    pub(crate) fn run(self) {
        IN_FUNCTION.set(true);
        // SAFETY: whoever gave the function to the library promises that it may be called with its data.
        unsafe { (self.function)(std::ptr::with_exposed_provenance_mut(self.data)) };
        IN_FUNCTION.set(false);
    }
}

impl Copy {
    pub(crate) fn run(&self) -> Done {
        let found = {
            let state = state();
            self.find(&state, false)
                .and_then(|from| Ok((from, self.find(&state, true)?)))
        };
        match found {
            Ok((from, to)) => copy(&from, &to, self.sides()),
            Err(failure) => fail(ILLEGAL_ADDRESS, failure.text),
        }
    }
}

impl Batch {
    /// Does the operations one after the other. A word that is waited for may be written by another stream.
    fn run(&self) -> Done {
        let begin = Instant::now();
        for &[operation, address, value, flags, ..] in &*self.operations {
            let bytes = if matches!(operation as u32, 1 | 2) { 4 } else { 8 };
            match operation as u32 {
                1 | 4 => {
                    while !is_reached(read_word(address, bytes)?, value, bytes, flags as u32 & 3) {
                        if SETTINGS.time_limit.is_some_and(|limit| begin.elapsed() > limit) {
                            return fail(LAUNCH_TIMEOUT, format!("nobody writes the word at {address:#x}"));
                        }
                        std::thread::sleep(std::time::Duration::from_micros(50));
                    }
                }
                2 | 5 => {
                    for part in 0..bytes as u64 / 4 {
                        Fill::row(address + 4 * part, (value >> (32 * part)) as u32, 4, 1).run()?;
                    }
                }
                3 | 6 => {} // barriers: everything is seen at once
                other => {
                    return fail(
                        NOT_SUPPORTED,
                        format!("the memory operation {other} is not supported here"),
                    );
                }
            }
        }
        Ok(())
    }
}

/// Reads a word of device memory.
fn read_word(address: u64, bytes: usize) -> Done<u64> {
    let mut word = 0_u64;
    let to = (&raw mut word).expose_provenance();
    Copy::of_bytes(to, true, address as usize, false, bytes).run()?;
    Ok(word)
}

/// Whether a word has the value that a wait with these flags is for: at least the value, the value itself, any of its
/// bits, or a bit that is in neither.
fn is_reached(word: u64, value: u64, bytes: usize, flags: u32) -> bool {
    let (word, value) = if bytes == 4 {
        (word as u32 as u64, value as u32 as u64)
    } else {
        (word, value)
    };
    let difference = if bytes == 4 {
        i64::from((word as u32).wrapping_sub(value as u32) as i32)
    } else {
        word.wrapping_sub(value) as i64
    };
    let all = if bytes == 4 { u64::from(u32::MAX) } else { u64::MAX };
    match flags {
        0 => difference >= 0,
        1 => word == value,
        2 => word & value != 0,
        _ => !(word | value) & all != 0,
    }
}

impl Fill {
    fn run(&self) -> Done {
        let block = state().blocks.find(self.to, self.bytes()).cloned();
        let Some(block) = block else {
            let bytes = self.bytes();
            return fail(
                ILLEGAL_ADDRESS,
                format!("{bytes} bytes from {:#x} on are not allocated", self.to),
            );
        };
        let value = self.value.to_le_bytes();
        let element = &value[..self.element as usize];
        for row in 0..self.height {
            let address = self.to + (row * self.pitch) as u64;
            match block.hold.allocation() {
                Some(allocation) if !block.kind.is_host() => {
                    let filled = allocation.fill(offset(&block, address), element, self.width);
                    filled.or_else(|error| fail(ILLEGAL_ADDRESS, error.to_string()))?;
                }
                _ => {
                    let bytes = element.repeat(self.width);
                    let to: *mut u8 = std::ptr::with_exposed_provenance_mut(address as usize);
                    // SAFETY: the block has the bytes, and whoever queued the work does not touch them meanwhile.
                    unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
                }
            }
        }
        Ok(())
    }
}

/// A launch of an executable graph.
pub(crate) struct Launched<'a> {
    bodies: &'a HashMap<Handle, Arc<Body>>,
    conditions: &'a Conditions,
    begin: Instant,
}

impl<'a> Launched<'a> {
    /// A launch that begins now.
    pub(crate) fn new(bodies: &'a HashMap<Handle, Arc<Body>>, conditions: &'a Conditions) -> Self {
        Self {
            bodies,
            conditions,
            begin: Instant::now(),
        }
    }

    /// Runs the nodes that were made of a graph, each after those that it depends on, in a random order. A failure
    /// names the node by its number in the graph: nodes have no names.
    pub(crate) fn run(&self, graph: Handle) -> Done {
        let Some(body) = self.bodies.get(&graph) else {
            return Ok(());
        };
        let mut missing: Vec<usize> = body.nodes.iter().map(|node| node.after.len()).collect();
        let mut later = vec![Vec::new(); body.nodes.len()];
        for (index, node) in body.nodes.iter().enumerate() {
            node.after.iter().for_each(|&before| later[before].push(index));
        }
        let mut ready: Vec<usize> = (0..missing.len()).filter(|&node| missing[node] == 0).collect();
        while !ready.is_empty() {
            let node = ready.swap_remove(random(ready.len() as u64) as usize);
            let step = &body.nodes[node];
            if step.enabled {
                self.step(step).map_err(|failure| Failure {
                    code: failure.code,
                    text: format!("node {node} ({}): {}", step.work.name(), failure.text).into(),
                })?;
            }
            for &next in &later[node] {
                missing[next] -= 1;
                if missing[next] == 0 {
                    ready.push(next);
                }
            }
        }
        Ok(())
    }

    fn step(&self, step: &Step) -> Done {
        match &step.work {
            Work::Child(graph) => self.run(*graph),
            Work::Conditional(conditional) => self.conditional(conditional),
            single => single.run(&step.attributes, self.conditions),
        }
    }

    fn conditional(&self, conditional: &Conditional) -> Done {
        let value = || {
            let conditions = self.conditions.lock().unwrap_or_else(PoisonError::into_inner);
            conditions.get(&conditional.handle).copied().unwrap_or(0)
        };
        let run = |index: usize| conditional.bodies.get(index).map_or(Ok(()), |graph| self.run(*graph));
        match conditional.kind {
            IF => run(usize::from(value() == 0)),
            WHILE => {
                while value() != 0 {
                    if let Some(limit) = SETTINGS.time_limit.filter(|&limit| self.begin.elapsed() > limit) {
                        let text = format!(
                            "began an iteration more than {limit:?} after the launch, the limit of \
                             `CUDA_GRAPH_DRIVER_TIME_LIMIT`: does its condition ever become 0?"
                        );
                        return fail(LAUNCH_TIMEOUT, text);
                    }
                    run(0)?;
                }
                Ok(())
            }
            _ => run(value() as usize),
        }
    }
}
