//! Making changes that were requested together: all or none.

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::change::batch::{Batch, Change, ChosenLaunch, launch_of};
use crate::graph::change::state::Edit;
use crate::graph::change::{enable, rebind};
use crate::kernel::check_dimensions;
use crate::program::{Argument, KernelOp, Op, Work};

/// Checks changes together and makes them: first in the program, then on the device, each node once. Values alone need
/// no check: they go to launches that are ready, and then to the program.
///
/// After an error of the checks, nothing has changed. After one of the device, the program is as before, and the same
/// nodes are made to run as it says. If the device refuses that, too, or if code of the user panics meanwhile, they
/// stay in `unrestored`, and the graph does not launch until a later commit has made them so. So whenever a graph
/// launches, its device's nodes are those of its program, whose every state has passed these checks (fact 5 of
/// `CudaExecutable`).
///
/// # Errors
/// The errors of the checks and of the device. If there is none, the batch is empty afterwards.
pub(in crate::graph) fn commit(graph: &mut Graph, what: &'static str, batch: &mut Batch) -> Result<()> {
    if batch.has_only_values() && graph.unrestored.is_empty() {
        graph.begin(Edit::Values);
        let Graph {
            executable,
            draft,
            program,
            ..
        } = graph;
        let applied = executable.apply_values(draft, program, &batch.values);
        if let Ok(true) = applied {
            batch.swap_values(graph);
            batch.values.clear();
            graph.finish_updates();
            return Ok(());
        }
        if let Err(error) = applied {
            graph.begin(Edit::Update(what));
            batch.find_nodes(graph);
            let before = batch.mark(graph);
            restore(graph, batch, &before);
            return Err(error);
        }
    }
    let committed = commit_all(graph, what, batch);
    *batch = Batch::default();
    committed
}

/// Makes changes that are more than values of launches that are ready.
fn commit_all(graph: &mut Graph, what: &'static str, batch: &mut Batch) -> Result<()> {
    // Other checks look at the program's values.
    batch.swap_values(graph);
    if let Err(error) = batch.check(graph) {
        batch.return_values(graph);
        return Err(error);
    }
    batch.find_nodes(graph);
    graph.begin(Edit::Update(what));
    let before = batch.mark(graph);
    let attempt = Attempt::begin(graph, batch);
    if let Err(error) = apply(attempt.graph, attempt.batch, &before) {
        drop(attempt);
        restore(graph, batch, &before);
        return Err(error);
    }
    attempt.keep();
    graph.unrestored.clear();
    graph.finish_updates();
    for &(resource, _) in &batch.memory {
        graph.finish(Edit::Rebind(resource));
    }
    Ok(())
}

/// A batch whose changes are in the program, while the device takes them. If it does not, or if code of the user panics
/// meanwhile, the program gets back what it had.
struct Attempt<'a> {
    graph: &'a mut Graph,
    batch: &'a mut Batch,
}

impl<'a> Attempt<'a> {
    /// The program has the new values already.
    fn begin(graph: &'a mut Graph, batch: &'a mut Batch) -> Self {
        batch.swap(graph);
        Self { graph, batch }
    }

    /// Leaves the changes in the program.
    fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.batch.swap(self.graph);
        self.batch.return_values(self.graph);
    }
}

/// Makes the device run the nodes of a batch as the program says again, after it has refused to change them. If it
/// refuses that, too, they stay in `unrestored`.
#[cold]
fn restore(graph: &mut Graph, batch: &Batch, before: &[usize]) {
    if let Ok(()) = apply(graph, batch, before) {
        graph.unrestored.clear();
        graph.finish_updates();
    }
}

/// Makes the device run the nodes of a batch as the program says, and run or skip those that it enables or disables,
/// and those that were in `unrestored` before. Also without any nodes: if an earlier instantiation failed, no change
/// may succeed before another one has.
fn apply(graph: &mut Graph, batch: &Batch, before: &[usize]) -> Result<()> {
    let Graph {
        executable,
        draft,
        program,
        ..
    } = graph;
    executable.apply_memory(draft, program, &batch.nodes)?;
    for &node in batch.enabled.iter().map(|(node, _)| node).chain(before) {
        executable.set_enabled(draft, program, node, program.enabled[node])?;
    }
    Ok(())
}

impl Batch {
    /// Whether there are no changes besides those of values.
    #[inline]
    fn has_only_values(&self) -> bool {
        let Self {
            work,
            memory,
            enabled,
            launches,
            ..
        } = self;
        work.is_empty() && memory.is_empty() && enabled.is_empty() && launches.is_empty()
    }

    /// Checks the changes together, and makes work of all of them. The program has the new values already.
    fn check(&mut self, graph: &Graph) -> Result<()> {
        self.sort();
        self.settle(graph)?;
        if !self.memory.is_empty() {
            self.shared = Some(rebind::check_together(graph, &self.memory)?);
        }
        if !self.enabled.is_empty() {
            enable::check_together(graph, &self.enabled)?;
        }
        if graph.half_edited.is_empty() {
            self.work.retain(|change| !change.is_made(&graph.program));
        }
        Ok(())
    }

    /// Exchanges the values of the program and those in `self`, from the first to the last.
    #[inline]
    fn swap_values(&mut self, graph: &mut Graph) {
        let arguments = &mut graph.program.arguments;
        self.values.iter_mut().for_each(|changed| changed.swap(arguments));
    }

    /// Undoes [`Batch::swap_values`], also of an argument that is among the values twice.
    fn return_values(&mut self, graph: &mut Graph) {
        let arguments = &mut graph.program.arguments;
        self.values.iter_mut().rev().for_each(|changed| changed.swap(arguments));
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
    fn settle(&mut self, graph: &Graph) -> Result<()> {
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
                    if let Some(kernel) = graph.program.ops[node].kernel() {
                        let arguments = graph.program.arguments(kernel);
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
            let accesses = graph.draft.accesses.iter().filter(|access| changes(access.resource));
            nodes.extend(accesses.map(|access| access.node));
        }
        nodes.extend(&graph.unrestored);
        if !nodes.is_sorted_by(|one, next| one < next) {
            nodes.sort_unstable();
            nodes.dedup();
        }
    }

    /// Puts the nodes into `unrestored` until the device has taken their changes: code of the user runs in between, the
    /// closures of capture nodes and subscribers of `tracing`, and may panic. Returns the nodes that were there before.
    fn mark(&self, graph: &mut Graph) -> Vec<usize> {
        let enabled = self.enabled.iter().map(|(node, _)| *node);
        let nodes = self.nodes.iter().copied().chain(enabled).collect();
        std::mem::replace(&mut graph.unrestored, nodes)
    }

    /// Exchanges the state of the graph and the state in `self`. The executable gets the memory, but not the nodes.
    fn swap(&mut self, graph: &mut Graph) {
        for change in &mut self.work {
            if let Some(kernel) = change.work.kernel() {
                let range = kernel.arguments.start as usize..kernel.arguments.end as usize;
                let arguments = graph.program.arguments[range].iter_mut().zip(&mut change.arguments);
                arguments.for_each(|(one, other)| std::mem::swap(one, other));
            }
            if let Op::Work(work) = &mut graph.program.ops[change.node] {
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
            if let Some(known) = graph.shared.find(*resource) {
                let old = std::mem::replace(memory, known.memory.clone());
                graph.executable.rebind(*resource, old);
            }
        }
        if let Some(shared) = &mut self.shared {
            std::mem::swap(&mut graph.shared, shared);
        }
        for (node, enabled) in &mut self.enabled {
            std::mem::swap(&mut graph.program.enabled[*node], enabled);
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
    let Graph { draft, program, .. } = graph;
    let facts = program.functions[kernel.function as usize].facts;
    let given: Vec<graph_plan::Argument> = arguments.iter().map(Argument::of_contract).collect();
    let launch = chosen.over(launch_of(kernel));
    let memory = |index: usize| arguments[index].memory();
    let config = check_dimensions(draft, node, facts, launch, &given, memory).map_err(|mistake| Error::Invalid {
        graph: draft.name.as_ref().into(),
        diagnostics: vec![mistake],
    })?;
    let work = Work::Kernel(KernelOp {
        config,
        ..kernel.clone()
    });
    graph.executable.check_change(draft, program, node, &work)?;
    Ok(work)
}
