//! Changes of an executable graph: in place where CUDA allows that, else by instantiating the graph again.

pub(super) mod update_from;
mod instantiate_again;
mod enabled;
pub(super) mod prepared_launch;

use crate::backend::cuda::executable::wants_context;
use crate::backend::cuda::fill::Fill;
use crate::backend::cuda::predicated::Guard;
use crate::backend::cuda::{CudaExecutable, attribute};
use crate::driver::{CUgraph, CUgraphNode};
use crate::error::{At, CudaError, Error, Result, Site};
use crate::program::{ChangedValue, External, KernelOp, Op, Program, Structure, Work};
use graph_plan::Draft;
use prepared_launch::PreparedLaunch;

impl CudaExecutable {
    /// Makes later launches run `nodes` as the program now says, with their memory where that is now. If CUDA does not
    /// change all of them in place, waits for launches in flight and instantiates the graph again.
    pub(crate) fn apply(&mut self, draft: &Draft, program: &Program, nodes: &[usize]) -> Result<()> {
        if let Some(call) = program.whole_capture() {
            // Its addresses are in the recorded work, so instantiating it again would not do.
            if nodes.is_empty() && !self.stale {
                return Ok(());
            }
            return self.record_again(draft, program, 0, call);
        }
        self.stale = !self.apply_in_place(draft, program, nodes)?;
        if self.stale {
            self.instantiate_again(draft, program)?;
        }
        Ok(())
    }

    /// As [`CudaExecutable::apply`], in place. Returns false if the graph must be instantiated again: CUDA changes
    /// neither copies of rows that lie apart, nor copies to memory of another kind (of a pool, or of `cuMemAlloc`).
    fn apply_in_place(&mut self, draft: &Draft, program: &Program, nodes: &[usize]) -> Result<bool> {
        if let Some(&first) = nodes.first() {
            self.prepared.clear(); // these launches have copies of what may change now
            self.cuda
                .bind()
                .at(|| Site::graph(&draft.name).at_node(&draft.nodes[first].name))?;
            self.sweep_textures();
        }
        for &node in nodes {
            if self.stale {
                break;
            }
            let copy = match &program.ops[node] {
                Op::Work(Work::Memcpy(copy)) => Some(copy),
                Op::Work(_) | Op::Structure(_) | Op::External(_) => None,
            };
            if copy.is_some_and(|copy| !self.adder.forms.has(node) && !self.adder.changes_in_place(copy)) {
                return Ok(false);
            }
            match self.apply_node(draft, program, node) {
                Err(error) if copy.is_some() && is_refusal(&error) => return Ok(false),
                applied => applied?,
            }
        }
        Ok(!self.stale)
    }

    /// Makes later launches run the nodes of `new`, whose nodes of the program are `nodes`. Returns false if CUDA does
    /// not change the executable graph into that. Launches in flight do not change (D1).
    fn update(&self, draft: &Draft, new: CUgraph, nodes: &[CUgraphNode]) -> Result<bool> {
        let graph = || Site::graph(&draft.name);
        announce!(self.cuda, trace, graph = %draft.name, "{}", self.cuda.api().names().update).at(graph)?;
        // SAFETY: fact 1 of `CudaExecutable`; `new` was captured in this context, and lives.
        match unsafe { self.cuda.api().update(self.exec, new) } {
            Ok(()) => Ok(true),
            Err(failed) if failed.is_refusal() => {
                let found = nodes.iter().position(|&node| !node.is_null() && node == failed.node);
                let (reason, node) = (failed.reason, found.map_or("", |node| &draft.nodes[node].name));
                announce!(self.cuda, debug, graph = %draft.name, reason, node, "not updated in place").at(graph)?;
                Ok(false)
            }
            Err(failed) => Err(failed.error).at(graph),
        }
    }

    /// Refuses a change that the device, or CUDA's rules for changing nodes in place, would refuse.
    pub(crate) fn check_change(&self, draft: &Draft, program: &Program, node: usize, work: &Work) -> Result<()> {
        let site = || Site::graph(&draft.name).at_node(&draft.nodes[node].name);
        if let Some(kernel) = work.kernel() {
            let checked = self.kernels.check(kernel.function, &kernel.config);
            let checked = checked.and_then(|()| attribute::check_change(&self.cuda, &self.kernels, kernel));
            return checked.map_err(|message| Error::Kernel {
                site: site(),
                kernel: program.functions[kernel.function as usize].facts.name,
                message,
            });
        }
        match (work, &program.ops[node]) {
            (Work::Memset(new), Op::Work(Work::Memset(built))) => {
                let [new, built] = [new, built].map(|set| self.adder.fill_of(program, node, set));
                check_fill(&new, &built, site)
            }
            _ => Ok(()),
        }
    }

    /// Makes later launches run `node` as the program now says. The context is current.
    fn apply_node(&mut self, draft: &Draft, program: &Program, node: usize) -> Result<()> {
        if self.stale {
            return Ok(()); // instantiating the graph again will apply it
        }
        let site = || Site::graph(&draft.name).at_node(&draft.nodes[node].name);
        let work = match &program.ops[node] {
            Op::Work(work) => work,
            Op::Structure(Structure::Conditional(_)) => return self.apply_condition(program, node).at(site),
            Op::External(External::Call(_)) => return self.apply_call(node).at(site),
            Op::External(External::Collective(call)) => return self.apply_collective(draft, node, call),
            // Nothing in these changes in place.
            Op::Structure(Structure::Child(_)) => return Ok(()),
            Op::External(External::Record(_) | External::Wait(_) | External::Capture(_) | External::Raw(_)) => {
                return Ok(());
            }
        };
        match work {
            Work::Kernel(kernel) => self.permit(draft, program, node, kernel)?,
            Work::Memcpy(_) | Work::Memset(_) if program.reach(node).is_some() => {
                return self.set_enabled(draft, program, node, program.enabled[node]);
            }
            // Enabling the node will apply it.
            Work::Memset(set) if self.adder.is_skipped_memset(program, node, set) => return Ok(()),
            Work::Memcpy(_) | Work::Memset(_) | Work::Join => {}
        }
        self.apply_work(program, node, work).at(site)
    }

    /// Refuses a launch whose memory is where the kernel cannot access it, and lets the kernel have its dynamic shared
    /// memory. The context is current.
    pub(super) fn permit(&mut self, draft: &Draft, program: &Program, node: usize, kernel: &KernelOp) -> Result<()> {
        self.check_addresses(draft, program, node, kernel)?;
        let permitted = self.kernels.permit(kernel.function, kernel.config.shared);
        permitted.at(|| Site::graph(&draft.name).at_node(&draft.nodes[node].name))
    }

    /// Makes later launches do this work for `node`, in each of its places. The context is current, and the kind of the
    /// node stays.
    fn apply_work(&mut self, program: &Program, node: usize, work: &Work) -> Result<(), CudaError> {
        let handle = self.handle(node);
        let Self {
            adder,
            exec,
            kernels,
            predicated,
            ..
        } = self;
        let Some(placed) = predicated.placed.get(&node) else {
            // SAFETY: facts 1, 2 and 5; `handle` is the program's node, by the caller's promise of this kind.
            return unsafe { adder.apply(*exec, handle, program, kernels, node, (work, &Guard::default())) };
        };
        placed.iter().try_for_each(|placed| {
            // SAFETY: as above.
            unsafe { adder.apply(*exec, placed.handle, program, kernels, node, (work, &placed.guard)) }
        })
    }

    /// Makes later launches run kernels with these values, which the program does not have yet. Returns false if
    /// [`CudaExecutable::apply`] must make all of these changes, when the program has the values. After an
    /// error, it must give the same nodes the values that the program still has.
    ///
    /// An error is boxed, so that results are returned in registers. The program's arguments are left alone meanwhile:
    /// CUDA's calls lock, which waits for all earlier reads and writes of memory.
    #[inline]
    pub(crate) fn apply_values(
        &mut self,
        draft: &Draft,
        program: &Program,
        values: &[ChangedValue],
    ) -> Result<bool, Box<Error>> {
        if self.stale {
            return Ok(false);
        }
        if let Err(error) = self.cuda.enter() {
            return Err(error).at(|| Site::graph(&draft.name)).map_err(Box::new);
        }
        let (api, exec) = (self.cuda.api(), self.exec);
        for (index, changed) in values.iter().enumerate() {
            let node = changed.node;
            let ready = match self.prepared.get(node) {
                Some(ready) => ready,
                None => match self.prepare_launch_of(program, node) {
                    Some(ready) => ready,
                    None => return Ok(false),
                },
            };
            ready.take(changed.argument, changed.word);
            if values.get(index + 1).is_some_and(|next| next.node == node) {
                continue;
            }
            // SAFETY: facts 1, 2 and 11.
            if let Err(error) = unsafe { ready.set(api, exec) } {
                return refused(draft, node, error);
            }
        }
        Ok(true)
    }

    /// The launch of a kernel whose values are changed for the first time; `None` if it cannot be ready.
    #[cold]
    fn prepare_launch_of(&mut self, program: &Program, node: usize) -> Option<&PreparedLaunch> {
        let kernel = program.ops[node].kernel().filter(|_| !self.adder.forms.has(node))?;
        let ready = PreparedLaunch::of(program, kernel, self.handle(node), &self.kernels, &self.adder)?;
        Some(self.prepared.put(node, ready))
    }
}

/// The result of changing values after the driver has refused those of a node: false if it only wants a current
/// context.
#[cold]
fn refused(draft: &Draft, node: usize, error: CudaError) -> Result<bool, Box<Error>> {
    if wants_context(&error) {
        return Ok(false);
    }
    let site = || Site::graph(&draft.name).at_node(&draft.nodes[node].name);
    Err(error).at(site).map_err(Box::new)
}

/// Refuses to change a memset node to a value that must be set in another way than before.
fn check_fill(new: &Fill, built: &Fill, site: impl Fn() -> Site) -> Result<()> {
    let same = match new {
        Fill::TooLong => false,
        Fill::Nothing => matches!(built, Fill::Nothing),
        Fill::Memset { .. } => matches!(built, Fill::Memset { .. }),
        Fill::Kernel { words: new, .. } => matches!(built, Fill::Kernel { words, .. } if words == new),
    };
    match same {
        true => Ok(()),
        false => Err(Error::Unsupported {
            site: site(),
            message: "CUDA cannot change this value in place, since the old and the new one are set in different ways; mark the \
                      node with `GraphBuilder::will_update` when building",
        }),
    }
}

/// Whether the error is the one by which CUDA refuses to change a node in place.
fn is_refusal(error: &Error) -> bool {
    const INVALID_VALUE: u32 = 1;
    matches!(error, Error::Cuda { source, .. } if source.code() == INVALID_VALUE)
}
