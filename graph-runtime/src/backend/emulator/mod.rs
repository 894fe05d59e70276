//! The CPU emulator: a launch runs all nodes, in an order that the graph allows, before it returns.

mod attribute;
mod conditional;
mod copy;
mod sequence;
mod slow;
mod texture;

use crate::backend::emulator::sequence::Sequence;
use crate::backend::host_calls::HostCalls;
use crate::devices::options::EmulatorOptions;
use crate::devices::{Backend, Emulated};
use crate::error::{Error, Result, Site};
use crate::ownership::blueprint::Blueprint;
use crate::ownership::device_memory::DeviceMemory;
use crate::ownership::storage::{Storage, allocate};
use crate::program::{Argument, External, KernelOp, MemcpyOp, MemsetOp, Op, Program, Structure, Work};
use crate::shape::part::{ByteRectangle, Part};
use graph_emulator::{
    Access, Allocation, Buffer, Footprint, Launch, Memory, Module, Options, Printer, Surface, Texture, Unordered,
};
use graph_plan::{Draft, Mode};
use std::sync::Arc;

/// A graph made for the emulator.
pub(crate) struct EmulatorExecutable {
    storage: Vec<Storage>,
    /// The program's modules, loaded for this graph alone, so that it has variables of its own.
    modules: Vec<Module>,
    sequence: Sequence,
    /// The fault of the last launch. As with CUDA, waiting reports it.
    fault: Option<Fault>,
    options: EmulatorOptions,
    printer: Option<Printer>,
    calls: HostCalls,
}

/// The state of a launch while it runs.
#[derive(Default)]
struct Run {
    /// The memory that each node has touched, in the current body and in those around it. Filled only if unordered
    /// nodes are compared.
    touched: Vec<(usize, Touch)>,
    /// The number of iterations of all `while`s so far.
    iterations: u64,
}

/// The node that failed, and the message.
type Fault = (usize, String);

/// The device memory and the host memory that a node touches.
#[derive(Clone, Default)]
struct Touch {
    device: Arc<Footprint>,
    host: Arc<Footprint>,
}

impl EmulatorExecutable {
    pub(crate) fn build(device: &Emulated, blueprint: &Blueprint<'_>) -> Result<Self> {
        let modules = load(&device.memory, blueprint)?;
        attribute::check(blueprint)?;
        let options = device.options;
        let backend = Backend::Emulator(device.clone());
        let mut storage = allocate(&backend, blueprint)?;
        put_variables(&device.memory, blueprint, &modules, &mut storage)?;
        forget(blueprint.draft, &options, &storage)?;
        let calls = HostCalls::new(blueprint, &storage);
        Ok(Self {
            storage,
            modules,
            sequence: Sequence::new(blueprint, options.seed, options.check_unordered),
            fault: None,
            options,
            printer: device.printer.clone(),
            calls,
        })
    }

    pub(crate) fn storage(&self) -> &[Storage] {
        &self.storage
    }

    /// The host functions.
    pub(crate) fn calls(&self) -> &HostCalls {
        &self.calls
    }

    /// Refuses a change that the emulator would refuse.
    pub(crate) fn check_change(&self, draft: &Draft, program: &Program, node: usize, work: &Work) -> Result<()> {
        match work.kernel() {
            Some(kernel) => attribute::check_node(draft, program, node, kernel),
            None => Ok(()),
        }
    }

    /// Runs the graph. After a fault, the remaining nodes do not run, and waiting reports the fault.
    pub(crate) fn launch(&mut self, draft: &Draft, program: &Program) {
        slow::warn();
        // `build` has done this once, so it does not fail.
        let _ = forget(draft, &self.options, &self.storage);
        self.fault = self.body(draft, program, 0, &mut Run::default()).err();
    }

    /// Runs the nodes of a body once, each with its own bodies.
    fn body(&mut self, draft: &Draft, program: &Program, body: usize, run: &mut Run) -> Result<(), Fault> {
        for node in self.sequence.next(body) {
            if !program.enabled[node] {
                continue;
            }
            let at_node = |message| (node, message);
            let touch = match &program.ops[node] {
                Op::Structure(Structure::Conditional(conditional)) => {
                    self.conditional(draft, program, node, conditional, run)?
                }
                Op::Structure(Structure::Child(body)) => self.child(draft, program, *body, run)?,
                Op::Work(work) => {
                    let others = self.others(node, run);
                    self.work(draft, program, work, &others).map_err(at_node)?
                }
                Op::External(external) => {
                    let others = self.others(node, run);
                    self.external(draft, node, external, &others).map_err(at_node)?
                }
            };
            if self.options.check_unordered {
                run.touched.push((node, touch));
            }
        }
        Ok(())
    }

    /// The nodes that have run, but that the graph orders neither before nor after `node`.
    fn others<'a>(&self, node: usize, run: &'a Run) -> Vec<(usize, &'a Touch)> {
        let touched = run.touched.iter().map(|(other, touch)| (*other, touch));
        touched
            .filter(|&(other, _)| self.sequence.unordered(other, node))
            .collect()
    }

    /// The fault of the last launch.
    pub(crate) fn fault(&self, draft: &Draft) -> Result<()> {
        match &self.fault {
            None => Ok(()),
            Some((node, message)) => Err(Error::Fault {
                site: Site::graph(&draft.name).at_node(&draft.nodes[*node].name),
                message: message.clone(),
            }),
        }
    }

    /// Forgets the fault of the last launch.
    pub(crate) fn forget_fault(&mut self) {
        self.fault = None;
    }

    /// Does the work of a node, and returns the memory that it touched if unordered nodes are compared.
    fn work(&self, draft: &Draft, program: &Program, work: &Work, others: &[(usize, &Touch)]) -> Result<Touch, String> {
        match work {
            Work::Kernel(kernel) => self.kernel(draft, program, kernel, others),
            Work::Memcpy(MemcpyOp { from, to }) => {
                let touch = self.touch_rows(&[(from, Mode::Read), (to, Mode::Write)]);
                self.compare(draft, &touch, others)?;
                let mut rows = from.parts().zip(to.parts());
                rows.try_for_each(|(from, to)| self.copy(from, to)).map(|()| touch)
            }
            Work::Memset(MemsetOp { to, value, .. }) => {
                let touch = self.touch_rows(&[(to, Mode::Write)]);
                self.compare(draft, &touch, others)?;
                to.parts().try_for_each(|row| self.set(row, value)).map(|()| touch)
            }
            Work::Join => Ok(Touch::default()),
        }
    }

    /// Does the work that objects of the user describe, as [`EmulatorExecutable::work`] does other work.
    fn external(
        &self,
        draft: &Draft,
        node: usize,
        external: &External,
        others: &[(usize, &Touch)],
    ) -> Result<Touch, String> {
        match external {
            External::Call(call) => {
                let touch = self.touch(&call.declared);
                self.compare(draft, &touch, others)?;
                self.call(node);
                Ok(touch)
            }
            // Events need nothing here but the order of nodes.
            External::Record(_) | External::Wait(_) => Ok(Touch::default()),
            // `Executable::build` has refused these.
            External::Capture(_) | External::Raw(_) => Err("needs a CUDA device".to_owned()),
        }
    }

    /// The memory that a node touches, if unordered nodes are compared. Not for kernels, whose launch reports it.
    fn touch(&self, parts: &[(Part, Mode)]) -> Touch {
        let (mut device, mut host) = (Footprint::new(), Footprint::new());
        for (part, mode) in parts.iter().filter(|_| self.options.check_unordered) {
            let storage = &self.storage[part.resource as usize];
            let Some(first) = address(storage) else {
                continue;
            };
            let footprint = if storage.host().is_some() {
                &mut host
            } else {
                &mut device
            };
            let (start, len) = (first + part.start as u64, part.bytes as u64);
            match mode {
                Mode::Read => footprint.read(start, len),
                Mode::Write | Mode::ReadWrite => footprint.write(start, len),
                Mode::Atomic | Mode::Mapped => footprint.update(start, len),
            }
        }
        Touch {
            device: device.into(),
            host: host.into(),
        }
    }

    /// The memory that a node touches as rows of rectangles, if unordered nodes are compared.
    fn touch_rows(&self, rows: &[(&ByteRectangle, Mode)]) -> Touch {
        if !self.options.check_unordered {
            return Touch::default();
        }
        let parts = rows
            .iter()
            .flat_map(|(rows, mode)| rows.parts().map(|part| (part, *mode)));
        self.touch(&parts.collect::<Vec<_>>())
    }

    /// Fails if a node that is no kernel touches memory that an unordered node touches, and one of them writes. (A
    /// kernel checks this itself, at each access.)
    fn compare(&self, draft: &Draft, touch: &Touch, others: &[(usize, &Touch)]) -> Result<(), String> {
        for (other, theirs) in others {
            let found = touch.device.conflict(&theirs.device);
            if let Some(conflict) = found.or_else(|| touch.host.conflict(&theirs.host)) {
                let (verb, theirs) = (conflict.first.verb(), conflict.second.verb());
                let bytes = conflict.addresses.end - conflict.addresses.start;
                let other = &draft.nodes[*other].name;
                return Err(format!(
                    "{verb} {bytes} bytes{} which node `{other}` {theirs}, and neither comes before the other",
                    self.place(draft, conflict.addresses.start)
                ));
            }
        }
        Ok(())
    }

    /// Words for an address: the memory and the byte in it.
    fn place(&self, draft: &Draft, address: u64) -> String {
        let found = self.storage.iter().enumerate().find_map(|(resource, storage)| {
            let start = self::address(storage)?;
            let offset = address
                .checked_sub(start)
                .filter(|&offset| offset < storage.bytes() as u64)?;
            Some(format!(" at offset {offset} of `{}`", draft.resources[resource].name))
        });
        found.unwrap_or_default()
    }

    fn kernel(
        &self,
        draft: &Draft,
        program: &Program,
        kernel: &KernelOp,
        others: &[(usize, &Touch)],
    ) -> Result<Touch, String> {
        let function = &program.functions[kernel.function as usize];
        let arguments = program.arguments(kernel);
        let mut buffers = Vec::with_capacity(arguments.len());
        let mut words = Vec::with_capacity(arguments.len());
        let (mut textures, mut surfaces) = (Vec::new(), Vec::new());
        for (index, argument) in arguments.iter().enumerate() {
            let (word, buffer) = match argument {
                Argument::Value(_) => ([0; 8], None),
                Argument::Buffer {
                    resource,
                    mode,
                    start,
                    bytes,
                } => {
                    let resource = *resource as usize;
                    let (allocation, first) = self.device(resource)?;
                    let buffer = Buffer {
                        name: &draft.resources[resource].name,
                        address: allocation.address() + (first + *start) as u64,
                        len: *bytes,
                        access: match mode {
                            Mode::Read => Access::Read,
                            Mode::Write | Mode::ReadWrite => Access::ReadWrite,
                            Mode::Atomic => Access::Atomic,
                            Mode::Mapped => Access::Mapped,
                        },
                    };
                    let is_array = draft.resources[resource].memory == graph_plan::Memory::Array;
                    let word = match (function.facts.texture(index), function.facts.surface(index)) {
                        (Some(form), _) => {
                            textures.push(texture::texture(form, buffer.address, *bytes, is_array));
                            Texture::handle(textures.len() - 1)
                        }
                        (None, Some(form)) => {
                            surfaces.push(texture::surface(form, buffer.address, *bytes));
                            Surface::handle(surfaces.len() - 1)
                        }
                        (None, None) => buffer.address,
                    };
                    (word.to_le_bytes(), Some(buffer))
                }
            };
            words.push(word);
            buffers.extend(buffer);
        }
        let bytes: Vec<&[u8]> = arguments
            .iter()
            .zip(&words)
            .map(|(argument, word)| match argument {
                Argument::Buffer { .. } => word.as_slice(),
                Argument::Value(value) => value.bytes(),
            })
            .collect();
        let launch = Launch {
            grid: kernel.config.grid,
            block: kernel.config.block,
            shared_bytes: kernel.config.shared,
            arguments: &bytes,
            buffers: &buffers,
            textures: &textures,
            surfaces: &surfaces,
            options: &self.launch_options(draft, others, kernel),
        };
        let module = function.module().ok_or("the kernel has no PTX")?;
        let report = self.modules[module]
            .run(function.facts.entry, &launch)
            .map_err(|fault| fault.to_string())?;
        Ok(Touch {
            device: report.footprint.into(),
            host: Arc::default(),
        })
    }

    /// Calls a host function.
    fn call(&self, node: usize) {
        if let Some(call) = self.calls.get(node) {
            // SAFETY: `self` keeps the memory. `launch`, which has the graph exclusively and claims what it shares
            // (fact 1 of `Uses`), runs one node after the other: nobody else has references into it, or writes it.
            unsafe { call.run() };
        }
    }

    fn launch_options(&self, draft: &Draft, others: &[(usize, &Touch)], kernel: &KernelOp) -> Options {
        let unordered = others.iter().map(|(other, touch)| Unordered {
            name: format!("node `{}`", draft.nodes[*other].name).into(),
            footprint: touch.device.clone(),
        });
        Options {
            step_limit: self.options.step_limit,
            threads: self.options.threads,
            cooperative: kernel.is_cooperative(),
            cluster: kernel.cluster(),
            check_uninitialized: self.options.check_uninitialized,
            check_shared_races: self.options.check_shared_races,
            check_device_races: self.options.check_device_races,
            record_footprint: self.options.check_unordered,
            unordered: unordered.collect(),
            printer: self.printer.clone(),
        }
    }

    /// A resource's device memory, and the offset at which the resource starts in it.
    fn device(&self, resource: usize) -> Result<(&Allocation, usize), String> {
        match self.storage[resource].device() {
            Some((DeviceMemory::Emulator(allocation), start)) => Ok((allocation, start)),
            _ => Err("the memory is not the emulator's".to_owned()),
        }
    }

    /// Makes later launches run `node` with its memory where that is now. (They take all else from the program.)
    pub(crate) fn apply(&mut self, node: usize) {
        self.calls.renew(node, &self.storage);
        self.calls.forget_retired();
    }

    /// Replaces the memory of a resource. The caller must apply the nodes that use it again.
    pub(crate) fn rebind(&mut self, resource: usize, storage: Storage) {
        self.storage[resource] = storage;
    }
}

/// The address of a resource, on the device or the host.
fn address(storage: &Storage) -> Option<u64> {
    let host = storage.host().map(|first| first.addr().get() as u64);
    host.or_else(|| storage.device().map(|(memory, start)| memory.home() + start as u64))
}

/// Puts the variables of modules that are memory of the graph into its storage, by addresses of their own.
fn put_variables(
    memory: &Memory,
    blueprint: &Blueprint<'_>,
    modules: &[Module],
    storage: &mut [Storage],
) -> Result<()> {
    let Blueprint {
        draft,
        layouts,
        variables,
        ..
    } = blueprint;
    for variable in *variables {
        let resource = variable.resource;
        let name = &draft.resources[resource].name;
        let site = || Site::graph(&draft.name).at_memory(name);
        let bytes = layouts[resource].map_or(0, |layout| layout.bytes);
        let found = modules[variable.module].variable(&variable.symbol);
        let found = found.filter(|found| found.len() == bytes);
        let put = found.and_then(|found| memory.allocate_within(name, found, 0, bytes).ok());
        let put = put.ok_or_else(|| Error::OutOfBounds { site: site() })?;
        storage[resource] = Storage::Device(DeviceMemory::Emulator(put));
    }
    Ok(())
}

/// Marks scratch memory as not written, if reads of it are checked.
fn forget(draft: &Draft, options: &EmulatorOptions, storage: &[Storage]) -> Result<()> {
    for (storage, resource) in storage
        .iter()
        .zip(&draft.resources)
        .filter(|_| options.check_uninitialized)
    {
        if let Storage::Scratch(scratch) = storage {
            scratch.forget(|| Site::graph(&draft.name).at_memory(&resource.name))?;
        }
    }
    Ok(())
}

/// Loads the modules, and checks that each has its kernels.
fn load(memory: &Memory, blueprint: &Blueprint<'_>) -> Result<Vec<Module>> {
    let Blueprint { draft, program, .. } = blueprint;
    let mut modules = Vec::with_capacity(program.modules.len());
    for ptx in &program.modules {
        let module = Module::load(memory, ptx.text).map_err(|error| Error::Module {
            site: Site::graph(&draft.name),
            path: ptx.path,
            message: error.to_string(),
        })?;
        modules.push(module);
    }
    for function in &program.functions {
        let module = function.module().and_then(|module| modules.get(module));
        let message = match module.and_then(|module| module.kernel(function.facts.entry)) {
            None => format!("is not in `{}`", function.facts.source.path()),
            Some(kernel) if kernel.counts_clusters() => {
                "has a grid that counts clusters (`.blocksareclusters`), which the emulator does not have".to_owned()
            }
            Some(kernel) => match kernel.refused() {
                Some(error) => format!("cannot run on the emulator: {error}\nhelp: run this graph on a GPU"),
                None => continue,
            },
        };
        return Err(Error::Kernel {
            site: Site::graph(&draft.name),
            kernel: function.facts.name,
            message,
        });
    }
    Ok(modules)
}
