//! A graph on either kind of device.

use crate::backend::cuda::{CudaExecutable, DebugExecutable, ProfileClock, ToolIds, launch_error};
#[cfg(feature = "emulator")]
use crate::backend::emulator::EmulatorExecutable;
use crate::backend::host_calls::HostCalls;
use crate::backend::launch_end::LaunchEnd;
#[cfg(not(feature = "emulator"))]
use crate::backend::no_emulator::EmulatorExecutable;
use crate::backend::watched_launch::WatchedLaunch;
use crate::devices::Backend;
use crate::devices::bodies::BodyForm;
use crate::devices::launch_event::LaunchEvent;
use crate::devices::options::{DebugOptions, InstantiateOptions};
use crate::devices::uploads::UploadForm;
use crate::driver::nvtx::{self, Range};
use crate::driver::{CUgraph, CUgraphExec, CUstream, CudaStream};
use crate::error::{At, CudaError, Error, Result, Site};
use crate::ownership::block::SharedMemory;
use crate::ownership::blueprint::Blueprint;
use crate::ownership::shared_resources::{Claims, SharedResources};
use crate::ownership::storage::Storage;
use crate::program::recorder::Recorder;
use crate::program::rows::Rows;
use crate::program::{ChangedValue, External, MemcpyOp, Op, Program, Structure, Work};
use graph_plan::{Draft, Memory};
use std::ffi::CStr;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use crate::backend::cuda::CAPTURED;
pub use crate::backend::cuda::Updated;

/// A range for tools, about a graph.
#[inline]
fn range(verb: &str, draft: &Draft) -> Range {
    nvtx::range(|| format!("{verb} {}", draft.name))
}

/// A graph that can be launched, with the memory that it uses.
pub(crate) enum Executable {
    Cuda(Box<CudaExecutable>),
    /// On CUDA, in debug mode.
    Debug(Box<DebugExecutable>),
    Emulator(Box<EmulatorExecutable>),
}

impl Executable {
    /// Makes all that comes before [`Executable::instantiate`]: memory, kernels and nodes.
    pub(crate) fn prepare(backend: &Backend, blueprint: &Blueprint<'_>) -> Result<Self> {
        let _range = range("build", blueprint.draft);
        check(backend, blueprint)?;
        match (backend, blueprint.debug) {
            (Backend::Cuda(cuda), Some(options)) => Ok(Executable::Debug(Box::new(DebugExecutable::build(
                cuda, blueprint, options,
            )?))),
            (Backend::Cuda(cuda), None) => Ok(Executable::Cuda(Box::new(CudaExecutable::with_nodes(cuda, blueprint)?))),
            (Backend::Emulator(device), _) => Ok(Executable::Emulator(Box::new(EmulatorExecutable::build(
                device, blueprint,
            )?))),
        }
    }

    /// Notes that all ranks of the graph's communicators have built it.
    pub(crate) fn joined(&self, blueprint: &Blueprint<'_>) -> Result<()> {
        match self {
            Executable::Cuda(exec) => exec.joined(blueprint.draft, blueprint.seats),
            Executable::Debug(exec) => exec.parts().joined(blueprint.draft, blueprint.seats),
            Executable::Emulator(_) => Ok(()),
        }
    }

    /// Makes what was prepared ready to launch.
    pub(crate) fn instantiate(&mut self, blueprint: &Blueprint<'_>, options: InstantiateOptions) -> Result<()> {
        let _range = range("instantiate", blueprint.draft);
        self.cuda_mut()
            .map_or(Ok(()), |exec| exec.instantiate(blueprint, options))
    }

    /// Refuses options that contradict each other, or that the graph or the device does not allow.
    pub(crate) fn check_options(
        backend: &Backend,
        blueprint: &Blueprint<'_>,
        options: InstantiateOptions,
    ) -> Result<()> {
        if !options.device_launch {
            return Ok(());
        }
        let mut site = Site::graph(&blueprint.draft.name);
        let message = match (backend, blueprint.debug) {
            _ if options.auto_free_on_launch => {
                "`device_launch` and `auto_free_on_launch` exclude each other: kernels launch no graph that frees memory"
            }
            (Backend::Cuda(_), Some(_)) => "in debug mode there is no executable graph that a kernel could launch",
            (Backend::Emulator(_), _) => "on the CPU emulator no kernel can launch a graph",
            (Backend::Cuda(_), None) => {
                let mut ops = blueprint.program.ops.iter();
                let Some(node) = ops.position(|op| !may_be_launched_by_kernels(blueprint.draft, op)) else {
                    return Ok(());
                };
                site = site.at_node(&blueprint.draft.nodes[node].name);
                "a graph that kernels may launch has kernels, copies, memsets and child graphs only, and no copies of arrays \
                 (CUDA's rules)"
            }
        };
        Err(Error::Unsupported { site, message })
    }

    /// Makes this executable, which is only prepared, with what `old` has: see [`CudaExecutable::update_from`].
    pub(crate) fn update_from(
        &mut self,
        blueprint: &Blueprint<'_>,
        old: &mut Self,
        (draft, program): (&Draft, &Program),
        like: bool,
    ) -> Result<Updated> {
        match (self, old) {
            (Executable::Cuda(new), Executable::Cuda(old)) => new.update_from(blueprint, old, (draft, program), like),
            (new, old) => {
                old.wait(draft).or_else(|error| match old {
                    Executable::Cuda(_) => Err(error),
                    // These have run, and nothing can be in flight.
                    Executable::Debug(_) | Executable::Emulator(_) => Ok(()),
                })?;
                new.instantiate(blueprint, InstantiateOptions::default())?;
                Ok(match new {
                    Executable::Cuda(_) => Updated::Instantiated,
                    Executable::Debug(_) | Executable::Emulator(_) => Updated::InPlace,
                })
            }
        }
    }

    /// Makes the graph launchable again after a failed [`Executable::update_from`] by another one.
    pub(crate) fn restore(&mut self, draft: &Draft, program: &Program) -> Result<()> {
        self.cuda_mut().map_or(Ok(()), |exec| exec.restore(draft, program))
    }

    /// Uploads the executable graph, if there is one.
    pub(crate) fn upload(&mut self, draft: &Draft) -> Result<()> {
        self.cuda_mut().map_or(Ok(()), |exec| exec.upload(draft))
    }

    /// Writes CUDA's graph as a DOT file. Returns false where there is none.
    pub(crate) fn print(&self, site: &Site, path: &CStr) -> Result<bool> {
        let printed = self.cuda().map(|exec| exec.print(path).at(|| site.clone()));
        printed.map_or(Ok(false), |printed| printed.map(|()| true))
    }

    /// The nodes of CUDA's graph that stand for nodes of the program, as addresses.
    pub(crate) fn handles(&self) -> Vec<(usize, u64)> {
        let handles = self.cuda().map(CudaExecutable::handles).unwrap_or_default();
        let handles = handles.into_iter();
        handles
            .map(|(node, handle)| (node, handle.expose_provenance() as u64))
            .collect()
    }

    /// The ids by which tools know the nodes: see [`CudaExecutable::tool_ids`].
    pub(crate) fn tool_ids(&self, site: &Site) -> Result<Vec<ToolIds>> {
        let message = match self.cuda() {
            None => "on the CPU emulator and in debug mode no tool sees a CUDA graph",
            Some(exec) => match exec.tool_ids().at(|| site.clone())? {
                Some(ids) => return Ok(ids),
                None => "the ids that tools have for nodes need an NVIDIA driver of CUDA 13.1 or later",
            },
        };
        let site = site.clone();
        Err(Error::Unsupported { site, message })
    }

    /// Waits until no launch is in flight, and forgets the errors of launches that did not end the context.
    pub(crate) fn restart(&mut self, draft: &Draft) -> Result<()> {
        match self {
            Executable::Cuda(exec) => exec.wait().map_err(|error| launch_error(draft, error))?,
            Executable::Debug(exec) => exec.restart(draft)?,
            Executable::Emulator(exec) => exec.restart()?,
        }
        let _ = self.calls().panic().take();
        Ok(())
    }

    /// Starts the graph on its own stream.
    #[inline]
    pub(crate) fn launch(&mut self, draft: &Draft, program: &Program) -> Result<()> {
        let _range = range("launch", draft);
        match self {
            Executable::Cuda(exec) => exec.launch().map_err(|error| launch_error(draft, error)),
            Executable::Debug(exec) => exec.launch(draft, program),
            Executable::Emulator(exec) => exec.launch(draft, program),
        }
    }

    /// Runs the graph node by node, in the order of `rows`, and takes down the times of its nodes. No launch is in
    /// flight. The clock is that of all launches of a profile, and the first one makes it, except on the emulator.
    /// There, faults are reported to whoever waits.
    pub(crate) fn profile(
        &mut self,
        draft: &Draft,
        program: &Program,
        rows: &Arc<Rows>,
        claims: &Claims<'_>,
        measured: (&mut Recorder, &mut Option<ProfileClock>),
    ) -> Result<()> {
        let _range = range("profile", draft);
        match self {
            Executable::Cuda(exec) => {
                exec.check_communicators(draft, true)?;
                let profiled = exec.profile(draft, program, rows, claims, measured);
                profiled.inspect_err(|error| exec.end_nccl(draft, error))
            }
            Executable::Debug(exec) => {
                exec.parts().check_communicators(draft, true)?;
                let profiled = exec.profile(draft, program, claims, measured);
                profiled.inspect_err(|error| exec.parts().end_nccl(draft, error))
            }
            Executable::Emulator(exec) => {
                let _using = claims.begin(ptr::null_mut(), None).at(|| Site::graph(&draft.name))?;
                exec.profile(draft, program, measured.0)
            }
        }
    }

    /// Starts the graph on a thread of its own, if launches do not return before they have ended otherwise: on the
    /// emulator. It claims the memory in `shared` before this returns.
    pub(crate) fn launch_on_thread(
        &mut self,
        draft: &Draft,
        program: &Program,
        shared: &SharedResources,
    ) -> Option<Result<LaunchEnd>> {
        let _range = range("launch", draft);
        match self {
            Executable::Emulator(exec) => Some(exec.launch_on_thread(draft, program, shared)),
            Executable::Cuda(_) | Executable::Debug(_) => None,
        }
    }

    /// Starts the graph on a user's stream.
    pub(crate) fn launch_on(&mut self, draft: &Draft, program: &Program, stream: &CudaStream) -> Result<()> {
        let _range = range("launch", draft);
        match self {
            Executable::Cuda(exec) => exec.launch_on(draft, stream),
            Executable::Debug(exec) => exec.launch_on(draft, program, stream),
            Executable::Emulator(_) => Err(Error::Unsupported {
                site: Site::graph(&draft.name),
                message: "the CPU emulator has no streams",
            }),
        }
    }

    /// Whether a launch is in a graph that another thread has captured. Then this graph must not be used any more.
    pub(crate) fn is_captured(&self) -> bool {
        self.cuda().is_some_and(CudaExecutable::is_captured) // else nothing runs on a user's stream
    }

    /// Starts the graph on a user's stream or on its own, after conflicting uses of the memory in `claims`.
    pub(crate) fn launch_shared(
        &mut self,
        draft: &Draft,
        program: &Program,
        claims: &Claims<'_>,
        stream: Option<&CudaStream>,
    ) -> Result<()> {
        let _range = range("launch", draft);
        match self {
            Executable::Cuda(exec) => {
                exec.check_communicators(draft, false)?;
                let launched = exec.launch_shared(draft, claims, stream);
                launched.inspect_err(|error| exec.end_nccl(draft, error))
            }
            Executable::Debug(exec) => {
                exec.parts().check_communicators(draft, false)?;
                let launched = exec.launch_shared(draft, program, claims, stream);
                launched.inspect_err(|error| exec.parts().end_nccl(draft, error))?;
                exec.parts().check_ranks()
            }
            Executable::Emulator(exec) => {
                let _using = claims.begin(ptr::null_mut(), None).at(|| Site::graph(&draft.name))?;
                exec.launch(draft, program)
            }
        }
    }

    /// The driver's handles; `None` on the emulator and in debug mode, where no one graph has all nodes.
    pub(crate) fn raw(&self) -> Option<(CUgraph, CUgraphExec, CUstream)> {
        self.cuda().map(CudaExecutable::raw)
    }

    /// Waits until no launch is in flight, and returns the error of the launches, if any.
    pub(crate) fn wait(&self, draft: &Draft) -> Result<()> {
        self.wait_launches(draft)?;
        self.calls().panic().take()
    }

    /// As [`Executable::wait`], but panics of host functions are left to be reported.
    fn wait_launches(&self, draft: &Draft) -> Result<()> {
        let _range = range("wait for", draft);
        match self {
            Executable::Cuda(exec) => {
                let waited = exec.wait().map_err(|error| exec.fail_ranks(draft, error));
                waited.map_err(|error| launch_error(draft, error))?;
                exec.check_ranks()
            }
            Executable::Debug(exec) => {
                exec.wait(draft)?;
                exec.parts().check_ranks()
            }
            Executable::Emulator(exec) => exec.wait(),
        }
    }

    /// The host functions.
    fn calls(&self) -> &HostCalls {
        match self {
            Executable::Cuda(exec) => exec.calls(),
            Executable::Debug(exec) => exec.parts().calls(),
            Executable::Emulator(exec) => exec.calls(),
        }
    }

    /// The graph outside of debug mode on CUDA.
    fn cuda(&self) -> Option<&CudaExecutable> {
        match self {
            Executable::Cuda(exec) => Some(exec),
            Executable::Debug(_) | Executable::Emulator(_) => None,
        }
    }

    fn cuda_mut(&mut self) -> Option<&mut CudaExecutable> {
        match self {
            Executable::Cuda(exec) => Some(exec),
            Executable::Debug(_) | Executable::Emulator(_) => None,
        }
    }

    /// An event for the end of the next launch; `None` if launches end before they return.
    pub(crate) fn end_event(&self) -> Result<Option<LaunchEvent>, CudaError> {
        self.cuda().map(CudaExecutable::end_event).transpose()
    }

    /// The end of the launch that was just made on a user's stream or on the graph's own, with the event from
    /// [`Executable::end_event`] and the limit of [`Device::with_max_spin`](crate::Device::with_max_spin).
    pub(crate) fn end(
        &self,
        draft: &Draft,
        event: Option<LaunchEvent>,
        stream: Option<&CudaStream>,
        max_spin: Duration,
    ) -> Result<LaunchEnd> {
        let (Executable::Cuda(exec), Some(event)) = (self, event) else {
            return Ok(LaunchEnd::known(self.wait_launches(draft), self.calls()));
        };
        exec.record_end(&event, stream)
            .map_err(|error| launch_error(draft, error))?;
        let launch = WatchedLaunch::new(event, max_spin, Site::graph(&draft.name));
        let end = LaunchEnd::of(launch, exec.calls());
        Ok(end.with_ranks(exec.communicators()))
    }

    /// Whether the error is that of a kernel on the GPU of which CUDA does not know the line.
    pub(crate) fn lacks_line(&self, draft: &Draft, program: &Program, error: &Error) -> bool {
        match (self, error) {
            (Executable::Cuda(_), Error::Cuda { site, source }) => source.is_of_kernel() && site.node_name().is_none(),
            (Executable::Debug(_), Error::Fault { site, .. }) => {
                let mut nodes = draft.nodes.iter().zip(&program.ops);
                nodes.any(|(node, op)| site.node_name() == Some(&node.name) && op.kernel().is_some())
            }
            (Executable::Cuda(_) | Executable::Debug(_) | Executable::Emulator(_), _) => false,
        }
    }

    /// The options of debug mode.
    pub(crate) fn debug_options(&self) -> Option<DebugOptions> {
        match self {
            Executable::Debug(exec) => Some(exec.options()),
            Executable::Cuda(_) | Executable::Emulator(_) => None,
        }
    }

    /// The contents of device memory before the last launch, by resource, if it was copied to the host: in debug mode.
    pub(crate) fn copies(&self) -> &[(usize, Vec<u8>)] {
        match self {
            Executable::Debug(exec) => exec.copies(),
            Executable::Cuda(_) | Executable::Emulator(_) => &[],
        }
    }

    /// The memory of each resource.
    pub(crate) fn storage(&self) -> &[Storage] {
        match self {
            Executable::Cuda(exec) => exec.storage(),
            Executable::Debug(exec) => exec.parts().storage(),
            Executable::Emulator(exec) => exec.storage(),
        }
    }

    /// The bytes of device memory that the executable graph has besides the resources: workspaces of `capture` nodes,
    /// and memory for skipped memsets.
    pub(crate) fn workspaces(&self) -> usize {
        match self {
            Executable::Cuda(exec) => exec.workspaces(),
            Executable::Debug(exec) => exec.parts().workspaces(),
            Executable::Emulator(_) => 0,
        }
    }

    /// The forms of the bodies of conditionals: none where the host chooses which bodies run.
    pub(crate) fn body_forms(&self) -> &[BodyForm] {
        self.cuda().map_or(&[], CudaExecutable::body_forms)
    }

    /// The forms of copies from the host.
    pub(crate) fn upload_forms(&self) -> &[UploadForm] {
        self.cuda().map_or(&[], CudaExecutable::upload_forms)
    }

    /// Refuses a change that [`Executable::apply`] would refuse.
    pub(crate) fn check_change(&self, draft: &Draft, program: &Program, node: usize, work: &Work) -> Result<(), Error> {
        match self {
            Executable::Cuda(exec) => exec.check_change(draft, program, node, work),
            Executable::Debug(exec) => exec.parts().check_change(draft, program, node, work),
            Executable::Emulator(exec) => exec.check_change(draft, program, node, work),
        }
    }

    /// Makes later launches run all `nodes` as `program` now says, and with their memory where that is now.
    pub(crate) fn apply(&mut self, draft: &Draft, program: &Program, nodes: &[usize]) -> Result<()> {
        match self {
            Executable::Cuda(exec) => exec.apply(draft, program, nodes),
            Executable::Debug(exec) => nodes.iter().try_for_each(|&node| exec.apply(draft, program, node)),
            Executable::Emulator(exec) => {
                nodes.iter().for_each(|&node| exec.apply(node));
                Ok(())
            }
        }
    }

    /// Makes later launches run kernels with these values, which the program does not have yet. Returns false if
    /// [`Executable::apply`] must do it, with values that the program has.
    #[inline]
    pub(crate) fn apply_values(
        &mut self,
        draft: &Draft,
        program: &Program,
        values: &[ChangedValue],
    ) -> Result<bool, Box<Error>> {
        // The others look at the program's values when they run a node.
        self.cuda_mut()
            .map_or(Ok(true), |exec| exec.apply_values(draft, program, values))
    }

    /// Replaces the memory of a resource. The caller must apply the nodes that use it again.
    pub(crate) fn rebind(&mut self, resource: usize, memory: SharedMemory) {
        let storage = Storage::Shared(memory);
        match self {
            Executable::Cuda(exec) => exec.rebind(resource, storage),
            Executable::Debug(exec) => exec.rebind(resource, storage),
            Executable::Emulator(exec) => exec.rebind(resource, storage),
        }
    }

    /// Records the work of a captured graph again, for later launches. After an error, this must succeed before the
    /// next launch.
    pub(crate) fn record_again(&mut self, draft: &Draft, program: &Program) -> Result<()> {
        match (self, program.whole_capture()) {
            (_, Some(call)) if !call.is_repeatable() => Err(Error::Unsupported {
                site: Site::graph(&draft.name),
                message: "work that was recorded on a stream of your own cannot be recorded again: there is no closure to run",
            }),
            (Executable::Cuda(exec), Some(call)) => exec.record_again(draft, program, 0, call),
            (Executable::Debug(exec), Some(call)) => exec.record_again(draft, 0, call),
            // The host function that stands for the work runs anew in each launch.
            (Executable::Emulator(_), Some(_)) => Ok(()),
            (_, None) => Err(Error::Unsupported {
                site: Site::graph(&draft.name),
                message: "only a captured graph is recorded again",
            }),
        }
    }

    /// Makes later launches run `node`, or skip it.
    pub(crate) fn set_enabled(&mut self, draft: &Draft, program: &Program, node: usize, enabled: bool) -> Result<()> {
        // The others look at `program.enabled` when they run a node.
        self.cuda_mut()
            .map_or(Ok(()), |exec| exec.set_enabled(draft, program, node, enabled))
    }
}

/// Whether a graph with such a node can be launched by a kernel. (The driver looks at captured and raw nodes itself.)
fn may_be_launched_by_kernels(draft: &Draft, op: &Op) -> bool {
    match op {
        Op::Work(Work::Memcpy(MemcpyOp { from, to })) => [from, to]
            .iter()
            .all(|side| draft.resources[side.part().resource as usize].memory != Memory::Array),
        Op::Work(Work::Kernel(_) | Work::Memset(_)) => true,
        Op::Work(Work::Join) => false,
        Op::Structure(Structure::Child(_)) => true,
        Op::Structure(Structure::Conditional(_)) => false,
        Op::External(External::Capture(_) | External::Raw(_)) => true,
        Op::External(External::Call(_) | External::Record(_) | External::Wait(_) | External::Collective(_)) => false,
    }
}

/// Refuses nodes that this kind of device does not support.
fn check(backend: &Backend, blueprint: &Blueprint<'_>) -> Result<()> {
    let draft = blueprint.draft;
    let refusal = |(node, op): (usize, &Op)| {
        let message = misfit(backend, op)?;
        let site = Site::graph(&draft.name).at_node(&draft.nodes[node].name);
        Some(Error::Unsupported { site, message })
    };
    let mut refusals = blueprint.program.others().filter_map(refusal);
    refusals.next().map_or(Ok(()), Err)
}

fn misfit(backend: &Backend, op: &Op) -> Option<&'static str> {
    let has_driver = matches!(backend, Backend::Cuda(_));
    match op.external()? {
        External::Record(event) | External::Wait(event) => event.misfit(backend.context()),
        External::Capture(capture) if !has_driver && capture.stand_in().is_none() => Some(
            "library calls are captured from a stream of a CUDA device, and the CPU emulator has none; a host function \
             can stand for them there: `else |..| ..`, or `capture_or_else`",
        ),
        External::Raw(_) if !has_driver => {
            Some("a `raw` node is made by calls of the CUDA driver, and needs a CUDA device")
        }
        External::Capture(_) | External::Raw(_) | External::Call(_) | External::Collective(_) => None,
    }
}
