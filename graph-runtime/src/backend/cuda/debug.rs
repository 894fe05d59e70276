//! Graphs that run node by node, with a wait after each: in debug mode, so that a fault names its node, and in a
//! profile, so that each node has a time.
//!
//! Each node becomes a CUDA graph of its own when it runs, by the calls that add it to a whole graph. It is made of the
//! program as it is then, so that updates, rebinding and `set_enabled` need nothing more. The host reads conditions
//! and repeats bodies.

mod steps;
mod in_place;
mod row;
mod errors;
mod wait;
mod read_only;

use super::add_nodes::Single;
use super::builtin::Builtin;
use super::{CudaExecutable, OWN, delay};
use crate::backend::cuda::debug::read_only::ReadOnly;
use crate::backend::cuda::debug::row::Stamps;
use crate::backend::finite::Finite;
use crate::devices::cuda::{Cuda, twice};
use crate::devices::options::DebugOptions;
use crate::devices::timer::Timer;
use crate::driver::{self, CUgraph, CUgraphExec, CUstream, CudaStream, GraphApi, RelaxedCapture};
use crate::error::{At, Error, Result, Site};
use crate::ownership::blueprint::Blueprint;
use crate::ownership::shared_resources::Claims;
use crate::ownership::storage::Storage;
use crate::program::capture::CaptureCall;
use crate::program::recorder::Recorder;
use crate::program::rows::Rows;
use crate::program::{External, Op, Program, Work};
use graph_plan::{Draft, Memory, Space};
use graph_ptx::GuardForm;
use std::collections::HashMap;
use std::sync::Arc;

/// A graph that runs node by node, and is never launched as a whole: [`Steps`].
pub(crate) struct DebugExecutable {
    /// Its `graph` and `exec` are null.
    parts: CudaExecutable,
    state: StepState,
    /// The error of the last launch.
    fault: Option<Error>,
    /// The device memory, with what it held before the last launch; empty if that is more than the options allow.
    copies: Vec<(usize, Vec<u8>)>,
}

/// The state of node-by-node runs of a graph.
struct StepState {
    options: DebugOptions,
    /// The nodes of each body, in an order that the graph allows.
    bodies: Vec<Vec<usize>>,
    /// The pieces of `raw` nodes, whose closures run once, when the graph is built.
    raw: HashMap<usize, Piece>,
    /// The search for values that are not finite, if it was asked for.
    finite: Option<Finite>,
    /// The search for writes to memory that nodes may only read, if it was asked for.
    read_only: Option<ReadOnly>,
    /// Whether no later launch can run, since the fault has ended all work in the context.
    over: bool,
}

/// Runs a graph node by node.
///
/// # Safety
///
/// The facts of [`CudaExecutable`] hold for `parts`. Its `graph` and `exec` are null in debug mode. In a profile they
/// are not, but only a captured graph's `exec` is launched, as its only node. Else pieces stand in their place:
///
/// 1. *A piece has one node*, or the nodes that the closure of one `raw` node has added, or those of a captured graph;
///    in a profile, several nodes of one body in a row or along their edges, with kernels between or beside them that
///    write to memory of the clock. It refers to the memory and the kernels of `parts`.
/// 2. *A launch waits for each of its pieces.* It is noted in `parts.in_flight` before the first. A piece is destroyed
///    after the wait for it, or never, if that failed; so it never outlives `parts`, nor the memory of the clock. The
///    pieces of a profile are kept for its later launches, in its clock, and nothing changes `parts` in between.
/// 3. *Nothing else runs in between*: a launch has `parts` exclusively, and holds its claims until it returns. It
///    begins when no earlier launch is in flight.
struct Steps<'a> {
    parts: &'a mut CudaExecutable,
    state: &'a mut StepState,
}

/// A graph of one node, or a captured graph, instantiated.
struct Piece {
    api: GraphApi,
    /// Null if it is the captured graph, which `parts` keeps.
    graph: CUgraph,
    exec: CUgraphExec,
}

// SAFETY: fact 9 of `CudaExecutable`: driver handles are not bound to threads.
unsafe impl Send for Piece {}
// SAFETY: as above; pieces are launched by whoever has the `DebugExecutable` exclusively (fact 3), and destroyed when
// dropped.
unsafe impl Sync for Piece {}

/// One launch.
struct Run<'a> {
    draft: &'a Draft,
    program: &'a Program,
    /// The nodes around the current one, from the outermost.
    around: Vec<Around>,
    /// The iterations of all `while` nodes so far.
    iterations: u64,
    /// Whether the current node is of a pass of its `while` after the first one of an iteration of the node.
    repeats: bool,
    /// If the times of nodes are measured: who takes them down, and the clock.
    measured: Option<(&'a mut Recorder, &'a mut Clock)>,
}

/// The clock of a profile, for all its launches. A profile has the graph exclusively, and drops its clock before it
/// returns (fact 2 of [`Steps`]).
pub(crate) struct ProfileClock(Clock);

enum Clock {
    /// Events around each node.
    Events(Timer),
    /// Kernels between nodes.
    Stamps(Stamps),
}

/// A node around the one that runs, and the number of its current iteration, from 1, if it is a `while`.
struct Around {
    node: usize,
    iteration: Option<u64>,
}

impl Steps<'_> {
    /// Runs the graph on its own stream, after all work of a user's stream, if one is given. The context is current.
    /// Before the first node, the memory in `copies` is copied there.
    fn run<'a>(
        &mut self,
        draft: &'a Draft,
        program: &'a Program,
        user: Option<CUstream>,
        copies: Option<&mut Vec<(usize, Vec<u8>)>>,
        measured: Option<(&'a mut Recorder, &'a mut Clock)>,
    ) -> Result<()> {
        let mut run = Run {
            draft,
            program,
            around: Vec::new(),
            iterations: 0,
            repeats: false,
            measured,
        };
        let _relaxed = RelaxedCapture::enter();
        let earlier = |error| {
            errors::fault(
                Site::graph(&draft.name),
                format!("work that was queued before this launch failed: {error}"),
            )
        };
        // Otherwise the first node would be blamed.
        let before = self.drain().and_then(|()| match user {
            // SAFETY: the stream lives, by the callers.
            Some(user) => unsafe { driver::stream::synchronize(user) },
            None => Ok(()),
        });
        before.map_err(earlier)?;
        if let Some(copies) = copies {
            copies.retain_mut(|(resource, copy)| self.read(*resource, copy));
        }
        driver::driver_log::take(); // lines about other work
        let has_bodies = program.ops.iter().any(|op| matches!(op, Op::Structure(_)));
        match &run.measured {
            Some((recorder, Clock::Stamps(_))) if recorder.is_in_place() && !has_bodies && !program.ops.is_empty() => {
                self.in_place(&mut run)
            }
            _ => self.body(0, &mut run),
        }
    }

    /// Runs the graph on its own stream, after launches of other graphs that conflict with `claims`, and takes down the
    /// times of its nodes: in rows, if these are given, else with events around each.
    fn measure(
        &mut self,
        draft: &Draft,
        program: &Program,
        rows: Option<&Arc<Rows>>,
        claims: &Claims<'_>,
        (recorder, clock): (&mut Recorder, &mut Option<ProfileClock>),
    ) -> Result<()> {
        let _relaxed = RelaxedCapture::enter();
        let graph = || Site::graph(&draft.name);
        self.parts.cuda.bind().at(graph)?;
        let kernels = &mut self.parts.kernels;
        kernels.load_builtin(draft, Builtin::Delay, GuardForm::default())?;
        let has_waiting = self.parts.adder.forms.has_waiting();
        if has_waiting {
            kernels.load_builtin(draft, Builtin::Stamp, delay::WAITING_STAMP)?;
        }
        self.parts.in_flight.set(self.parts.in_flight.get() | OWN);
        let ProfileClock(clock) = match clock {
            Some(clock) => clock,
            None => clock.insert(ProfileClock(match rows {
                Some(rows) => Clock::Stamps(Stamps::new(&self.parts.cuda, rows).at(graph)?),
                None => Clock::Events(Timer::new(&self.parts.cuda).at(graph)?),
            })),
        };
        if recorder.overhead().is_none() {
            match clock {
                Clock::Events(timer) => recorder.set_overhead(self.overhead(timer).at(graph)?),
                Clock::Stamps(stamps) => {
                    let overhead = self.stamp_overhead(stamps, false).at(graph)?;
                    recorder.set_overhead(overhead);
                    recorder.set_step(overhead); // such a kernel does next to nothing
                    if has_waiting {
                        recorder.set_joined_overhead(self.stamp_overhead(stamps, true).at(graph)?);
                    }
                }
            }
        }
        let measured = Some((recorder, clock));
        if claims.is_empty() {
            return self.run(draft, program, None, None, measured);
        }
        let (_, _using) = self.parts.await_others(draft, claims, None)?;
        self.parts.note_launch();
        self.run(draft, program, None, None, measured)?;
        // SAFETY: fact 1 of `CudaExecutable`; the context is current.
        unsafe { self.parts.record_launch(self.parts.stream) }.at(graph)
    }
}

impl CudaExecutable {
    /// Runs the graph node by node, and takes down the times of its nodes. No launch is in flight.
    pub(crate) fn profile(
        &mut self,
        draft: &Draft,
        program: &Program,
        rows: &Arc<Rows>,
        claims: &Claims<'_>,
        measured: (&mut Recorder, &mut Option<ProfileClock>),
    ) -> Result<()> {
        let mut others = program.others();
        let raw = others.find(|(_, op)| matches!(op, Op::External(External::Raw(_))));
        let site = || Site::graph(&draft.name);
        if let Some((node, _)) = raw {
            return Err(Error::Unsupported {
                site: site().at_node(&draft.nodes[node].name),
                message: "a `raw` node cannot be launched alone, since its closure has run: to profile this graph, build it on a \
                          device `with_debug`",
            });
        }
        if self.changed && program.whole_capture().is_none() {
            return Err(Error::Unsupported {
                site: site(),
                message: "`Definition::change` may have given this graph nodes that a profile does not know",
            });
        }
        let mut state = StepState {
            options: DebugOptions {
                time_limit: None,
                iteration_limit: None,
                ..DebugOptions::default()
            },
            bodies: rows.bodies.clone(),
            raw: HashMap::new(),
            finite: None,
            read_only: None,
            over: false,
        };
        let mut steps = Steps {
            parts: self,
            state: &mut state,
        };
        // It may have nodes that no other graph can have, so it is launched as it is.
        let rows = program.whole_capture().is_none().then_some(rows);
        steps.measure(draft, program, rows, claims, measured)
    }
}

impl DebugExecutable {
    pub(crate) fn build(cuda: &Arc<Cuda>, blueprint: &Blueprint<'_>, options: DebugOptions) -> Result<Self> {
        let _relaxed = RelaxedCapture::enter();
        let bodies = 0..blueprint.order.bodies();
        let mut built = Self {
            parts: CudaExecutable::prepared(cuda, blueprint)?,
            state: StepState {
                options,
                bodies: bodies.map(|body| blueprint.order.sequence(body).collect()).collect(),
                raw: HashMap::new(),
                finite: options.check_finite.then(|| Finite::new(blueprint)),
                read_only: options.check_writes.then(|| ReadOnly::new(blueprint)),
                over: false,
            },
            fault: None,
            copies: Vec::new(),
        };
        built.copies = built.room_for_copies(blueprint);
        let Blueprint { draft, program, .. } = blueprint;
        for (node, op) in program.others() {
            if let Op::External(raw @ External::Raw(_)) = op {
                let piece = built.steps().piece(draft, program, node, Single::External(raw))?;
                built.state.raw.insert(node, piece);
            }
        }
        // SAFETY: the library is loaded, since there is a context.
        unsafe { driver::driver_log::start() };
        Ok(built)
    }

    fn steps(&mut self) -> Steps<'_> {
        Steps {
            parts: &mut self.parts,
            state: &mut self.state,
        }
    }

    /// Room for all device memory whose contents a launch may need, or none if that is too much.
    fn room_for_copies(&self, blueprint: &Blueprint<'_>) -> Vec<(usize, Vec<u8>)> {
        let resources = blueprint.draft.resources.iter().zip(blueprint.layouts).enumerate();
        let copied = resources.filter_map(|(index, (resource, layout))| {
            let is_copied = resource.memory.space() == Space::Device
                && !matches!(resource.memory, Memory::Scratch | Memory::Mapped)
                && self.parts.storage[index].device().is_some();
            Some((index, layout.filter(|_| is_copied)?.bytes))
        });
        let copied: Vec<(usize, usize)> = copied.collect();
        let all = copied
            .iter()
            .fold(0_usize, |all, (_, bytes)| all.saturating_add(*bytes));
        if all > self.state.options.copy_limit {
            return Vec::new();
        }
        copied
            .into_iter()
            .map(|(index, bytes)| (index, vec![0; bytes]))
            .collect()
    }

    /// The contents of device memory before the last launch, by resource.
    pub(crate) fn copies(&self) -> &[(usize, Vec<u8>)] {
        &self.copies
    }

    pub(crate) fn options(&self) -> DebugOptions {
        self.state.options
    }

    /// The memory, the kernels and the host functions of the graph.
    pub(crate) fn parts(&self) -> &CudaExecutable {
        &self.parts
    }

    /// Runs the graph on its own stream.
    pub(crate) fn launch(&mut self, draft: &Draft, program: &Program) -> Result<()> {
        self.refuse_if_over()?;
        self.parts.cuda.bind().at(|| Site::graph(&draft.name))?;
        self.parts.in_flight.set(self.parts.in_flight.get() | OWN);
        self.run(draft, program, None)
    }

    /// Runs the graph after all work of a user's stream.
    pub(crate) fn launch_on(&mut self, draft: &Draft, program: &Program, stream: &CudaStream) -> Result<()> {
        self.refuse_if_over()?;
        let user = self.parts.check_stream(draft, stream)?;
        self.run_recorded(draft, program, Some(user))
    }

    /// Runs the graph on a user's stream or on its own, after launches of other graphs that conflict with `claims`.
    pub(crate) fn launch_shared(
        &mut self,
        draft: &Draft,
        program: &Program,
        claims: &Claims<'_>,
        stream: Option<&CudaStream>,
    ) -> Result<()> {
        self.refuse_if_over()?;
        let (user, _using) = self.parts.await_others(draft, claims, stream)?;
        self.run_recorded(draft, program, stream.map(|_| user))
    }

    /// Runs the graph. It runs on its own stream, whatever stream the user has given: it waits for that stream before
    /// the first node, and for each node, so the order is the same; and a capture of the user's stream that another
    /// thread begins meanwhile takes no node. The context is current, and the user's stream lives.
    fn run_recorded(&mut self, draft: &Draft, program: &Program, user: Option<CUstream>) -> Result<()> {
        self.parts.note_launch();
        self.run(draft, program, user)?;
        // SAFETY: fact 1 of `CudaExecutable`; the context is current.
        unsafe { self.parts.record_launch(self.parts.stream) }.at(|| Site::graph(&draft.name))
    }

    /// Returns the fault that has ended all work, if there was one.
    fn refuse_if_over(&self) -> Result<()> {
        let fault = self.fault.as_ref().filter(|_| self.state.over);
        fault.map_or(Ok(()), |fault| Err(fault.clone()))
    }

    /// Runs the graph after all work of a user's stream, and remembers its error for whoever waits.
    fn run(&mut self, draft: &Draft, program: &Program, user: Option<CUstream>) -> Result<()> {
        let mut copies = std::mem::take(&mut self.copies);
        let ran = self.steps().run(draft, program, user, Some(&mut copies), None);
        self.copies = copies;
        self.fault = ran.as_ref().err().cloned();
        ran
    }

    /// Runs the graph, and takes down the times of its nodes: see [`CudaExecutable::profile`].
    pub(crate) fn profile(
        &mut self,
        draft: &Draft,
        program: &Program,
        claims: &Claims<'_>,
        measured: (&mut Recorder, &mut Option<ProfileClock>),
    ) -> Result<()> {
        self.refuse_if_over()?;
        let ran = self.steps().measure(draft, program, None, claims, measured);
        self.fault = ran.as_ref().err().cloned();
        ran
    }

    /// Waits until no launch is in flight, and returns the error of the last launch, if any.
    pub(crate) fn wait(&self, draft: &Draft) -> Result<()> {
        match &self.fault {
            Some(fault) => Err(fault.clone()),
            None => self.parts.wait().at(|| Site::graph(&draft.name)),
        }
    }

    /// Waits until no launch is in flight, and forgets the error of the last launch unless it has ended all work.
    pub(crate) fn restart(&mut self, draft: &Draft) -> Result<()> {
        self.refuse_if_over()?;
        self.fault = None;
        self.wait(draft)
    }

    /// Makes later launches run `node` as the program now says. They make it anew; only what a piece does not have is
    /// changed here.
    pub(crate) fn apply(&mut self, draft: &Draft, program: &Program, node: usize) -> Result<()> {
        let site = || Site::graph(&draft.name).at_node(&draft.nodes[node].name);
        match &program.ops[node] {
            Op::Work(Work::Kernel(kernel)) => {
                self.parts.cuda.bind().at(site)?;
                self.parts.permit(draft, program, node, kernel)
            }
            Op::External(External::Call(_)) => self.parts.renew_call(node).at(site),
            Op::External(External::Capture(call)) => self.record_again(draft, node, call),
            Op::Work(Work::Memcpy(_) | Work::Memset(_) | Work::Join) | Op::Structure(_) => Ok(()),
            Op::External(External::Record(_) | External::Wait(_) | External::Raw(_) | External::Collective(_)) => {
                Ok(())
            }
        }
    }

    /// Records the work of a captured graph again, with its memory where that is now.
    pub(crate) fn record_again(&mut self, draft: &Draft, node: usize, call: &CaptureCall) -> Result<()> {
        let _relaxed = RelaxedCapture::enter();
        self.parts.recapture(draft, node, call)?;
        let site = || Site::graph(&draft.name).at_node(&draft.nodes[node].name);
        self.parts.clear_retired(node).at(site)
    }

    /// Replaces the memory of a resource. The caller must apply the nodes that use it again.
    pub(crate) fn rebind(&mut self, resource: usize, storage: Storage) {
        self.parts.rebind(resource, storage);
    }
}

impl Drop for DebugExecutable {
    fn drop(&mut self) {
        let _relaxed = RelaxedCapture::enter();
        let idle = twice(|| self.parts.wait()).and_then(|()| self.parts.cuda.bind_to_free());
        if idle.is_err() {
            // They may still run, or the context is beyond use (fact 2).
            self.state.raw.drain().for_each(|(_, piece)| std::mem::forget(piece));
        }
        self.state.raw.clear();
    }
}
