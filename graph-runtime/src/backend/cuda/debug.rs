//! Debug mode: a graph that runs node by node, with a wait after each, so that a fault names its node.
//!
//! Each node becomes a CUDA graph of its own when it runs, by the calls that add it to a whole graph. It is made of the
//! program as it is then, so that updates, rebinding and `set_enabled` need nothing more. The host reads conditions
//! and repeats bodies.

mod errors;
mod wait;

use self::errors::Around;
use self::wait::wait;
use super::build::Single;
use super::failure::Failure;
use super::{CudaExecutable, OWN};
use crate::devices::cuda::{Cuda, twice};
use crate::devices::launch_event::LaunchEvent;
use crate::devices::options::DebugOptions;
use crate::driver::{self, CUgraph, CUgraphExec, CUstream, CudaStream, GraphApi, RelaxedCapture};
use crate::error::{At, CudaError, Error, Result, Site};
use crate::in_flight::uses::Claim;
use crate::ownership::blueprint::Blueprint;
use crate::ownership::storage::Storage;
use crate::program::capture::CaptureCall;
use crate::program::{Conditional, ConditionalKind, External, Op, Program, Structure, Work};
use graph_plan::Draft;
use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;

/// A graph that runs node by node.
///
/// # Safety
///
/// The facts of [`CudaExecutable`] hold for `parts`, whose `graph` and `exec` are null: nothing launches them. Pieces
/// stand in their place:
///
/// 1. *A piece has one node*, or the nodes that the closure of one `raw` node has added, or those of a captured graph.
///    It refers to the memory and the kernels of `parts`.
/// 2. *A launch waits for each of its pieces.* It is noted in `parts.in_flight` before the first. A piece is destroyed
///    after the wait for it, or never, if that failed; so it never outlives `parts`.
/// 3. *Nothing else runs in between*: a launch has `self` exclusively, and holds its claims until it returns.
pub(crate) struct DebugExecutable {
    parts: CudaExecutable,
    options: DebugOptions,
    /// The nodes of each body, in an order that the graph allows.
    bodies: Vec<Vec<usize>>,
    /// The pieces of `raw` nodes, whose closures run once, when the graph is built.
    raw: HashMap<usize, Piece>,
    /// The error of the last launch.
    fault: Option<Error>,
    /// Whether no later launch can run, since the fault has ended all work in the context.
    over: bool,
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
}

impl Run<'_> {
    fn site(&self, node: usize) -> Site {
        Site::graph(&self.draft.name).at_node(&self.draft.nodes[node].name)
    }
}

impl DebugExecutable {
    pub(crate) fn build(cuda: &Arc<Cuda>, blueprint: &Blueprint<'_>, options: DebugOptions) -> Result<Self> {
        let _relaxed = RelaxedCapture::enter();
        let bodies = 0..blueprint.order.bodies();
        let mut built = Self {
            parts: CudaExecutable::prepared(cuda, blueprint)?,
            options,
            bodies: bodies.map(|body| blueprint.order.sequence(body).collect()).collect(),
            raw: HashMap::new(),
            fault: None,
            over: false,
        };
        let Blueprint { draft, program, .. } = blueprint;
        for (node, op) in program.others() {
            if let Op::External(raw @ External::Raw(_)) = op {
                let piece = built.piece(draft, program, node, Single::External(raw))?;
                built.raw.insert(node, piece);
            }
        }
        // SAFETY: the library is loaded, since there is a context.
        unsafe { driver::driver_log::start() };
        Ok(built)
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
        claims: &[Claim<'_, LaunchEvent>],
        stream: Option<&CudaStream>,
    ) -> Result<()> {
        self.refuse_if_over()?;
        let user = self.parts.await_others(draft, claims, stream)?;
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

    /// Waits for the graph's own stream. (Waiting for the context would end captures of other threads.)
    fn drain(&self) -> Result<(), CudaError> {
        self.parts.cuda.bind()?;
        // SAFETY: fact 1 of `CudaExecutable`.
        unsafe { driver::stream::synchronize(self.parts.stream) }
    }

    /// Returns the fault that has ended all work, if there was one.
    fn refuse_if_over(&self) -> Result<()> {
        let fault = self.fault.as_ref().filter(|_| self.over);
        fault.map_or(Ok(()), |fault| Err(fault.clone()))
    }

    /// Runs the graph after all work of a user's stream, and remembers its error for whoever waits.
    fn run(&mut self, draft: &Draft, program: &Program, user: Option<CUstream>) -> Result<()> {
        let mut run = Run {
            draft,
            program,
            around: Vec::new(),
            iterations: 0,
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
        let ran = before.map_err(earlier);
        driver::driver_log::take(); // lines about other work
        let ran = ran.and_then(|()| self.body(0, &mut run));
        self.fault = ran.as_ref().err().cloned();
        ran
    }

    /// Runs the nodes of a body once, each with its own bodies.
    fn body(&mut self, body: usize, run: &mut Run<'_>) -> Result<()> {
        let program = run.program;
        for index in 0..self.bodies[body].len() {
            let node = self.bodies[body][index];
            if !program.enabled[node] {
                continue;
            }
            match &program.ops[node] {
                Op::Structure(Structure::Conditional(conditional)) => self.conditional(node, conditional, run)?,
                Op::Structure(Structure::Child(body)) => {
                    run.around.push(Around { node, iteration: None });
                    self.body(*body, run)?;
                    run.around.pop();
                }
                Op::Work(work) if work.is_idle() => {}
                Op::Work(work) => self.step(node, Single::Work(work), run)?,
                Op::External(external) => self.step(node, Single::External(external), run)?,
            }
        }
        Ok(())
    }

    fn conditional(&mut self, node: usize, conditional: &Conditional, run: &mut Run<'_>) -> Result<()> {
        let is_while = conditional.kind == ConditionalKind::While;
        let mut iteration = 0;
        loop {
            let value = self.condition(conditional, || run.site(node))?;
            let Some(body) = conditional.chosen(value) else {
                return Ok(());
            };
            if is_while {
                iteration += 1;
                run.iterations += 1;
                if let Some(limit) = self.options.iteration_limit.filter(|&limit| run.iterations > limit) {
                    return Err(errors::endless(run, node, limit));
                }
            }
            run.around.push(Around {
                node,
                iteration: is_while.then_some(iteration),
            });
            self.body(body, run)?;
            run.around.pop();
            if !is_while {
                return Ok(());
            }
        }
    }

    /// Reads the condition's value. All nodes before have run.
    fn condition(&self, conditional: &Conditional, site: impl Fn() -> Site) -> Result<u32> {
        let condition = conditional.condition();
        let mut value = [0; 4];
        if let Some((memory, start)) = self.parts.storage[condition.resource as usize].device() {
            memory.read(start + condition.start, &mut value, site)?;
        }
        Ok(u32::from_le_bytes(value))
    }

    /// Runs a node that has no bodies, and waits for it.
    fn step(&mut self, node: usize, work: Single<'_>, run: &Run<'_>) -> Result<()> {
        let made = match self.raw.contains_key(&node) {
            true => None,
            false => Some(self.piece(run.draft, run.program, node, work)?),
        };
        let Some(piece) = made.as_ref().or_else(|| self.raw.get(&node)) else {
            return Ok(()); // it is one of the two
        };
        let stream = self.parts.stream;
        // SAFETY: the piece was instantiated in this context, and `parts` has what it uses (fact 1); fact 1 of
        // `CudaExecutable`.
        let queued = unsafe { self.parts.cuda.api().launch(piece.exec, stream) };
        if let Err(error) = queued {
            self.over = self.drain().is_err();
            return Err(errors::failed(self, run, node, error));
        }
        // SAFETY: as above.
        let waited = unsafe { wait(stream, self.options.time_limit) };
        let Err(error) = waited else {
            return Ok(());
        };
        self.over = match error {
            wait::Failed::Cuda(_) => self.drain().is_err(),
            wait::Failed::Late(_) => true,
        };
        if self.over {
            std::mem::forget(made); // it may still run (fact 2)
        }
        Err(match error {
            wait::Failed::Cuda(error) => errors::failed(self, run, node, error),
            wait::Failed::Late(limit) => {
                self.parts.cuda.give_up();
                errors::late(self, run, node, limit)
            }
        })
    }

    /// Makes the piece of a node that has no bodies. The context is current.
    fn piece(&mut self, draft: &Draft, program: &Program, node: usize, work: Single<'_>) -> Result<Piece> {
        let made = self.try_piece(draft, program, node, work);
        made.map_err(|failure| failure.error(draft))
    }

    fn try_piece(&mut self, draft: &Draft, program: &Program, node: usize, work: Single<'_>) -> Result<Piece, Failure> {
        let at_node = |error: CudaError| (node, error);
        // A closure of the node before may have made another context current.
        self.parts.cuda.bind().map_err(at_node)?;
        let api = self.parts.cuda.api();
        let mut piece = Piece {
            api,
            graph: ptr::null_mut(),
            exec: ptr::null_mut(),
        };
        let graph = match program.whole_capture() {
            // It may have nodes that a child graph cannot have.
            Some(_) => self.parts.captured(node),
            None => {
                // SAFETY: the driver is initialised.
                piece.graph = unsafe { api.create() }.map_err(at_node)?;
                // SAFETY: the graph was just made in the context of `parts`; fact 2.
                unsafe { self.parts.add_one(draft, program, piece.graph, &[], node, (work, &[])) }?;
                piece.graph
            }
        };
        // SAFETY: the graph was made above, or is the captured one, which `parts` keeps.
        let exec = unsafe { api.instantiate(graph, 0) };
        piece.exec = exec.map_err(|failed| (node, failed.error))?;
        Ok(piece)
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
                let kernels = &mut self.parts.kernels;
                kernels.permit(kernel.function, kernel.config.shared).at(site)
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
            self.raw.drain().for_each(|(_, piece)| std::mem::forget(piece));
        }
        self.raw.clear();
    }
}

/// Nothing of it runs, and its context is current: fact 2 of [`DebugExecutable`].
impl Drop for Piece {
    fn drop(&mut self) {
        if !self.exec.is_null() {
            // SAFETY: it was made for `self` alone, and is not running.
            let _ = unsafe { self.api.destroy_executable(self.exec) };
        }
        if !self.graph.is_null() {
            // SAFETY: as above.
            let _ = unsafe { self.api.destroy(self.graph) };
        }
    }
}
