//! The CPU emulator: a launch runs all nodes, in an order that the graph allows.

mod rank_bytes;
mod run;
mod touch;
mod copy;
mod sequence;
mod slow;
mod texels;
mod thread_launch;

use crate::backend::emulator::run::{Failure, Run};
use crate::backend::emulator::sequence::Sequence;
use crate::backend::emulator::thread_launch::ThreadLaunch;
use crate::backend::finite::Finite;
use crate::backend::host_calls::HostCalls;
use crate::backend::launch_end::LaunchEnd;
use crate::devices::options::EmulatorOptions;
use crate::devices::{Backend, Emulated};
use crate::error::{At, Error, Result, Site};
use crate::in_flight::uses::Patience;
use crate::kernel::source::ModuleCode;
use crate::ownership::blueprint::Blueprint;
use crate::ownership::device_memory::KernelMemory;
use crate::ownership::shared_resources::SharedResources;
use crate::ownership::storage::{Storage, allocate};
use crate::program::communicator::seat::{Seats, Turn};
use crate::program::recorder::Recorder;
use crate::program::{KernelOp, Program, Work};
use graph_emulator::{Allocation, MAX_TOGETHER, Memory, Module, Printer};
use graph_plan::Draft;
use std::collections::HashSet;
use std::ptr;
use std::sync::Arc;
use std::time::Instant;
use tracing::{debug, trace};

/// A graph made for the emulator.
pub(crate) struct EmulatorExecutable {
    runner: Runner,
    /// The last launch. As with CUDA, waiting reports its fault.
    last: Option<Arc<ThreadLaunch>>,
}

/// All that a launch needs besides the program. A launch on a thread of its own has a clone, which keeps the memory.
#[derive(Clone)]
struct Runner {
    device: Emulated,
    storage: Vec<Storage>,
    /// The alignment of each resource in bytes.
    alignments: Arc<[usize]>,
    /// The program's modules, loaded for this graph alone, so that it has variables of its own.
    modules: Arc<Vec<Module>>,
    sequence: Arc<Sequence>,
    options: EmulatorOptions,
    printer: Option<Printer>,
    calls: HostCalls,
    seats: Arc<Seats>,
    /// The search for values that are not finite, if it was asked for.
    finite: Option<Arc<Finite>>,
}

impl EmulatorExecutable {
    pub(crate) fn build(device: &Emulated, blueprint: &Blueprint<'_>) -> Result<Self> {
        let modules = load(device, blueprint)?;
        let ops = blueprint.program.ops.iter().enumerate();
        let mut kernels = ops.filter_map(|(node, op)| Some((node, op.kernel()?)));
        kernels.try_for_each(|(node, kernel)| check_launch(blueprint.draft, blueprint.program, node, kernel))?;
        let options = device.options;
        let mut storage = allocate(&Backend::Emulator(device.clone()), blueprint)?;
        put_variables(&device.memory, blueprint, &modules, &mut storage)?;
        forget(blueprint.draft, &options, &storage)?;
        let sequence = Sequence::new(blueprint, options.seed, options.check_unordered);
        let layouts = blueprint.layouts.iter();
        let runner = Runner {
            device: device.clone(),
            alignments: layouts.map(|layout| layout.map_or(1, |layout| layout.align)).collect(),
            calls: HostCalls::new(blueprint, &storage),
            storage,
            modules: Arc::new(modules),
            sequence: Arc::new(sequence),
            options,
            printer: device.printer.clone(),
            seats: blueprint.seats.clone(),
            finite: blueprint
                .debug
                .filter(|options| options.check_finite)
                .map(|_| Arc::new(Finite::new(blueprint))),
        };
        Ok(Self { runner, last: None })
    }

    pub(crate) fn storage(&self) -> &[Storage] {
        &self.runner.storage
    }

    /// The host functions.
    pub(crate) fn calls(&self) -> &HostCalls {
        &self.runner.calls
    }

    /// Refuses a change that the emulator would refuse.
    pub(crate) fn check_change(&self, draft: &Draft, program: &Program, node: usize, work: &Work) -> Result<()> {
        let kernel = work.kernel();
        kernel.map_or(Ok(()), |kernel| check_launch(draft, program, node, kernel))
    }

    /// Waits for the launch before, and runs the graph. After a fault, the remaining nodes do not run, and waiting
    /// reports the fault.
    pub(crate) fn launch(&mut self, draft: &Draft, program: &Program) -> Result<()> {
        self.run(draft, program, None)
    }

    /// As [`EmulatorExecutable::launch`], and takes down the times of all nodes.
    pub(crate) fn profile(&mut self, draft: &Draft, program: &Program, recorder: &mut Recorder) -> Result<()> {
        if recorder.overhead().is_none() {
            recorder.set_overhead(clock_overhead());
        }
        self.run(draft, program, Some(recorder))
    }

    fn run(&mut self, draft: &Draft, program: &Program, recorder: Option<&mut Recorder>) -> Result<()> {
        let turn = self.runner.line_up();
        self.finish()?;
        let ran = self.runner.run(draft, program, turn, recorder);
        self.last = Some(ThreadLaunch::ended(ran));
        Ok(())
    }

    /// Waits for the launch before, and runs the graph on a thread of its own, which has claimed the memory in `shared`
    /// when this returns.
    pub(crate) fn launch_on_thread(
        &mut self,
        draft: &Draft,
        program: &Program,
        shared: &SharedResources,
    ) -> Result<LaunchEnd> {
        self.finish()?;
        let (runner, draft, program, shared) = (self.runner.clone(), draft.clone(), program.clone(), shared.clone());
        let patience = Patience::of_this_thread();
        let launch = ThreadLaunch::start(Site::graph(&draft.name), move |claimed| {
            let claims = shared.claim(&draft, patience);
            let turn = runner.line_up(); // before the caller goes on, and perhaps launches another graph
            claimed(claims.as_ref().map(|_| ()).map_err(Clone::clone));
            let claims = claims?;
            let _using = claims.begin(ptr::null_mut(), None).at(|| Site::graph(&draft.name))?;
            runner.run(&draft, &program, turn, None)
        })?;
        self.last = Some(launch.clone());
        Ok(LaunchEnd::of(launch, &self.runner.calls))
    }

    /// Waits until no launch is in flight.
    fn finish(&self) -> Result<()> {
        self.last.as_ref().map_or(Ok(()), |last| last.wait().map(drop))
    }

    /// Waits until no launch is in flight, and returns the fault of the last launch.
    pub(crate) fn wait(&self) -> Result<()> {
        self.last.as_ref().map_or(Ok(()), |last| last.wait()?)
    }

    /// Waits until no launch is in flight, and forgets the fault of the last launch.
    pub(crate) fn restart(&mut self) -> Result<()> {
        self.finish()?;
        self.last = None;
        Ok(())
    }

    /// Makes later launches run `node` with its memory where that is now. (They take all else from the program.)
    pub(crate) fn apply(&mut self, node: usize) {
        let Runner { calls, storage, .. } = &mut self.runner;
        calls.renew(node, storage);
        calls.forget_retired(); // a launch in flight has a clone
    }

    /// Replaces the memory of a resource. The caller must apply the nodes that use it again.
    pub(crate) fn rebind(&mut self, resource: usize, storage: Storage) {
        self.runner.storage[resource] = storage;
    }
}

impl Drop for EmulatorExecutable {
    /// Waits for the launch in flight, as on CUDA. A host function cannot: the launch keeps what it uses.
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

impl Runner {
    /// The place of a launch among the launches of all graphs that share communicators with this one, if it has any.
    fn line_up(&self) -> Option<Turn> {
        (!self.seats.is_empty()).then(|| self.seats.line_up())
    }

    /// Runs the graph when its turn has come.
    fn run(&self, draft: &Draft, program: &Program, turn: Option<Turn>, recorder: Option<&mut Recorder>) -> Result<()> {
        if let Some(turn) = &turn {
            turn.wait();
        }
        let _alarm = Alarm(&self.seats);
        if self.device.deadline.is_none() {
            slow::warn();
        }
        // `build` has done this once, so it does not fail.
        let _ = forget(draft, &self.options, &self.storage);
        trace!(target: "graph_runtime", graph = %draft.name, "launch on the CPU emulator");
        let ran = Run::new(self, draft, program, recorder).body(0);
        ran.map_err(|(node, failure)| {
            let node = &draft.nodes[node].name;
            let site = Site::graph(&draft.name).at_node(node);
            match failure {
                Failure::Own(message) => {
                    debug!(target: "graph_runtime", graph = %draft.name, %node, "{message}");
                    self.seats.fail(node, &message);
                    Error::Fault { site, message }
                }
                Failure::Peer(peer) => {
                    debug!(target: "graph_runtime", graph = %draft.name, %node, "{}", peer.message);
                    peer.at(site)
                }
            }
        })
    }

    /// A resource's device memory, and the offset at which the resource starts in it.
    fn device(&self, resource: usize) -> Result<(&Allocation, usize), String> {
        match self.storage[resource].device() {
            Some((KernelMemory::Emulator(allocation), start)) => Ok((allocation, start)),
            _ => Err("the memory is not the emulator's".to_owned()),
        }
    }
}

/// Tells the other ranks if a launch panics.
struct Alarm<'a>(&'a Seats);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail("", "the launch has panicked");
        }
    }
}

/// The nanoseconds between two readings of the clock, one after the other: the median of several.
fn clock_overhead() -> u64 {
    let mut times: [u64; 101] = std::array::from_fn(|_| Instant::now().elapsed().as_nanos() as u64);
    times.sort_unstable();
    times[times.len() / 2]
}

/// Refuses a cooperative launch that the emulator has no room for: all its blocks take turns.
fn check_launch(draft: &Draft, program: &Program, node: usize, kernel: &KernelOp) -> Result<()> {
    let blocks = kernel.config.blocks();
    if !kernel.is_cooperative() || blocks <= MAX_TOGETHER.into() {
        return Ok(());
    }
    Err(Error::Kernel {
        site: Site::graph(&draft.name).at_node(&draft.nodes[node].name),
        kernel: program.functions[kernel.function as usize].facts.name,
        message: format!(
            "is launched cooperatively in {blocks} blocks, but the emulator has room for {MAX_TOGETHER} at the same time"
        ),
    })
}

/// Puts the variables of modules that are memory of the graph into its storage, by addresses of their own.
fn put_variables(
    memory: &Memory,
    blueprint: &Blueprint<'_>,
    modules: &[Module],
    storage: &mut [Storage],
) -> Result<()> {
    for variable in blueprint.variables {
        let resource = variable.resource;
        let name = &blueprint.draft.resources[resource].name;
        let bytes = blueprint.layouts[resource].map_or(0, |layout| layout.bytes);
        let found = modules[variable.module].variable(&variable.symbol);
        let put = found
            .filter(|found| found.len() == bytes)
            .and_then(|found| memory.allocate_within(name, found, 0, bytes).ok())
            .ok_or_else(|| Error::OutOfBounds {
                site: Site::graph(&blueprint.draft.name).at_memory(name),
            })?;
        storage[resource] = Storage::Device(Arc::new(KernelMemory::Emulator(put.into())));
    }
    Ok(())
}

/// Marks scratch memory as not written, if reads of it are checked.
fn forget(draft: &Draft, options: &EmulatorOptions, storage: &[Storage]) -> Result<()> {
    if !options.check_uninitialized {
        return Ok(());
    }
    storage
        .iter()
        .zip(&draft.resources)
        .try_for_each(|(storage, resource)| match storage {
            Storage::Scratch(scratch) => scratch.forget(|| Site::graph(&draft.name).at_memory(&resource.name)),
            _ => Ok(()),
        })
}

/// The error of a node whose kernel is in a cubin.
#[cold]
fn of_cubin(blueprint: &Blueprint<'_>, module: usize, path: &str) -> Error {
    let Blueprint { draft, program, .. } = blueprint;
    let mut kernels = program.ops.iter().enumerate().filter_map(|(node, op)| {
        let function = &program.functions[op.kernel()?.function as usize];
        (function.module() == Some(module)).then_some((node, function.facts.name))
    });
    let site = Site::graph(&draft.name);
    let (site, kernel) = match kernels.next() {
        Some((node, kernel)) => (site.at_node(&draft.nodes[node].name), kernel),
        None => (site, ""),
    };
    Error::Kernel {
        site,
        kernel,
        message: format!(
            "is machine code, of `{path}`, and the CPU emulator runs PTX\nhelp: run this graph on a GPU, or take the kernel \
             from PTX: `device.module(Ptx::from_text(..)?)?`"
        ),
    }
}

/// Loads the kernels that the graph launches, in modules of its own, and checks that each module has its kernels.
fn load(device: &Emulated, blueprint: &Blueprint<'_>) -> Result<Vec<Module>> {
    let site = || Site::graph(&blueprint.draft.name);
    let functions = &blueprint.program.functions;
    let launched: HashSet<usize> = blueprint.program.launched().collect();
    let loaded = blueprint.program.modules.iter().enumerate().map(|(index, module)| {
        let ptx = match module {
            ModuleCode::Ptx(ptx) => ptx,
            ModuleCode::Cubin(cubin) => return Err(of_cubin(blueprint, index, cubin.path)),
        };
        trace!(target: "graph_runtime", graph = %blueprint.draft.name, path = ptx.path, "load on the CPU emulator");
        let of_module = functions.iter().filter(|function| function.module() == Some(index));
        let kernels: Vec<&str> = of_module.map(|function| function.facts.entry).collect();
        let loaded = device.parsed(ptx);
        let loaded = loaded.and_then(|parsed| Module::of(&device.memory, &parsed, Some(&kernels)));
        loaded.map_err(|error| Error::Module {
            site: site(),
            path: ptx.path,
            message: error.to_string(),
        })
    });
    let modules = loaded.collect::<Result<Vec<_>>>()?;
    for (_, function) in functions
        .iter()
        .enumerate()
        .filter(|(index, _)| launched.contains(index))
    {
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
            site: site(),
            kernel: function.facts.name,
            message,
        });
    }
    Ok(modules)
}
