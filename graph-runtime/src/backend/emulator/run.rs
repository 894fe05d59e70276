//! A launch while it runs: node after node, body by body.

use super::Runner;
use super::texels;
use super::touch::Touch;
use crate::devices::options::EmulatorOptions;
use crate::error::Site;
use crate::ownership::host_memory::HostMemory;
use crate::program::communicator::call::CollectiveCall;
use crate::program::communicator::peer::Peer;
use crate::program::host_call::HostCall;
use crate::program::recorder::{Counts, Recorder};
use crate::program::{
    Argument, Conditional, ConditionalKind, External, KernelOp, MemcpyOp, MemsetOp, Op, Program, Structure, Work,
};
use crate::shape::part::Part;
use graph_emulator::{Access, Buffer, Fault as KernelFault, FloatMemory, Launch, Options, Surface, Texture, Unordered};
use graph_plan::{Draft, Memory, Mode};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::time::Instant;
use tracing::trace;

/// The node that failed, and the reason.
pub(super) type Fault = (usize, Failure);

/// The reason why a node failed.
pub(super) enum Failure {
    /// The node did something wrong, in these words.
    Own(String),
    /// Another rank does not come to it.
    Peer(Peer),
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure::Own(message)
    }
}

impl From<Peer> for Failure {
    fn from(peer: Peer) -> Self {
        Failure::Peer(peer)
    }
}

/// The message about a node that is not run here. `Executable::prepare` has refused captures and `raw` nodes.
const NEEDS_CUDA: &str = "needs a CUDA device";

/// The state of a launch while it runs.
pub(super) struct Run<'a> {
    runner: &'a Runner,
    draft: &'a Draft,
    program: &'a Program,
    /// The memory that each node has touched, in the current body and in those around it. Filled only if unordered
    /// nodes are compared.
    touched: Vec<(usize, Touch)>,
    /// The number of iterations of all `while`s so far.
    iterations: u64,
    begin: Instant,
    /// Takes down the times of nodes, if they are measured.
    recorder: Option<&'a mut Recorder>,
}

/// The memory that a node has touched, and the counts of its kernel.
struct Done {
    touch: Touch,
    counts: Option<Counts>,
    /// The places of stores of values that are not finite, by address, if they are looked for.
    not_finite: BTreeMap<u64, KernelFault>,
}

impl From<Touch> for Done {
    fn from(touch: Touch) -> Self {
        Self {
            touch,
            counts: None,
            not_finite: BTreeMap::new(),
        }
    }
}

impl<'a> Run<'a> {
    pub(super) fn new(
        runner: &'a Runner,
        draft: &'a Draft,
        program: &'a Program,
        recorder: Option<&'a mut Recorder>,
    ) -> Self {
        Self {
            runner,
            draft,
            program,
            touched: Vec::new(),
            iterations: 0,
            begin: Instant::now(),
            recorder,
        }
    }

    /// Runs the nodes of a body once, each with its own bodies.
    pub(super) fn body(&mut self, body: usize) -> Result<(), Fault> {
        for node in self.runner.sequence.next(body) {
            if !self.program.enabled[node] {
                self.record(|recorder| recorder.skip(node));
                continue;
            }
            let touch = self.node(node)?;
            if self.runner.options.check_unordered {
                self.touched.push((node, touch));
            }
        }
        Ok(())
    }

    /// Runs a node, and returns the memory that it touched if unordered nodes are compared.
    fn node(&mut self, node: usize) -> Result<Touch, Fault> {
        let declared = &self.draft.nodes[node];
        trace!(target: "graph_runtime", node = %declared.name, "{}", declared.kind.keyword());
        let finite = self.runner.finite.as_deref();
        let before = finite.map(|finite| finite.before(self.draft, node, |resource, to| self.read(resource, to)));
        let begin = self.recorder.as_ref().map(|_| Instant::now());
        let done = match &self.program.ops[node] {
            Op::Structure(structure) => return self.structure(node, structure),
            Op::Work(work) => self.work(node, work),
            Op::External(External::Collective(call)) => {
                let touch = self.collective(node, call).map_err(|failure| (node, failure))?;
                Ok(touch.into())
            }
            Op::External(external) => self.external(node, external).map(Done::from),
        };
        let time = begin.map_or(0, |begin| begin.elapsed().as_nanos() as u64);
        let done = done.map_err(|message: String| (node, message.into()))?;
        if let (Some(finite), Some(before)) = (finite, before)
            && let Some(finding) = finite.finding(self.draft, node, &before, |resource, to| self.read(resource, to))
        {
            let place = self
                .address(finding.place)
                .and_then(|address| done.not_finite.get(&address));
            let place = place.map_or(String::new(), |place| format!("\nnote: {place}"));
            let message = format!("{} {}{place}{}", self.subject(node), finding.message, finding.notes);
            return Err((node, message.into()));
        }
        match self.program.ops[node].is_join() {
            true => self.record(|recorder| recorder.skip(node)),
            false => self.record(|recorder| recorder.call(node, time, done.counts)),
        }
        Ok(done.touch)
    }

    /// Runs a node that has bodies.
    fn structure(&mut self, node: usize, structure: &Structure) -> Result<Touch, Fault> {
        self.record(|recorder| recorder.enter(node));
        let touch = match structure {
            Structure::Conditional(conditional) => self.conditional(node, conditional),
            Structure::Child(body) => self.inner(*body),
        }?;
        self.record(Recorder::leave);
        Ok(touch)
    }

    /// Tells the recorder, if there is one.
    fn record(&mut self, note: impl FnOnce(&mut Recorder)) {
        if let Some(recorder) = &mut self.recorder {
            note(recorder);
        }
    }

    /// Runs a conditional node with its bodies.
    fn conditional(&mut self, node: usize, conditional: &Conditional) -> Result<Touch, Fault> {
        let condition = conditional.condition();
        let is_while = conditional.kind == ConditionalKind::While;
        let at_node = |message: String| (node, Failure::from(message));
        let mut touch = self.touch(node, [(condition, Mode::Read)]).map_err(at_node)?;
        loop {
            let value = self.condition(condition).map_err(at_node)?;
            let Some(body) = conditional.chosen(value) else {
                return Ok(touch);
            };
            if is_while {
                self.count_iteration().map_err(at_node)?;
            }
            touch.merge(&self.inner(body)?);
            if !is_while {
                return Ok(touch);
            }
        }
    }

    /// Runs the nodes of the body of a node, and returns the memory that they touched.
    fn inner(&mut self, body: usize) -> Result<Touch, Fault> {
        self.record(Recorder::body);
        let outside = self.touched.len();
        self.body(body)?;
        let mut touch = Touch::default();
        self.touched.drain(outside..).for_each(|(_, inner)| touch.merge(&inner));
        Ok(touch)
    }

    /// Reads the condition's value.
    fn condition(&self, condition: Part) -> Result<u32, String> {
        let mut value = [0; 4];
        let (memory, start) = self.runner.device(condition.resource as usize)?;
        let read = memory.read(start + condition.start, &mut value);
        read.map(|()| u32::from_le_bytes(value))
            .map_err(|error| error.to_string())
    }

    /// Reads the first bytes of a resource, unless it has no address.
    fn read(&self, resource: usize, to: &mut [u8]) -> bool {
        let memory = self.runner.device(resource);
        memory.is_ok_and(|(memory, start)| memory.read(start, to).is_ok())
    }

    /// ``kernel `scale` `` or `the memcpy`.
    fn subject(&self, node: usize) -> String {
        match self.program.ops[node].kernel() {
            Some(kernel) => format!(
                "kernel `{}`",
                self.program.functions[kernel.function as usize].facts.name
            ),
            None => format!("the {}", self.draft.nodes[node].kind.keyword()),
        }
    }

    /// Counts an iteration, and fails beyond the limits.
    fn count_iteration(&mut self) -> Result<(), String> {
        self.iterations += 1;
        let EmulatorOptions {
            iteration_limit,
            time_limit,
            ..
        } = self.runner.options;
        let beyond = if let Some(limit) = iteration_limit.filter(|&limit| self.iterations > limit) {
            format!("more than {limit} iterations in one launch")
        } else if let Some(limit) = time_limit.filter(|&limit| self.begin.elapsed() > limit) {
            format!("an iteration more than {limit:?} after the launch")
        } else {
            return Ok(());
        };
        Err(format!(
            "began {beyond}, the limit of the emulator's options: does its condition ever become 0?"
        ))
    }

    /// The nodes that have run, but that the graph orders neither before nor after `node`.
    fn unordered(&self, node: usize) -> impl Iterator<Item = (usize, &Touch)> {
        let touched = self.touched.iter().map(|(other, touch)| (*other, touch));
        touched.filter(move |&(other, _)| self.runner.sequence.unordered(other, node))
    }

    /// The memory that a node touches; empty unless unordered nodes are compared. Fails if an unordered node touches
    /// it, too, and one of them writes. (Not for kernels: their launch checks each access, and reports the memory.)
    fn touch(&self, node: usize, parts: impl IntoIterator<Item = (Part, Mode)>) -> Result<Touch, String> {
        if !self.runner.options.check_unordered {
            return Ok(Touch::default());
        }
        let touch = Touch::of_parts(&self.runner.storage, parts);
        touch.compare(self.unordered(node), self.draft, &self.runner.storage)?;
        Ok(touch)
    }

    fn work(&self, node: usize, work: &Work) -> Result<Done, String> {
        match work {
            Work::Kernel(kernel) => self.kernel(node, kernel),
            Work::Memcpy(MemcpyOp { from, to }) => {
                let reads = from.parts().map(|part| (part, Mode::Read));
                let touch = self.touch(node, reads.chain(to.parts().map(|part| (part, Mode::Write))))?;
                let mut rows = from.parts().zip(to.parts());
                rows.try_for_each(|(from, to)| self.runner.copy(from, to))
                    .map(|()| touch.into())
            }
            Work::Memset(MemsetOp { to, value, .. }) => {
                let touch = self.touch(node, to.parts().map(|part| (part, Mode::Write)))?;
                to.parts()
                    .try_for_each(|row| self.runner.set(row, value))
                    .map(|()| touch.into())
            }
            Work::Join => Ok(Touch::default().into()),
        }
    }

    /// Meets the other ranks, and takes what the node gets of what all give.
    fn collective(&self, node: usize, call: &CollectiveCall) -> Result<Touch, Failure> {
        let touch = self.touch(node, call.parts())?;
        let given = self.runner.given(call)?;
        let place = (node, &*self.draft.nodes[node].name);
        let all = self.runner.seats.meet(&call.communicator, place, given)?;
        self.runner.take(call, &all)?;
        Ok(touch)
    }

    fn external(&self, node: usize, external: &External) -> Result<Touch, String> {
        match external {
            External::Call(call) => {
                let touch = self.touch(node, call.declared.iter().copied())?;
                if let Some(call) = self.runner.calls.get(node) {
                    // SAFETY: `runner` keeps the memory. The launch begins with the graph borrowed exclusively, and
                    // accessors wait for its end. It claims what the graph shares (fact 1 of `Uses`), and runs one node
                    // after the other. So nobody else has references into the memory, or writes it.
                    unsafe { call.run() };
                }
                Ok(touch)
            }
            // Events need nothing here but the order of nodes.
            External::Record(_) | External::Wait(_) => Ok(Touch::default()),
            External::Capture(capture) => match capture.stand_in() {
                Some(stand_in) => self.stand_in(node, stand_in),
                None => Err(NEEDS_CUDA.to_owned()),
            },
            // `node` has run collectives.
            External::Raw(_) | External::Collective(_) => Err(NEEDS_CUDA.to_owned()),
        }
    }

    /// Calls the host function that stands for captured work. It gets copies of the memory, and what it declares to
    /// write is copied back.
    fn stand_in(&self, node: usize, call: &HostCall) -> Result<Touch, String> {
        let touch = self.touch(node, call.declared.iter().copied())?;
        let site = Site::graph(&self.draft.name).at_node(&self.draft.nodes[node].name);
        let copies = call.declared.iter().map(|(part, _)| self.runner.copy_out(*part, &site));
        let copies: Vec<HostMemory> = copies.collect::<Result<_, _>>()?;
        let memory = copies.iter().zip(&call.declared);
        let memory: Vec<(NonNull<u8>, usize)> = memory.map(|(copy, (part, _))| (copy.pointer(), part.bytes)).collect();
        // SAFETY: each pointer is to a copy of the part that is declared, of its length and with the alignment of its
        // memory. Nobody else knows the copies.
        if let Err(message) = unsafe { call.run(&memory) } {
            self.runner.calls.panic().keep(site, message);
        }
        let written = copies.iter().zip(&call.declared).filter(|(_, (_, mode))| mode.writes());
        for (copy, (part, _)) in written {
            self.runner.copy_back(copy, *part)?;
        }
        Ok(touch)
    }

    fn kernel(&self, node: usize, kernel: &KernelOp) -> Result<Done, String> {
        let function = &self.program.functions[kernel.function as usize];
        let arguments = self.program.arguments(kernel);
        let mut buffers = Vec::with_capacity(arguments.len());
        let mut words = Vec::with_capacity(arguments.len());
        let (mut textures, mut surfaces) = (Vec::new(), Vec::new());
        let names: Vec<Cow<'_, str>> = arguments.iter().map(|argument| self.name(argument)).collect();
        for (index, argument) in arguments.iter().enumerate() {
            let Argument::Buffer {
                resource,
                mode,
                start,
                bytes,
            } = argument
            else {
                words.push([0; 8]);
                continue;
            };
            let (allocation, first) = self.runner.device(*resource as usize)?;
            let resource = &self.draft.resources[*resource as usize];
            let address = allocation.address() + (first + *start) as u64;
            buffers.push(Buffer {
                name: &names[index],
                address,
                len: *bytes,
                access: match mode {
                    Mode::Read => Access::Read,
                    Mode::Write | Mode::ReadWrite => Access::ReadWrite,
                    Mode::Atomic => Access::Atomic,
                    Mode::Mapped => Access::Mapped,
                },
            });
            let word = if let Some(form) = function.facts.texture(index) {
                textures.push(texels::texture(form, address, *bytes, resource.memory == Memory::Array));
                Texture::handle(textures.len() - 1)
            } else if let Some(form) = function.facts.surface(index) {
                surfaces.push(texels::surface(form, address, *bytes));
                Surface::handle(surfaces.len() - 1)
            } else {
                address
            };
            words.push(word.to_le_bytes());
        }
        let bytes = arguments.iter().zip(&words);
        let bytes: Vec<&[u8]> = bytes.map(|(argument, word)| argument.value().unwrap_or(word)).collect();
        let launch = Launch {
            grid: kernel.config.grid,
            block: kernel.config.block,
            shared_bytes: kernel.config.shared,
            arguments: &bytes,
            buffers: &buffers,
            textures: &textures,
            surfaces: &surfaces,
            options: &self.options(node, kernel),
        };
        let (entry, grid, block) = (function.facts.entry, launch.grid, launch.block);
        trace!(target: "graph_runtime", entry, ?grid, ?block, shared = launch.shared_bytes, "launch");
        let module = function.module().ok_or("the kernel has no PTX")?;
        let report = self.runner.modules[module].run(entry, &launch);
        report
            .map(|report| Done {
                touch: Touch::of_kernel(report.footprint),
                counts: Some(Counts {
                    instructions: report.instructions,
                    bank_conflicts: report.bank_conflicts,
                    divergent_branches: report.divergent_branches,
                }),
                not_finite: report.not_finite.into_iter().collect(),
            })
            .map_err(|fault| fault.to_string())
    }

    /// The name of the memory that is passed, with the bytes of a part.
    fn name(&self, argument: &Argument) -> Cow<'a, str> {
        match *argument {
            Argument::Value(_) => Cow::Borrowed(""),
            Argument::Buffer {
                resource, start, bytes, ..
            } => {
                let name = &self.draft.resources[resource as usize].name;
                match (start, bytes) == (0, self.runner.storage[resource as usize].bytes()) {
                    true => Cow::Borrowed(name),
                    false => Cow::Owned(format!("{name}[{start}..{}]", start + bytes)),
                }
            }
        }
    }

    /// The address of a byte of a resource.
    fn address(&self, (resource, byte): (usize, usize)) -> Option<u64> {
        let (memory, start) = self.runner.device(resource).ok()?;
        Some(memory.address() + (start + byte) as u64)
    }

    /// The floating-point memory that a node may write, if values that are not finite are looked for.
    fn floats(&self, node: usize) -> Vec<FloatMemory> {
        let written = self
            .runner
            .finite
            .iter()
            .flat_map(|finite| finite.written(self.draft, node));
        let floats = written.filter_map(|(resource, float, len)| {
            let (bits, mantissa) = float.layout();
            Some(FloatMemory {
                address: self.address((resource, 0))?,
                len,
                bits,
                mantissa,
            })
        });
        floats.collect()
    }

    fn options(&self, node: usize, kernel: &KernelOp) -> Options {
        let unordered = self.unordered(node).map(|(other, touch)| Unordered {
            name: format!("node `{}`", self.draft.nodes[other].name).into(),
            footprint: touch.device.clone(),
        });
        let options = &self.runner.options;
        Options {
            step_limit: options.step_limit,
            deadline: self.runner.device.deadline,
            threads: options.threads,
            cooperative: kernel.is_cooperative(),
            cluster: kernel.cluster(),
            check_uninitialized: options.check_uninitialized,
            check_shared_races: options.check_shared_races,
            check_device_races: options.check_device_races,
            check_divergence: options.check_divergence,
            count: self.recorder.is_some(),
            floats: self.floats(node),
            record_footprint: options.check_unordered,
            unordered: unordered.collect(),
            printer: self.runner.printer.clone(),
        }
    }
}
