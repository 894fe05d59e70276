//! Running a graph node by node, with a wait after each.

use super::errors;
use super::read_only::Contents;
use super::wait::{self, wait};
use super::{Around, Clock, Piece, Run, Steps};
use crate::backend::cuda::add_nodes::Single;
use crate::backend::cuda::delay;
use crate::backend::cuda::failure::Failure;
use crate::backend::cuda::predicated::Guard;
use crate::backend::cuda::prices::Prices;
use crate::backend::finite::Before;
use crate::devices::timer::Timer;
use crate::driver::{self, CUgraphExec, GraphApi, nvtx};
use crate::error::{At, CudaError, Result, Site};
use crate::program::recorder::Recorder;
use crate::program::{Conditional, ConditionalKind, Op, Program, Structure};
use graph_plan::Draft;
use std::ptr;

impl Run<'_> {
    pub(super) fn site(&self, node: usize) -> Site {
        Site::graph(&self.draft.name).at_node(&self.draft.nodes[node].name)
    }

    /// Tells the recorder, if the launch is measured.
    pub(super) fn record(&mut self, note: impl FnOnce(&mut Recorder)) {
        if let Some((recorder, _)) = &mut self.measured {
            note(recorder);
        }
    }
}

impl Steps<'_> {
    /// Waits for the graph's own stream. (Waiting for the context would end captures of other threads.)
    pub(super) fn drain(&self) -> Result<(), CudaError> {
        self.parts.cuda.bind()?;
        // SAFETY: fact 1 of `CudaExecutable`.
        unsafe { driver::stream::synchronize(self.parts.stream) }
    }

    /// Runs the nodes of a body once, each with its own bodies.
    pub(super) fn body(&mut self, body: usize, run: &mut Run<'_>) -> Result<()> {
        let program = run.program;
        let in_rows = matches!(run.measured, Some((_, Clock::Stamps(_))));
        let mut row = Vec::new();
        for index in 0..self.state.bodies[body].len() {
            let node = self.state.bodies[body][index];
            if in_rows && (!program.enabled[node] || !matches!(program.ops[node], Op::Structure(_))) {
                row.push(node);
                continue;
            }
            self.row(&std::mem::take(&mut row), run)?;
            if !program.enabled[node] {
                run.record(|recorder| recorder.skip(node));
                continue;
            }
            match &program.ops[node] {
                Op::Structure(structure) => {
                    run.record(|recorder| recorder.enter(node));
                    match structure {
                        Structure::Conditional(conditional) => self.conditional(node, conditional, run)?,
                        Structure::Child(body) => self.inner(*body, Around { node, iteration: None }, run)?,
                    }
                    run.record(Recorder::leave);
                }
                Op::Work(work) if work.is_idle() => run.record(|recorder| recorder.skip(node)),
                Op::Work(work) => self.step(node, Single::Work(work), run)?,
                Op::External(external) => self.step(node, Single::External(external), run)?,
            }
        }
        self.row(&row, run)
    }

    fn conditional(&mut self, node: usize, conditional: &Conditional, run: &mut Run<'_>) -> Result<()> {
        let is_while = conditional.kind == ConditionalKind::While;
        let passes = self.parts.adder.forms.of(node).map_or(1, |chosen| chosen.passes as u64);
        let mut iteration: u64 = 0;
        loop {
            let value = self.condition(conditional, || run.site(node))?;
            let chosen = conditional.chosen(value);
            // The passes that the last iteration of the node has left; an `if` has none.
            let left = iteration.next_multiple_of(passes) - iteration;
            self.record_choice((node, conditional), chosen, left, run)?;
            let Some(body) = chosen else {
                return Ok(());
            };
            let around = run.repeats;
            run.repeats |= left > 0;
            if is_while {
                iteration += 1;
                run.iterations += 1;
                if let Some(limit) = self
                    .state
                    .options
                    .iteration_limit
                    .filter(|&limit| run.iterations > limit)
                {
                    return Err(errors::endless(run, node, limit));
                }
            }
            let iteration = is_while.then_some(iteration);
            self.inner(body, Around { node, iteration }, run)?;
            run.repeats = around;
            if !is_while {
                return Ok(());
            }
        }
    }

    /// Takes down what a choice costs in a launch of the whole graph. `left` is the number of passes that the current
    /// iteration of a `while` node has left.
    fn record_choice(
        &mut self,
        (node, conditional): (usize, &Conditional),
        body: Option<usize>,
        left: u64,
        run: &mut Run<'_>,
    ) -> Result<()> {
        if !matches!(run.measured, Some((_, Clock::Stamps(_)))) {
            return Ok(());
        }
        let prices = Prices::of(self.parts.cuda.capability().at(|| run.site(node))?);
        let forms = &self.parts.adder.forms;
        let is_while = conditional.kind == ConditionalKind::While;
        let (of_node, latch) = (prices.of_node(is_while, body.is_some()), forms.latch_price(node));
        let (is_predicated, around) = (forms.is_predicated(node), run.repeats);
        let resting: Vec<usize> = match (is_predicated, body) {
            (true, _) => conditional
                .bodies
                .iter()
                .copied()
                .filter(|other| Some(*other) != body)
                .collect(),
            (false, None) if left > 0 => conditional.bodies.clone(),
            (false, _) => Vec::new(),
        };
        run.repeats |= left > 0;
        let rest = if resting.is_empty() {
            0
        } else {
            self.rest(&resting, run)?
        };
        run.repeats = around;
        let (priced, rest) = match (is_predicated, body) {
            (true, _) => (latch, rest),
            (false, Some(_)) if left > 0 => (latch, 0), // the iteration of the node goes on
            (false, Some(_)) => (of_node, 0),
            (false, None) => (of_node + latch * left as f64, rest * left),
        };
        run.record(|recorder| recorder.cost(node, (priced * 1e3) as u64 + rest));
        Ok(())
    }

    /// Runs the nodes of a body of a node once.
    fn inner(&mut self, body: usize, around: Around, run: &mut Run<'_>) -> Result<()> {
        run.around.push(around);
        run.record(Recorder::body);
        self.body(body, run)?;
        run.around.pop();
        Ok(())
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
    fn step(&mut self, node: usize, work: Single<'_>, run: &mut Run<'_>) -> Result<()> {
        let _range = nvtx::range(|| format!("node {}", run.draft.nodes[node].name));
        let whole = run.program.whole_capture().is_some() && !self.parts.exec.is_null();
        let made = match whole || self.state.raw.contains_key(&node) {
            true => None,
            false => Some(self.piece(run.draft, run.program, node, work)?),
        };
        let exec = match made.as_ref().or_else(|| self.state.raw.get(&node)) {
            Some(piece) => piece.exec,
            None => self.parts.exec, // the captured work, which is all of the graph
        };
        let finite = self.state.finite.as_ref();
        let before = finite.map(|finite| finite.before(run.draft, node, |resource, to| self.read(resource, to)));
        let read_only = self.state.read_only.as_ref();
        let given = read_only.map(|list| list.contents(run.draft, node, |resource, to| self.read(resource, to)));
        let timer = match &run.measured {
            Some((_, Clock::Events(timer))) => Some(timer),
            _ => None,
        };
        // SAFETY: the piece was instantiated in this context, and `parts` has what it uses (fact 1).
        if let Err(error) = unsafe { self.queue(exec, timer) } {
            self.state.over = self.drain().is_err();
            if self.state.over {
                std::mem::forget(made); // it may run (fact 2)
            }
            return Err(errors::failed(self, run, node, error));
        }
        // SAFETY: fact 1 of `CudaExecutable`; the context is current.
        let waited = unsafe { wait(self.parts.stream, self.state.options.time_limit) };
        let Err(error) = waited else {
            let time = timer.map_or(Ok(0), Timer::nanoseconds).at(|| run.site(node))?;
            run.record(|recorder| recorder.call(node, time, None));
            self.check_read_only(run, node, given)?;
            return self.check_finite(run, node, before);
        };
        self.state.over = match error {
            wait::Failed::Cuda(_) => self.drain().is_err(),
            wait::Failed::Late(_) => true,
        };
        if self.state.over {
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

    /// Fails if the node, which has ended, has written to memory that it may only read.
    fn check_read_only(&self, run: &Run<'_>, node: usize, before: Option<Contents>) -> Result<()> {
        let (Some(list), Some(before)) = (&self.state.read_only, before) else {
            return Ok(());
        };
        let read = |resource, to: &mut [u8]| self.read(resource, to);
        let finding = list.finding(run.draft, node, &before, read);
        finding.map_or(Ok(()), |finding| Err(errors::wrong_result(self, run, node, &finding)))
    }

    /// Fails if the node, which has ended, has written a value that is not finite.
    fn check_finite(&self, run: &Run<'_>, node: usize, before: Option<Before>) -> Result<()> {
        let (Some(finite), Some(before)) = (&self.state.finite, before) else {
            return Ok(());
        };
        let read = |resource, to: &mut [u8]| self.read(resource, to);
        let finding = finite.finding(run.draft, node, &before, read);
        finding.map_or(Ok(()), |finding| {
            Err(errors::wrong_result(
                self,
                run,
                node,
                &(finding.message + &finding.notes),
            ))
        })
    }

    /// Reads the first bytes of a resource, unless it has no address. Nothing writes it now.
    pub(super) fn read(&self, resource: usize, to: &mut [u8]) -> bool {
        let memory = self.parts.storage[resource].device();
        memory.is_some_and(|(memory, start)| memory.read(start, to, Site::default).is_ok())
    }

    /// Launches an executable graph on the graph's own stream, between the events of the timer.
    ///
    /// # Safety
    ///
    /// It is of the context of `parts`, which is current, and all that it uses lives until it has ended.
    unsafe fn queue(&self, exec: CUgraphExec, timer: Option<&Timer>) -> Result<(), CudaError> {
        let stream = self.parts.stream;
        if let Some(timer) = timer {
            // Otherwise the first launch would bring the graph to the device.
            // SAFETY: by the caller's promise; fact 1 of `CudaExecutable`.
            unsafe { self.parts.cuda.api().upload(exec, stream) }?;
            // SAFETY: fact 1 of `CudaExecutable`; the context is current, by the caller's promise.
            unsafe { timer.begin(stream) }?;
        }
        // SAFETY: by the caller's promise; fact 1 of `CudaExecutable`.
        unsafe { self.parts.cuda.api().launch(exec, stream) }?;
        match timer {
            // SAFETY: as above.
            Some(timer) => unsafe { timer.end(stream) },
            None => Ok(()),
        }
    }

    /// The nanoseconds that the timer measures of a kernel alone more than the kernel adds to a chain of kernels: those
    /// of a graph of one, less those of a longer graph divided by its further kernels. The built-in kernel is loaded,
    /// and the context is current.
    pub(super) fn overhead(&self, timer: &Timer) -> Result<u64, CudaError> {
        const FURTHER: u64 = 16;
        let one = self.chain_time(timer, 1)?;
        let longer = self.chain_time(timer, 1 + FURTHER)?;
        Ok(one.saturating_sub(longer.saturating_sub(one) / FURTHER))
    }

    /// The nanoseconds that the timer measures of a chain of kernels that do next to nothing: the median of several
    /// launches.
    fn chain_time(&self, timer: &Timer, kernels: u64) -> Result<u64, CudaError> {
        const LAUNCHES: usize = 21;
        let mut piece = Piece::create(self.parts.cuda.api())?;
        let mut last = Vec::new();
        for _ in 0..kernels {
            // SAFETY: the graph was just made, and so was the node; the kernels of `parts` outlive the piece (fact 2).
            last = vec![unsafe { delay::add_empty(&self.parts.cuda, piece.graph, &last, &self.parts.kernels) }?];
        }
        piece.instantiate(0)?;
        let mut times = [0; LAUNCHES];
        for time in &mut times {
            // SAFETY: it was just instantiated in this context, and uses nothing but a kernel of `parts`.
            let ran = unsafe { self.queue(piece.exec, Some(timer)) }.and_then(|()| self.drain());
            if let Err(error) = ran {
                if self.drain().is_err() {
                    std::mem::forget(piece); // it may still run
                }
                return Err(error);
            }
            *time = timer.nanoseconds()?;
        }
        times.sort_unstable();
        Ok(times[LAUNCHES / 2])
    }

    /// Makes the piece of a node that has no bodies. The context is current.
    pub(super) fn piece(&mut self, draft: &Draft, program: &Program, node: usize, work: Single<'_>) -> Result<Piece> {
        let made = self.try_piece(draft, program, node, work);
        made.map_err(|failure| failure.error(draft))
    }

    fn try_piece(&mut self, draft: &Draft, program: &Program, node: usize, work: Single<'_>) -> Result<Piece, Failure> {
        let at_node = |error: CudaError| (node, error);
        // A closure of the node before may have made another context current.
        self.parts.cuda.bind().map_err(at_node)?;
        let api = self.parts.cuda.api();
        let mut piece = Piece::empty(api);
        let graph = match program.whole_capture() {
            // It may have nodes that a child graph cannot have.
            Some(_) => self.parts.captured(node),
            None => {
                // SAFETY: the driver is initialised.
                piece.graph = unsafe { api.create() }.map_err(at_node)?;
                // SAFETY: the graph was just made in the context of `parts`; fact 2.
                unsafe {
                    self.parts
                        .add_one(draft, program, piece.graph, &[], node, (work, &Guard::default()))
                }?;
                piece.graph
            }
        };
        // SAFETY: the graph was made above, or is the captured one, which `parts` keeps.
        let exec = unsafe { api.instantiate(graph, 0) };
        piece.exec = exec.map_err(|failed| (node, failed.error))?;
        Ok(piece)
    }
}

impl Piece {
    /// A piece without a graph.
    pub(super) fn empty(api: GraphApi) -> Self {
        Self {
            api,
            graph: ptr::null_mut(),
            exec: ptr::null_mut(),
        }
    }

    /// A piece with an empty graph.
    pub(super) fn create(api: GraphApi) -> Result<Self, CudaError> {
        let mut piece = Self::empty(api);
        // SAFETY: the driver is initialised.
        piece.graph = unsafe { api.create() }?;
        Ok(piece)
    }

    /// Instantiates the graph of [`Piece::create`], with these flags of CUDA's. The context is current.
    pub(super) fn instantiate(&mut self, flags: u64) -> Result<(), CudaError> {
        // SAFETY: the graph was made for `self`, which destroys it.
        let exec = unsafe { self.api.instantiate(self.graph, flags) };
        self.exec = exec.map_err(|failed| failed.error)?;
        Ok(())
    }
}

/// Nothing of it runs, and its context is current: fact 2 of [`Steps`].
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
