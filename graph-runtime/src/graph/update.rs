//! Changes nodes of a built graph in place.

use crate::error::{Error, Result, Site};
use crate::graph::Graph;
use crate::graph::edit::Edit;
use crate::graph::node::NodeId;
use crate::kernel::source::resolve;
use crate::kernel::{ArgumentKind, CallArgument, Callee, KernelCall, KernelFacts, Launch, launch_mistake};
use crate::program::{Argument, KernelOp, Op, Program};
use crate::shape::part::Part;
use graph_plan::{Code, Diagnostic, Subject};
use std::cell::Cell;

/// Changes to nodes, which are checked one by one and made together: see [`Graph::update`].
#[derive(Debug)]
pub struct Update<'g> {
    pub(crate) graph: &'g Graph,
    changes: Vec<Change>,
    /// In [`Update::each`], the current node and the numbers of its iterations.
    pub(crate) current: Option<(usize, &'g [usize])>,
    /// The node of the child to which indices of declarations refer; `None` for the graph itself.
    pub(crate) child: Option<usize>,
    /// The declaration whose node was asked for last, until [`Update::check_reached`] has seen it.
    reached: Cell<Option<usize>>,
}

/// The new work of a node.
#[derive(Debug)]
struct Change {
    node: usize,
    op: Op,
    /// The new arguments of a kernel node.
    arguments: Vec<Argument>,
}

impl Change {
    /// Exchanges the node's work in `program` and the work in `self`.
    fn swap(&mut self, program: &mut Program) {
        if let Op::Kernel(kernel) = &self.op {
            let range = kernel.arguments.start as usize..kernel.arguments.end as usize;
            let arguments = program.arguments[range].iter_mut().zip(&mut self.arguments);
            arguments.for_each(|(one, other)| std::mem::swap(one, other));
        }
        std::mem::swap(&mut program.ops[self.node], &mut self.op);
    }

    /// Whether the node has this work already.
    fn is_made(&self, program: &Program) -> bool {
        let old = &program.ops[self.node];
        match &self.op {
            Op::Kernel(new) => matches!(old, Op::Kernel(old) if {
                let mut arguments = program.arguments(old).iter().zip(&self.arguments);
                new.config == old.config && arguments.all(|(old, new)| old.value() == new.value())
            }),
            Op::Memset { to, value, .. } => {
                matches!(old, Op::Memset { to: old_to, value: old, .. } if to == old_to && value.bytes() == old.bytes())
            }
            Op::Memcpy { from, to } => {
                matches!(old, Op::Memcpy { from: old_from, to: old_to } if from == old_from && to == old_to)
            }
            Op::Join
            | Op::Conditional(_)
            | Op::Child(_)
            | Op::Call(_)
            | Op::Record(_)
            | Op::Wait(_)
            | Op::Capture(_)
            | Op::Raw(_) => false,
        }
    }
}

impl Update<'_> {
    /// Changes the launch dimensions and the by-value arguments of a kernel node. The kernel and the buffers must be
    /// those with which it was built.
    ///
    /// # Errors
    /// After each of these, the graph is unchanged:
    ///
    /// * [`Error::Invalid`] if the launch breaks a limit (`launch-config`) or a contract (`contract`) of the kernel;
    /// * [`Error::Kernel`] if the device does not allow the launch;
    /// * [`Error::Unsupported`] for another kernel or other buffers, and for nodes of other kinds;
    /// * [`Error::UnknownNode`] if the graph has no such node, [`Error::ForeignNode`] if it is another graph's.
    pub fn kernel<const N: usize>(&mut self, node: NodeId, launch: Launch, mut call: KernelCall<N>) -> Result<()> {
        let (index, site) = self.find(node)?;
        let graph = self.graph;
        let Op::Kernel(built) = &graph.program.ops[index] else {
            return Err(unsupported(site, "the node launches no kernel"));
        };
        let built_facts = graph.program.functions[built.function as usize].facts;
        let (function, facts) = match &call.callee {
            Callee::Unchanged => (Some(built.function), built_facts),
            Callee::Loaded(function) => (graph.program.find_loaded(function), built_facts),
            Callee::Declared(facts) => {
                let facts = self.resolve(index, facts)?;
                (graph.program.find_function(facts), facts)
            }
        };
        if function != Some(built.function) {
            return Err(unsupported(
                site,
                "an update cannot change which kernel a node launches",
            ));
        }
        let same = |(before, after): (&Argument, &CallArgument)| match (before, &after.0) {
            (
                &Argument::Buffer {
                    resource, start, bytes, ..
                },
                ArgumentKind::Buffer(span, _),
            ) => {
                let part = Part { resource, start, bytes };
                span.graph == graph.id && !span.outside && Part::of(*span) == part
            }
            (Argument::Value(before), ArgumentKind::Value(after)) => before.is_as_long_as(after),
            (Argument::Value(_), ArgumentKind::Misfit(_)) => true, // the checks of the launch refuse it
            (Argument::Buffer { .. }, ArgumentKind::Value(_) | ArgumentKind::Misfit(_))
            | (Argument::Value(_), ArgumentKind::Buffer(..)) => false,
        };
        let before = graph.program.arguments(built);
        if before.len() != N || !before.iter().zip(&call.arguments).all(same) {
            return Err(unsupported(site, "an update cannot change which memory a node uses"));
        }
        // `build` has checked races for the accesses with which the node was built. Only calls of loaded functions,
        // which have no declaration, can ask for others.
        if before.iter().zip(&call.arguments).any(changes_access) {
            return Err(unsupported(
                site,
                "an update cannot change whether a node writes its memory",
            ));
        }
        let launch = same_attributes(launch, built).ok_or_else(|| {
            unsupported(
                site,
                "an update cannot change the clusters of a node, or whether it is cooperative",
            )
        })?;
        let config = launch_mistake(&graph.draft, index, facts, launch, &call).map_err(|mistake| Error::Invalid {
            graph: graph.draft.name.as_ref().into(),
            diagnostics: vec![mistake],
        })?;
        let op = Op::Kernel(KernelOp {
            config,
            ..built.clone()
        });
        let mut arguments = Vec::with_capacity(N);
        for argument in &mut call.arguments {
            Argument::put(argument, &mut arguments);
        }
        self.push(index, op, arguments)
    }

    /// The facts of a kernel, with all that its PTX tells: of a CUDA source, it was compiled when the graph was built.
    fn resolve(&self, node: usize, facts: &'static KernelFacts) -> Result<&'static KernelFacts> {
        let graph = self.graph;
        resolve(facts, || graph.device_used().backend.architecture()).map_err(|unresolved| {
            let name = &graph.draft.nodes[node].name;
            unresolved.error(&graph.draft.name, node, name, facts.source.path())
        })
    }

    /// Changes each node of a declaration of `cuda_graph!` in loops. `change` gets the numbers of the node's
    /// iterations, from the outermost loop inwards.
    pub(crate) fn each<const DEPTH: usize>(
        &mut self,
        declared: usize,
        mut change: impl FnMut(&mut Self, [usize; DEPTH]) -> Result<()>,
    ) -> Result<()> {
        let (graph, child) = (self.graph, self.child);
        let nodes = graph.declared_nodes.of(child).into_iter();
        for (node, values) in nodes.flat_map(|nodes| nodes.each(declared)) {
            self.current = Some((node, values));
            if let Ok(values) = values.try_into() {
                change(self, values)?;
            }
        }
        self.current = None;
        Ok(())
    }

    /// In [`Update::each`], the current node; else the only node of the declaration.
    pub(crate) fn declared(&self, declared: usize) -> NodeId {
        self.reached.set(Some(declared));
        self.node_of(declared)
    }

    fn node_of(&self, declared: usize) -> NodeId {
        let current = self.current.map(|(node, _)| node);
        let node = current.or_else(|| self.graph.declared_nodes.find(self.child, declared, &[]));
        NodeId::new(node.unwrap_or(usize::MAX))
    }

    /// Fails unless the node of this declaration was asked for since the last call. An expression that is left by a
    /// hidden `return` ends the node's function before it gets there.
    pub(crate) fn check_reached(&self, declared: usize) -> Result<()> {
        if self.reached.take() == Some(declared) {
            return Ok(());
        }
        let draft = &self.graph.draft;
        let (index, _) = self.find(self.node_of(declared))?;
        let text = format!("node `{}` is left out of the change", draft.nodes[index].name);
        let diagnostic = Diagnostic::new(Code::Syntax, Subject::Node(index), text)
            .note("an expression was left before its node was complete: by `return` in a macro")
            .help("end the change with an error by `?`, or choose between values by `if`");
        Err(Error::Invalid {
            graph: draft.name.as_ref().into(),
            diagnostics: vec![diagnostic],
        })
    }

    /// The number of the current iteration of the `for` that has `depth` others around it.
    pub(crate) fn iteration(&self, depth: usize) -> usize {
        let number = self.current.and_then(|(_, values)| values.get(depth));
        number.copied().unwrap_or_default()
    }

    pub(crate) fn find(&self, node: NodeId) -> Result<(usize, Site)> {
        let index = self.graph.check_node(node)?;
        let draft = &self.graph.draft;
        Ok((index, Site::graph(&draft.name).at_node(&draft.nodes[index].name)))
    }

    pub(super) fn push(&mut self, node: usize, op: Op, arguments: Vec<Argument>) -> Result<()> {
        let Graph {
            draft,
            program,
            executable,
            ..
        } = self.graph;
        executable.check_change(draft, program, node, &op)?;
        self.changes.push(Change { node, op, arguments });
        Ok(())
    }
}

/// Whether a buffer was read only and is now passed to be written, or the other way round.
fn changes_access((before, after): (&Argument, &CallArgument)) -> bool {
    let (Argument::Buffer { mode: before, .. }, ArgumentKind::Buffer(_, after)) = (before, &after.0) else {
        return false;
    };
    before != after
}

/// The launch with the attributes with which the node was built; `None` if it asks for others.
fn same_attributes(launch: Launch, built: &KernelOp) -> Option<Launch> {
    let (cluster, cooperative) = (built.cluster(), built.is_cooperative());
    let same = launch.cluster.is_none() || launch.request().cluster_blocks() == cluster;
    (same && launch.cooperative <= cooperative).then(|| Launch {
        cluster: cluster.map(|sides| sides.map(i128::from)),
        cooperative,
        ..launch
    })
}

pub(super) fn unsupported(site: Site, message: &'static str) -> Error {
    Error::Unsupported { site, message }
}

/// Runs `f`, and makes the changes that it requested if it returns `Ok`. See [`Graph::update`].
pub(crate) fn update(
    graph: &mut Graph,
    what: &'static str,
    f: impl FnOnce(&mut Update<'_>) -> Result<()>,
) -> Result<()> {
    let mut update = Update {
        graph,
        changes: Vec::new(),
        current: None,
        child: None,
        reached: Cell::new(None),
    };
    f(&mut update)?;
    let changes = update.changes;
    let whole = graph.half_edited.is_empty();
    graph.begin(Edit::Update(what));
    // If an edit failed half-way, the device's nodes may differ from the program, so all changes are applied.
    let is_due = |change: &Change, program: &Program| !whole || !change.is_made(program);
    let mut copies = Vec::new();
    for mut change in changes {
        if !is_due(&change, &graph.program) {
            continue;
        }
        match change.op {
            Op::Memcpy { .. } => {
                change.swap(&mut graph.program);
                copies.push(change);
            }
            Op::Kernel(_)
            | Op::Memset { .. }
            | Op::Join
            | Op::Conditional(_)
            | Op::Child(_)
            | Op::Call(_)
            | Op::Record(_)
            | Op::Wait(_)
            | Op::Capture(_)
            | Op::Raw(_) => {
                if let Err(error) = apply(graph, change) {
                    undo(graph, copies);
                    return Err(error);
                }
            }
        }
    }
    apply_copies(graph, copies)?;
    graph.finish(Edit::Update(what));
    Ok(())
}

/// Changes copies, which have been swapped: together, since if CUDA cannot change one in place, the graph is
/// instantiated again. After an error, the program has the old work again. Without copies too: if an earlier
/// instantiation failed, no update may succeed before another one has.
fn apply_copies(graph: &mut Graph, copies: Vec<Change>) -> Result<()> {
    let nodes: Vec<usize> = copies.iter().map(|change| change.node).collect();
    let applied = graph.executable.apply_memory(&graph.draft, &graph.program, &nodes);
    if applied.is_err() {
        undo(graph, copies);
    }
    applied
}

/// Swaps changes back.
fn undo(graph: &mut Graph, changes: Vec<Change>) {
    for mut change in changes.into_iter().rev() {
        change.swap(&mut graph.program);
    }
}

/// Changes a node. After an error, the program has the old work again, so that the next update applies the change.
fn apply(graph: &mut Graph, mut change: Change) -> Result<()> {
    change.swap(&mut graph.program);
    let applied = graph.executable.apply(&graph.draft, &graph.program, change.node);
    if applied.is_err() {
        change.swap(&mut graph.program);
    }
    applied
}
