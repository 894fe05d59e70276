//! Making changes that were requested together: all or none.

use crate::backend::executable::Executable;
use crate::error::{Error, Result};
use crate::graph::change::batch::{Batch, Change, ChosenLaunch, launch_of};
use crate::graph::change::state::State;
use crate::graph::change::{enable, param_batch, presence, rebind_checks};
use crate::graph::{Graph, GraphData};
use crate::kernel::check_dimensions;
use crate::program::{Argument, KernelOp, Op, Work};

/// Checks changes together and makes them: first in the program, then on the device, each node once. Values alone need
/// no check: they go to launches that are prepared, and then to the program.
///
/// After an error of the checks, nothing has changed. After one of the device, the program is as before, and the same
/// nodes are made to run as it says. If the device refuses that, too, or if code of the user panics meanwhile, the
/// graph is [broken](State::Broken), and does not launch until a later commit has made these nodes so. So whenever a
/// graph launches, its device's nodes are those of its program, whose every state has passed these checks (fact 5 of
/// `CudaExecutable`).
///
/// # Errors
/// The errors of the checks and of the device. If there is none, the batch is empty afterwards.
pub(super) fn commit(graph: &mut Graph, what: &'static str, batch: &mut Batch) -> Result<()> {
    if batch.params.is_empty() {
        return commit_nodes(graph, what, batch);
    }
    let new = std::mem::take(&mut batch.params);
    if let Err(error) = param_batch::request(graph, batch, &new) {
        *batch = Batch::default();
        return Err(error);
    }
    commit_nodes(graph, what, batch)?;
    for (param, value) in new {
        graph.data.params[param].value = value;
    }
    Ok(())
}

/// As [`commit`], of a batch without values of params.
fn commit_nodes(graph: &mut Graph, what: &'static str, batch: &mut Batch) -> Result<()> {
    if graph.is_whole() {
        match batch.commit_values(&mut graph.executable, &mut graph.data) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(error) => {
                refused(graph, what, batch);
                return Err(*error);
            }
        }
    }
    let committed = commit_all(graph, what, batch);
    *batch = Batch::default();
    committed
}

/// Makes the device run the nodes of a batch as the program says again, after it has refused their new values.
#[cold]
pub(super) fn refused(graph: &mut Graph, what: &'static str, batch: &mut Batch) {
    batch.find_nodes(graph);
    let before = batch.begin(graph, what);
    restore(graph, batch, before.broken_nodes());
}

/// Makes changes that are more than values of launches that are prepared.
fn commit_all(graph: &mut Graph, what: &'static str, batch: &mut Batch) -> Result<()> {
    let mut attempt = Attempt::begin(graph, batch);
    attempt.batch.check(attempt.graph)?;
    attempt.batch.find_nodes(attempt.graph);
    let before = attempt.batch.begin(attempt.graph, what);
    attempt.swap();
    let applied = apply(attempt.graph, attempt.batch, before.broken_nodes());
    if let Err(error) = applied {
        drop(attempt);
        if matches!(error, Error::Node { .. }) {
            graph.state = before; // the closure of a captured graph has failed, so nothing was recorded
        } else {
            restore(graph, batch, before.broken_nodes());
        }
        return Err(error);
    }
    attempt.keep();
    graph.mend();
    Ok(())
}

/// A batch whose changes are in the program, while they are checked, and while the device takes them. If it does not,
/// or if code of the user panics meanwhile, the program gets back what it had.
struct Attempt<'a> {
    graph: &'a mut Graph,
    batch: &'a mut Batch,
    /// Whether the program has all changes, and not the values alone.
    is_swapped: bool,
}

impl<'a> Attempt<'a> {
    /// Gives the program the new values, at which the checks of other changes look.
    fn begin(graph: &'a mut Graph, batch: &'a mut Batch) -> Self {
        graph.data.program.swap_values(&mut batch.values);
        Self {
            graph,
            batch,
            is_swapped: false,
        }
    }

    /// Gives the program all changes.
    fn swap(&mut self) {
        self.batch.swap(self.graph);
        self.is_swapped = true;
    }

    /// Leaves the changes in the program.
    fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if self.is_swapped {
            self.batch.swap(self.graph);
        }
        self.graph.data.program.return_values(&mut self.batch.values);
    }
}

/// Makes the device run the nodes of a batch as the program says again, after it has refused to change them. If it
/// refuses that, too, the graph stays broken.
#[cold]
fn restore(graph: &mut Graph, batch: &Batch, before: &[usize]) {
    if let Ok(()) = apply(graph, batch, before) {
        graph.mend();
    }
}

/// Makes the device run the nodes of a batch as the program says, and run or skip those that it enables or disables,
/// and those that were broken before. Also without any nodes: if an earlier instantiation failed, no change may succeed
/// before another one has.
fn apply(graph: &mut Graph, batch: &Batch, before: &[usize]) -> Result<()> {
    let Graph { executable, data, .. } = graph;
    executable.apply(&data.draft, &data.program, &batch.nodes)?;
    for &node in batch.enabled.iter().map(|(node, _)| node).chain(before) {
        executable.set_enabled(&data.draft, &data.program, node, data.program.enabled[node])?;
    }
    Ok(())
}

impl Batch {
    /// Makes the changes of a graph that is whole, if they are values alone. Returns false, and changes nothing, if
    /// [`commit`] must make them. After an error of the device, the caller calls [`refused`].
    #[inline]
    pub(super) fn commit_values(
        &mut self,
        executable: &mut Executable,
        data: &mut GraphData,
    ) -> Result<bool, Box<Error>> {
        let Self {
            values,
            work,
            memory,
            enabled,
            launches,
            params,
            ..
        } = self;
        if !(params.is_empty() && work.is_empty() && memory.is_empty() && enabled.is_empty() && launches.is_empty()) {
            return Ok(false);
        }
        // No code of the user runs in here, so the graph stays whole.
        let made = executable.apply_values(&data.draft, &data.program, values)?;
        if made {
            data.program.swap_values(values);
            values.clear();
        }
        Ok(made)
    }

    /// Checks the changes together, and makes work of all of them. The program has the new values already.
    fn check(&mut self, graph: &Graph) -> Result<()> {
        self.sort();
        self.materialize_launches(graph)?;
        let mut draft = presence::draft_after(&graph.data, &self.work);
        if !self.memory.is_empty() || draft.is_some() {
            let draft = draft.as_ref().unwrap_or(&graph.data.draft);
            self.shared = Some(rebind_checks::check_together(graph, draft, &self.memory)?);
        }
        if let Some(draft) = &mut draft {
            let shared = self.shared.as_ref().unwrap_or(&graph.data.shared);
            presence::check(graph, draft, &self.work, shared, &self.enabled)?;
        }
        self.draft = draft.map(Box::new);
        if !self.enabled.is_empty() {
            enable::check_together(graph, &self.enabled)?;
        }
        if graph.is_whole() {
            self.work.retain(|change| !change.is_made(&graph.data.program));
        }
        Ok(())
    }

    /// Sorts the new work by node, with one change for each: the last.
    fn sort(&mut self) {
        self.work.sort_by_key(|change| change.node);
        self.work.dedup_by(|later, kept| {
            let same = later.node == kept.node;
            if same {
                std::mem::swap(later, kept);
            }
            same
        });
    }

    /// Makes new work of the launch dimensions that handles have chosen.
    fn materialize_launches(&mut self, graph: &Graph) -> Result<()> {
        let mut new = Vec::new();
        for &(node, chosen) in &self.launches {
            match self.work.binary_search_by_key(&node, |change| change.node) {
                Ok(found) => {
                    let change = &mut self.work[found];
                    if let Some(kernel) = change.work.kernel() {
                        let declared = change.declared.take().unwrap_or_else(|| launch_of(kernel).into());
                        change.work = relaunched(graph, node, kernel, &change.arguments, chosen)?;
                        change.declared = Some(declared);
                    }
                }
                Err(_) => {
                    if let Some(kernel) = graph.data.program.ops[node].kernel() {
                        let arguments = graph.data.program.arguments(kernel);
                        let declared = graph.chosen.get(&node).copied();
                        new.push(Change {
                            node,
                            work: relaunched(graph, node, kernel, arguments, chosen)?,
                            arguments: arguments.to_vec(),
                            declared: Some(declared.unwrap_or_else(|| launch_of(kernel)).into()),
                        });
                    }
                }
            }
        }
        if !new.is_empty() {
            self.work.append(&mut new);
            self.sort();
        }
        Ok(())
    }

    /// Finds the nodes whose values, work or memory changes, and those that an earlier change has left in an unknown
    /// state.
    fn find_nodes(&mut self, graph: &Graph) {
        let nodes = &mut self.nodes;
        nodes.clear();
        nodes.extend(self.values.iter().map(|changed| changed.node));
        nodes.extend(self.work.iter().map(|change| change.node));
        if !self.memory.is_empty() {
            let changes = |resource: usize| self.memory.iter().any(|(changed, _)| *changed == resource);
            let accesses = graph
                .data
                .draft
                .accesses
                .iter()
                .filter(|access| changes(access.resource));
            nodes.extend(accesses.map(|access| access.node));
        }
        nodes.extend(graph.state.broken_nodes());
        if !nodes.is_sorted_by(|one, next| one < next) {
            nodes.sort_unstable();
            nodes.dedup();
        }
    }

    /// Notes that the device may run the nodes otherwise than the program says, until it has taken their changes: code
    /// of the user runs in between, the closures of capture nodes and subscribers of `tracing`, and may panic. Returns
    /// the state before.
    fn begin(&self, graph: &mut Graph, what: &'static str) -> State {
        let enabled = self.enabled.iter().map(|(node, _)| *node);
        graph.begin_change(what, self.nodes.iter().copied().chain(enabled).collect())
    }

    /// Exchanges the state of the graph and the state in `self`. The executable gets the memory, but not the nodes.
    fn swap(&mut self, graph: &mut Graph) {
        for change in &mut self.work {
            if let Some(kernel) = change.work.kernel() {
                let range = kernel.arguments.start as usize..kernel.arguments.end as usize;
                let arguments = graph.data.program.arguments[range]
                    .iter_mut()
                    .zip(&mut change.arguments);
                arguments.for_each(|(one, other)| std::mem::swap(one, other));
            }
            if let Op::Work(work) = &mut graph.data.program.ops[change.node] {
                std::mem::swap(work, &mut change.work);
            }
            if change.declared.is_some() || !graph.chosen.is_empty() {
                let before = match change.declared.take() {
                    Some(declared) => graph.chosen.insert(change.node, *declared),
                    None => graph.chosen.remove(&change.node),
                };
                change.declared = before.map(Box::new);
            }
        }
        for (resource, memory) in &mut self.memory {
            if let Some(known) = graph.data.shared.find(*resource) {
                let old = std::mem::replace(memory, known.memory.clone());
                graph.executable.rebind(*resource, old);
            }
        }
        if let Some(shared) = &mut self.shared {
            std::mem::swap(&mut graph.data.shared, shared);
        }
        if let Some(draft) = &mut self.draft {
            std::mem::swap(&mut graph.data.draft, draft);
        }
        for (index, beginning) in &mut self.generators {
            std::mem::swap(&mut graph.data.rngs[*index].beginning, beginning);
        }
        for (node, enabled) in &mut self.enabled {
            std::mem::swap(&mut graph.data.program.enabled[*node], enabled);
        }
    }
}

/// A kernel launch with the dimensions that a handle has chosen, which are checked with these arguments.
fn relaunched(
    graph: &Graph,
    node: usize,
    kernel: &KernelOp,
    arguments: &[Argument],
    chosen: ChosenLaunch,
) -> Result<Work> {
    let GraphData { draft, program, .. } = &graph.data;
    let facts = program.functions[kernel.function as usize].facts;
    let given: Vec<graph_plan::Argument> = arguments.iter().map(Argument::of_contract).collect();
    let launch = chosen.over(launch_of(kernel));
    let memory = |index: usize| arguments[index].memory();
    let config = check_dimensions(draft, node, facts, launch, &given, memory)
        .map_err(|mistake| Error::mistake(&draft.name, mistake))?;
    let work = Work::Kernel(KernelOp {
        config,
        ..kernel.clone()
    });
    graph.executable.check_change(draft, program, node, &work)?;
    Ok(work)
}
