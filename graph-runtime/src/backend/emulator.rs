//! The CPU emulator: a launch runs all nodes, in topological order, before it returns.

use super::{Backend, Blueprint, DeviceMemory, HostMemory, Storage};
use crate::error::{Error, Result, Site};
use crate::kernel::Value;
use crate::program::{Argument, KernelOp, Op, Part, Program};
use graph_emulator::{Access, Allocation, Buffer, Launch, Memory, Module, Options};
use graph_plan::{Draft, Mode};

/// A graph made for the emulator.
pub(crate) struct Executable {
    storage: Vec<Storage>,
    /// One for each of the program's modules, so that every graph has variables of its own.
    modules: Vec<Module>,
    sequence: Vec<usize>,
    /// What the last launch did wrong, and in which node. As with CUDA, whoever waits is told.
    fault: Option<(usize, String)>,
    options: Options,
}

impl Executable {
    pub(crate) fn build(memory: &Memory, blueprint: &Blueprint<'_>) -> Result<Self> {
        let modules = load(memory, blueprint)?;
        Ok(Self {
            storage: super::allocate(&Backend::Emulator(memory.clone()), blueprint)?,
            modules,
            sequence: blueprint.order.sequence().to_vec(),
            fault: None,
            options: Options::default(),
        })
    }

    pub(crate) fn storage(&self) -> &[Storage] {
        &self.storage
    }

    /// Runs the graph. Faults are kept for whoever waits; after one the remaining nodes do not run.
    pub(crate) fn launch(&mut self, draft: &Draft, program: &Program) {
        self.fault = None;
        for &node in &self.sequence {
            if !program.enabled[node] {
                continue;
            }
            if let Err(message) = self.run(draft, program, &program.ops[node]) {
                self.fault = Some((node, message));
                return;
            }
        }
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

    fn run(&self, draft: &Draft, program: &Program, op: &Op) -> Result<(), String> {
        match op {
            Op::Kernel(kernel) => self.kernel(draft, program, kernel),
            Op::Memcpy { from, to } => self.copy(*from, *to),
            Op::Memset { to, value, .. } => self.set(*to, value),
            Op::Join => Ok(()),
        }
    }

    fn kernel(&self, draft: &Draft, program: &Program, kernel: &KernelOp) -> Result<(), String> {
        let function = &program.functions[kernel.function as usize];
        let arguments = program.arguments(kernel);
        let mut buffers = Vec::with_capacity(arguments.len());
        let mut words = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let (word, buffer) = match argument {
                Argument::Value(_) => ([0; 8], None),
                Argument::Buffer {
                    resource,
                    mode,
                    start,
                    bytes,
                } => {
                    let resource = *resource as usize;
                    let buffer = Buffer {
                        name: &draft.resources[resource].name,
                        address: self.device(resource)?.address() + *start as u64,
                        len: *bytes,
                        access: match mode {
                            Mode::Read => Access::Read,
                            Mode::Write | Mode::ReadWrite => Access::ReadWrite,
                        },
                    };
                    (buffer.address.to_le_bytes(), Some(buffer))
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
            options: &self.options,
        };
        self.modules[function.module]
            .launch(function.facts.entry, &launch)
            .map_err(|fault| fault.to_string())
    }

    fn copy(&self, from: Part, to: Part) -> Result<(), String> {
        let (source, target) = (
            &self.storage[from.resource as usize],
            &self.storage[to.resource as usize],
        );
        let done = match (source, target) {
            (Storage::Device(DeviceMemory::Emulator(source)), Storage::Device(DeviceMemory::Emulator(target))) => {
                target.copy_from(to.start, source, from.start, to.bytes)
            }
            (Storage::Host(source), Storage::Device(DeviceMemory::Emulator(target))) => {
                // SAFETY: `launch` borrows the graph exclusively, so nobody holds a reference into its host memory.
                let bytes = unsafe { host_bytes(source, from) };
                target.write(to.start, bytes)
            }
            (Storage::Device(DeviceMemory::Emulator(source)), Storage::Host(target)) => {
                // SAFETY: as above; and only this copy uses the target now.
                let bytes = unsafe { host_bytes_mut(target, to) };
                source.read(from.start, bytes)
            }
            (Storage::Host(source), Storage::Host(target)) => {
                // SAFETY: as above.
                let source = unsafe { host_bytes(source, from) };
                // SAFETY: as above. The plan refuses copies of memory onto itself, so this does not overlap the source.
                let target = unsafe { host_bytes_mut(target, to) };
                target.copy_from_slice(source);
                Ok(())
            }
            _ => return Err("a copy of memory that is not the emulator's".to_owned()),
        };
        done.map_err(|error| error.to_string())
    }

    fn set(&self, to: Part, value: &Value) -> Result<(), String> {
        let pattern = value.bytes();
        let Some(count) = to.bytes.checked_div(pattern.len()) else {
            return Ok(());
        };
        let target = self.device(to.resource as usize)?;
        target.fill(to.start, pattern, count).map_err(|error| error.to_string())
    }

    fn device(&self, resource: usize) -> Result<&Allocation, String> {
        match &self.storage[resource] {
            Storage::Device(DeviceMemory::Emulator(allocation)) => Ok(allocation),
            _ => Err("the memory is not the emulator's".to_owned()),
        }
    }
}

/// A part of host memory, to read.
///
/// # Safety
///
/// The part lies in the memory, and nothing writes it while the slice lives.
unsafe fn host_bytes(memory: &HostMemory, part: Part) -> &[u8] {
    debug_assert!(part.start + part.bytes <= memory.bytes());
    // SAFETY: the part lies in the memory, by the caller's promise.
    let start = unsafe { memory.pointer().add(part.start) };
    // SAFETY: all bytes are initialised since allocation and nobody writes them, by the caller's promise.
    unsafe { std::slice::from_raw_parts(start.as_ptr(), part.bytes) }
}

/// A part of host memory, to write.
///
/// # Safety
///
/// The part lies in the memory, and nothing else uses it while the slice lives.
#[expect(
    clippy::mut_from_ref,
    reason = "`HostMemory` is a pointer; the caller promises that the slice is alone"
)]
unsafe fn host_bytes_mut(memory: &HostMemory, part: Part) -> &mut [u8] {
    debug_assert!(part.start + part.bytes <= memory.bytes());
    // SAFETY: the part lies in the memory, by the caller's promise.
    let start = unsafe { memory.pointer().add(part.start) };
    // SAFETY: all bytes are initialised since allocation and nobody else uses them, by the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), part.bytes) }
}

/// Loads the modules and finds every kernel in its own.
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
        if modules[function.module].kernel(function.facts.entry).is_none() {
            return Err(Error::Kernel {
                site: Site::graph(&draft.name),
                kernel: function.facts.name,
                message: format!("is not in `{}`", function.facts.ptx.path),
            });
        }
    }
    Ok(modules)
}
