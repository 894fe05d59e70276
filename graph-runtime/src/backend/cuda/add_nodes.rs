//! Adding the nodes of a graph in an order that the plan allows, each after the nodes that it runs after.

use super::conditional::Turn;
use super::failure::Failure;
use super::predicated::{Entry, Guard, Placed, Test, UNGUARDED};
use super::{CudaExecutable, delay};
use crate::driver::{CUgraph, CUgraphNode, nvtx};
use crate::error::{At, Result, Site};
use crate::ownership::blueprint::Blueprint;
use crate::program::{External, Op, Program, Structure, Work};
use graph_plan::Draft;

/// The work of a node that has no bodies.
#[derive(Clone, Copy)]
pub(super) enum Single<'a> {
    Work(&'a Work),
    External(&'a External),
}

impl<'a> Single<'a> {
    /// The work of a node, unless it has bodies.
    pub(super) fn of(op: &'a Op) -> Option<Self> {
        match op {
            Op::Work(work) => Some(Single::Work(work)),
            Op::External(external) => Some(Single::External(external)),
            Op::Structure(_) => None,
        }
    }
}

impl CudaExecutable {
    /// Creates the graph and adds all nodes, in topological order. Their handles are put into `nodes`. Dropping `self`
    /// destroys the graph, even if the closure of a node panics.
    pub(super) fn add_nodes(&mut self, blueprint: &Blueprint<'_>) -> Result<()> {
        let draft = blueprint.draft;
        announce!(self.cuda, trace, graph = %draft.name, "{}", self.cuda.api().names().create)
            .at(|| Site::graph(&draft.name))?;
        // SAFETY: the driver is initialised.
        self.graph = unsafe { self.cuda.api().create() }.at(|| Site::graph(&draft.name))?;
        // SAFETY: the graph was created above.
        let added = unsafe {
            self.add_prefix(
                blueprint,
                self.graph,
                blueprint.order.sequence(0),
                Entry::default(),
                &mut Turn::Free,
            )
        };
        added.map_err(|failure| failure.error(draft))
    }

    /// Adds the nodes of `sequence`, with their bodies. In `sequence`, every node comes after its predecessors. `entry`
    /// says what they run after besides, and what their kernels test; conditional nodes also run after the one in
    /// `turn`. An error names its node.
    ///
    /// # Safety
    ///
    /// `graph` lives, has the nodes in `entry` and `turn` and is of the context of `self`; `sequence` holds the
    /// predecessors of each node before it.
    pub(super) unsafe fn add_prefix(
        &mut self,
        blueprint: &Blueprint<'_>,
        graph: CUgraph,
        sequence: impl Iterator<Item = usize>,
        entry: Entry<'_>,
        turn: &mut Turn,
    ) -> Result<(), Failure> {
        let Entry {
            roots, tests, latch, ..
        } = entry;
        let draft = blueprint.draft;
        // Almost always: then a node runs after the nodes of its predecessors, and no kernel tests anything.
        let is_plain = entry.is_plain()
            && self.adder.forms.is_empty()
            && blueprint.programmatic.is_empty()
            && blueprint.delays.is_none();
        let mut after: Vec<CUgraphNode> = Vec::new();
        let mut early: Vec<CUgraphNode> = Vec::new();
        for node in sequence {
            after.clear();
            if is_plain && self.predicated.ends.is_empty() {
                let before = blueprint.after.of(node).iter();
                after.extend(before.map(|&before| self.nodes[before as usize]));
                // SAFETY: the graph lives, and `after` are nodes of it since `sequence` is in order; the context is
                // current.
                self.nodes[node] = unsafe { self.add_op(blueprint, graph, &after, (node, &UNGUARDED), turn, tests) }?;
                continue;
            }
            early.clear();
            for &before in blueprint.after.of(node) {
                let edges = match blueprint.programmatic.contains(before, node) {
                    true => &mut early,
                    false => &mut after,
                };
                edges.extend_from_slice(self.last_of(before as usize));
            }
            if after.is_empty() && early.is_empty() {
                after.extend_from_slice(roots);
            }
            let waits = |before: &u32| {
                let placed = self.predicated.placed.get(&(*before as usize));
                let last = placed.and_then(|placed| placed.last());
                last.is_some_and(|last| last.is_after_latch_of(tests))
            };
            if let Some(latch) = latch
                && !blueprint.after.of(node).iter().any(waits)
                && !after.contains(&latch)
            {
                after.push(latch);
            }
            let guard = entry.guard(node, self.adder.forms.waits(node));
            let is_early = self.can_be_early(blueprint, node);
            if guard.waits && is_early {
                after.retain(|before| {
                    let goes_on = self.predicated.early.contains(before);
                    early.extend(goes_on.then_some(*before));
                    !goes_on
                });
            }
            // A delay between the kernels of a programmatic edge would turn it into a plain edge, so there is none.
            if let (Some(seed), []) = (blueprint.delays, &early[..]) {
                // SAFETY: the graph lives, `after` are nodes of it since `sequence` is in order; the context is
                // current.
                let delay = unsafe { delay::add(&self.cuda, graph, &after, &self.kernels, seed, node) };
                after = vec![delay.map_err(|error| (node, error))?];
            }
            // SAFETY: as above.
            self.nodes[node] = unsafe { self.add_op(blueprint, graph, &after, (node, &guard), turn, tests) }?;
            if self.adder.forms.has(node) {
                let handle = self.nodes[node];
                self.predicated
                    .placed
                    .entry(node)
                    .or_default()
                    .push(Placed { handle, guard });
            }
            if is_early {
                self.predicated.early.insert(self.nodes[node]);
            }
            if !early.is_empty() {
                let name = &draft.nodes[node].name;
                announce!(self.cuda, trace, node = %name, after = early.len(), "{}", self.cuda.api().names().add_programmatic)
                    .map_err(|error| (node, error))?;
                // SAFETY: as above; the node and those it runs after are kernel nodes (the plan's rule, or
                // `can_be_early`), between which no edge was added.
                unsafe { self.cuda.api().add_programmatic(graph, &early, self.nodes[node]) }
                    .map_err(|error| (node, error))?;
            }
        }
        Ok(())
    }

    /// Adds a node of any kind, with its bodies, after the nodes in `after`. Its kernel does first what the guard says.
    /// `turn` and `tests` are as in [`CudaExecutable::add_prefix`].
    ///
    /// # Safety
    ///
    /// The graph and the nodes in `after` live and belong together; the graph is of the context of `self`, which is
    /// current, and is launched only while `self` lives.
    unsafe fn add_op(
        &mut self,
        blueprint: &Blueprint<'_>,
        graph: CUgraph,
        after: &[CUgraphNode],
        (node, guard): (usize, &Guard),
        turn: &mut Turn,
        tests: &[Test],
    ) -> Result<CUgraphNode, Failure> {
        let Blueprint { draft, program, .. } = *blueprint;
        let _range = nvtx::range(|| format!("node {}", draft.nodes[node].name));
        let single = match &program.ops[node] {
            Op::Work(work) => Single::Work(work),
            Op::External(external) => Single::External(external),
            Op::Structure(Structure::Conditional(conditional)) => {
                // SAFETY: by the caller's promise.
                return unsafe { self.add_conditional(blueprint, graph, after, (node, conditional), turn, tests) };
            }
            Op::Structure(Structure::Child(body)) => {
                // SAFETY: by the caller's promise.
                return unsafe { self.add_child(blueprint, graph, after, node, *body, turn) };
            }
        };
        // SAFETY: by the caller's promise.
        unsafe { self.add_one(draft, program, graph, after, node, (single, guard)) }
    }

    /// Whether programmatic edges may lead from the node to predicated kernels that wait: it is a kernel that is
    /// launched plainly, without shared memory. (An SM divides its memory anew only while it is idle.)
    fn can_be_early(&self, blueprint: &Blueprint<'_>, node: usize) -> bool {
        let forms = &self.adder.forms;
        forms.has_waiting()
            && match &blueprint.program.ops[node] {
                Op::Work(Work::Kernel(kernel)) => {
                    kernel.attributes.is_none() && self.kernels.own_shared(kernel.function, &kernel.config) == Some(0)
                }
                _ => forms.has(node) && forms.waits(node),
            }
    }

    /// Adds a node that has no bodies. An error names it.
    ///
    /// # Safety
    ///
    /// The graph and the nodes in `after` live and belong together; the graph is of the context of `self`, which is
    /// current, and is launched only while `self` lives.
    pub(super) unsafe fn add_one(
        &mut self,
        draft: &Draft,
        program: &Program,
        graph: CUgraph,
        after: &[CUgraphNode],
        node: usize,
        (single, guard): (Single<'_>, &Guard),
    ) -> Result<CUgraphNode, Failure> {
        let name = &draft.nodes[node].name;
        let added = match single {
            // SAFETY: by the caller's promise; `self` owns kernels and memory (facts 1 and 2 of `CudaExecutable`).
            Single::Work(work) => unsafe {
                self.adder
                    .add(graph, after, program, &self.kernels, (node, name), (work, guard))
            },
            // SAFETY: by the caller's promise.
            Single::External(External::Call(_)) => unsafe { self.add_call(graph, after, node, name) },
            // SAFETY: as above.
            Single::External(External::Record(event)) => unsafe { self.add_event(graph, after, event, false, name) },
            // SAFETY: as above.
            Single::External(External::Wait(event)) => unsafe { self.add_event(graph, after, event, true, name) },
            // SAFETY: as above.
            Single::External(External::Capture(_)) => unsafe { self.add_captured(graph, after, node, name) },
            // SAFETY: as above.
            Single::External(External::Raw(call)) => return unsafe { self.add_raw(graph, after, node, call, name) },
            // SAFETY: as above.
            Single::External(External::Collective(call)) => unsafe {
                self.add_collective(draft, graph, after, (node, call))
            },
        };
        Ok(added.map_err(|error| (node, error))?)
    }
}
