//! Changes nodes of a built graph in place.

use crate::error::{Error, Result, Site, mistakes};
use crate::graph::Graph;
use crate::graph::change::batch::{Batch, Change, ChosenLaunch, launch_of};
use crate::graph::change::commit::commit;
use crate::graph::change::enable;
use crate::graph::node::NodeId;
use crate::kernel::source::resolve;
use crate::kernel::{ArgumentKind, Callee, Dimensions, KernelCall, KernelFacts, Launch, launch_mistake};
use crate::program::{Argument, ChangedValue, Difference, KernelOp, Op, Work};
use graph_plan::{Code, Diagnostic, LaunchConfig, Subject};
use std::cell::Cell;

/// Changes to nodes, which are checked one by one and made together: see [`Graph::update`].
#[derive(Debug)]
pub struct Update<'g> {
    pub(crate) graph: &'g Graph,
    pub(crate) batch: &'g mut Batch,
    /// In [`Update::each`], the current node and the numbers of its iterations.
    pub(crate) current: Option<(usize, &'g [usize])>,
    /// The node of the child to which indices of declarations refer; `None` for the graph itself.
    pub(crate) child: Option<usize>,
    /// The declaration whose node was asked for last, until [`Update::check_reached`] has seen it.
    reached: Cell<Option<usize>>,
}

impl Update<'_> {
    /// Changes the launch dimensions and the by-value arguments of a kernel node. The kernel, its declaration and the
    /// buffers must be those with which it was built; but memory may take the place of `None`, and `None` the place of
    /// memory. The graph, with the nodes and edges that it has, is checked again then.
    ///
    /// # Errors
    /// After each of these, the graph is unchanged:
    ///
    /// * [`Error::Invalid`] if the launch breaks a limit (`launch-config`) or a contract (`contract`) of the kernel, or
    ///   if memory in the place of `None` breaks a rule of graphs, such as `race`;
    /// * [`Error::Kernel`] if the device does not allow the launch;
    /// * [`Error::Unsupported`] for another kernel or other buffers, and for nodes of other kinds; and where `None` was
    ///   or will be, for the condition of a body, and for scratch memory whose place is needed otherwise;
    /// * [`Error::UnknownNode`] if the graph has no such node, [`Error::ForeignNode`] if it is another graph's.
    pub fn kernel<const N: usize>(&mut self, node: NodeId, launch: Launch, call: KernelCall<N>) -> Result<()> {
        self.values_or_launch(node, launch, call, false)
    }

    /// As [`Update::kernel`], for a launch by the node's declaration. If a handle has chosen other dimensions since the
    /// declaration had these, they stay.
    #[inline]
    pub(crate) fn declared_kernel<const N: usize>(
        &mut self,
        node: NodeId,
        launch: Launch,
        call: KernelCall<N>,
    ) -> Result<()> {
        self.values_or_launch(node, launch, call, true)
    }

    /// Requests the new values of a call or, if more than these may change, all of it after its checks.
    #[inline]
    fn values_or_launch<const N: usize>(
        &mut self,
        node: NodeId,
        launch: Launch,
        call: KernelCall<N>,
        declared: bool,
    ) -> Result<()> {
        match self.change_values(node, &launch, &call) {
            true => Ok(()),
            false => self.launch(node, launch, call, declared),
        }
    }

    /// Requests the values of a call, if these alone may differ from the node's, and need no check. Otherwise returns
    /// false, and requests nothing.
    ///
    /// Nearly all changes by params are such. This is inlined into the node's function, where constant dimensions and
    /// arguments that stay cost next to nothing.
    #[inline]
    fn change_values<const N: usize>(&mut self, node: NodeId, launch: &Launch, call: &KernelCall<N>) -> bool {
        let graph = self.graph;
        let index = node.index();
        let Some(kernel) = graph.data.program.ops.get(index).and_then(Op::kernel) else {
            return false;
        };
        let same_launch = launch.is_of(&kernel.config) && keeps_attributes(launch, kernel);
        if !same_launch || node.is_foreign_to_all(&graph.data.builders) || !self.takes_values(index) {
            return false;
        }
        let function = &graph.data.program.functions[kernel.function as usize];
        let Some(changed) = function.free_changes(&graph.data.builders, graph.data.program.arguments(kernel), call)
        else {
            return false;
        };
        for (param, argument) in call.arguments.iter().enumerate() {
            if let ArgumentKind::Value(value) = &argument.0
                && let Some(word) = value.word()
                && changed >> param & 1 == 1
            {
                self.batch.values.push(ChangedValue {
                    node: index,
                    argument: kernel.arguments.start as usize + param,
                    word,
                });
            }
        }
        true
    }

    /// Whether nothing but the launch with which a kernel node was built decides which of its values change.
    #[inline]
    fn takes_values(&self, node: usize) -> bool {
        // A node with a handle's dimensions has others than its declaration. After a change that failed half-way,
        // nodes are made anew, also with the values that they have.
        let is_plain = self.graph.chosen.is_empty() && self.graph.is_whole();
        is_plain && self.batch.launches.is_empty() && self.batch.work.iter().all(|change| change.node != node)
    }

    #[inline(never)]
    fn launch<const N: usize>(
        &mut self,
        node: NodeId,
        launch: Launch,
        mut call: KernelCall<N>,
        declared: bool,
    ) -> Result<()> {
        let index = self.graph.check_node(node)?;
        let graph = self.graph;
        for argument in &mut call.arguments {
            if let ArgumentKind::Param(passed) = &argument.0 {
                argument.0 = graph.data.passed_param(index, passed)?;
            }
        }
        let unsupported = |message| unsupported(self.site(index), message);
        let Some(built) = graph.data.program.ops[index].kernel() else {
            return Err(unsupported("the node launches no kernel"));
        };
        let built_facts = graph.data.program.functions[built.function as usize].facts;
        let (function, facts) = match &call.callee {
            Callee::Unchanged => (Some(built.function), built_facts),
            Callee::Loaded(function) => (graph.data.program.find_loaded(function), built_facts),
            Callee::Refused(mistakes) => {
                let name = &graph.data.draft.nodes[index].name;
                return Err(Error::Invalid {
                    graph: graph.name().into(),
                    diagnostics: mistakes::declarations(index, name, mistakes),
                });
            }
            Callee::Declared(facts, _) => {
                let facts = self.resolve(index, facts)?;
                (graph.data.program.find_function(facts), facts)
            }
        };
        if function != Some(built.function) {
            return Err(unsupported("an update cannot change which kernel a node launches"));
        }
        let before = graph.data.program.arguments(built);
        let mut differences = before
            .iter()
            .zip(&call.arguments)
            .map(|(before, after)| before.difference(after, &graph.data.builders));
        if before.len() != N || differences.clone().any(|difference| difference == Difference::Memory) {
            return Err(unsupported("an update cannot change which memory a node uses"));
        }
        // `build` has checked races for the accesses with which the node was built. Only calls of loaded functions,
        // which have no declaration, can ask for others.
        if differences.any(|difference| difference == Difference::Access) {
            return Err(unsupported("an update cannot change whether a node writes its memory"));
        }
        if !keeps_attributes(&launch, built) {
            return Err(unsupported(
                "an update cannot change the clusters of a node, or whether it is cooperative",
            ));
        }
        let launch = Launch {
            cluster: built.cluster().map(|sides| sides.map(i128::from)),
            cooperative: built.is_cooperative(),
            ..launch
        };
        let (launch, declared) = match declared {
            true => self.chosen(index, launch, built),
            false => (launch, None),
        };
        let config = self.checked(index, facts, launch, &call)?;
        let work = Work::Kernel(KernelOp {
            config,
            ..built.clone()
        });
        let mut arguments = Vec::with_capacity(N);
        for argument in &mut call.arguments {
            Argument::put(argument, &mut arguments);
        }
        self.push(index, work, arguments, declared)
    }

    /// The dimensions of a launch, after the checks of limits and contracts.
    fn checked<const N: usize>(
        &self,
        node: usize,
        facts: &'static KernelFacts,
        launch: Launch,
        call: &KernelCall<N>,
    ) -> Result<LaunchConfig> {
        let draft = &self.graph.data.draft;
        launch_mistake(draft, node, facts, launch, &call.arguments)
            .map_err(|mistake| Error::mistake(&draft.name, mistake))
    }

    /// The launch of a node whose declaration now asks for `launch`. If handles have chosen other dimensions, returns
    /// those, and `launch` as the declared ones.
    fn chosen(&self, node: usize, launch: Launch, built: &KernelOp) -> (Launch, Option<Launch>) {
        let stays = |declared: &&Launch| launch.has_dimensions_of(declared);
        let before = self.graph.chosen.get(&node).filter(stays);
        let current = before.map_or(launch, |_| launch_of(built));
        match self.batch.launch_for(node) {
            Some(chosen) => (chosen.over(current), Some(launch)),
            None => (current, before.map(|_| launch)),
        }
    }

    /// Makes later launches run a node, or skip it: see [`NodeHandle::set_enabled`](crate::NodeHandle::set_enabled).
    ///
    /// # Errors
    /// The errors of [`NodeHandle::set_enabled`](crate::NodeHandle::set_enabled). The graph is then unchanged.
    pub fn set_enabled(&mut self, node: NodeId, enabled: bool) -> Result<()> {
        let index = self.graph.check_node(node)?;
        self.enable(index, enabled)
    }

    /// Requests that a node runs, or does not.
    pub(in crate::graph) fn enable(&mut self, node: usize, enabled: bool) -> Result<()> {
        enable::check_kind(self.graph, node)?;
        self.batch.enable(node, enabled);
        Ok(())
    }

    /// Changes the launch dimensions of a kernel node, and no argument: see
    /// [`NodeHandle::set_launch`](crate::NodeHandle::set_launch).
    ///
    /// # Errors
    /// The errors of [`NodeHandle::set_launch`](crate::NodeHandle::set_launch). The graph is then unchanged.
    pub fn set_launch(&mut self, node: NodeId, grid: impl Dimensions, block: impl Dimensions) -> Result<()> {
        let index = self.graph.check_node(node)?;
        let (grid, block) = (Some(grid.dimensions()), Some(block.dimensions()));
        self.choose(
            index,
            ChosenLaunch {
                grid,
                block,
                shared: None,
            },
        )
    }

    /// Requests launch dimensions for a node.
    pub(in crate::graph) fn choose(&mut self, node: usize, chosen: ChosenLaunch) -> Result<()> {
        check_choice(self.graph, node)?;
        self.batch.launch(node, chosen);
        Ok(())
    }

    /// The facts of a kernel, with all that its PTX tells: of a CUDA source, it was compiled when the graph was built.
    fn resolve(&self, node: usize, facts: &'static KernelFacts) -> Result<&'static KernelFacts> {
        let graph = self.graph;
        resolve(facts, || graph.device_used().backend.architecture()).map_err(|unresolved| {
            let name = &graph.data.draft.nodes[node].name;
            unresolved.error(&graph.data.draft.name, node, name, facts.source.path())
        })
    }

    /// Changes each node of a declaration of `cuda_graph!` in loops. `change` gets the numbers of the node's
    /// iterations, from the outermost loop inwards.
    ///
    /// # Errors
    /// The errors of `change`.
    #[doc(hidden)]
    pub fn each<const DEPTH: usize>(
        &mut self,
        declared: usize,
        mut change: impl FnMut(&mut Self, [usize; DEPTH]) -> Result<()>,
    ) -> Result<()> {
        let (graph, child) = (self.graph, self.child);
        let nodes = graph.data.declared_nodes.of(child).into_iter();
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
    #[inline]
    pub(crate) fn declared(&self, declared: usize) -> NodeId {
        self.reached.set(Some(declared));
        self.node_of(declared)
    }

    #[inline]
    fn node_of(&self, declared: usize) -> NodeId {
        let current = self.current.map(|(node, _)| node);
        let node = current.or_else(|| self.graph.data.declared_nodes.find(self.child, declared, &[]));
        NodeId::new(node.unwrap_or(usize::MAX))
    }

    /// Fails unless the node of this declaration was asked for since the last call. An expression that is left by a
    /// hidden `return` ends the node's function before it gets there.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the name of the node.
    #[inline]
    #[doc(hidden)]
    pub fn check_reached(&self, declared: usize) -> Result<()> {
        match self.reached.take() == Some(declared) {
            true => Ok(()),
            false => self.not_reached(declared),
        }
    }

    #[cold]
    fn not_reached(&self, declared: usize) -> Result<()> {
        let draft = &self.graph.data.draft;
        let index = self.graph.check_node(self.node_of(declared))?;
        let text = format!("node `{}` is left out of the change", draft.nodes[index].name);
        let diagnostic = Diagnostic::new(Code::Syntax, Subject::Node(index), text)
            .note("an expression was left before its node was complete: by `return` in a macro")
            .help("end the change with an error by `?`, or choose between values by `if`");
        Err(Error::mistake(&draft.name, diagnostic))
    }

    /// The number of the current iteration of the `for` that has `depth` others around it.
    pub(crate) fn iteration(&self, depth: usize) -> usize {
        let number = self.current.and_then(|(_, values)| values.get(depth));
        number.copied().unwrap_or_default()
    }

    /// The site of errors about a node.
    pub(in crate::graph) fn site(&self, node: usize) -> Site {
        let draft = &self.graph.data.draft;
        Site::graph(&draft.name).at_node(&draft.nodes[node].name)
    }

    pub(in crate::graph) fn push(
        &mut self,
        node: usize,
        work: Work,
        arguments: Vec<Argument>,
        declared: Option<Launch>,
    ) -> Result<()> {
        let Graph { data, executable, .. } = self.graph;
        executable.check_change(&data.draft, &data.program, node, &work)?;
        self.batch.work.push(Change {
            node,
            work,
            arguments,
            declared: declared.map(Box::new),
        });
        Ok(())
    }
}

/// Refuses nodes whose launch dimensions no handle may choose.
pub(in crate::graph) fn check_choice(graph: &Graph, node: usize) -> Result<()> {
    let site = || graph.site().at_node(&graph.data.draft.nodes[node].name);
    let Some(kernel) = graph.data.program.ops[node].kernel() else {
        return Err(unsupported(site(), "the node launches no kernel"));
    };
    // A `safe fn` is sound for all dimensions that satisfy its contracts (U1 of `docs/safety.md`). The author of an
    // `unsafe` node has promised nothing about others than those of its declaration (U2).
    match graph.data.program.functions[kernel.function as usize].safe {
        true => Ok(()),
        false => Err(unsupported(
            site(),
            "its kernel is not declared `safe`, so its author has promised nothing about other launch dimensions; \
             make them a `param`, which the `unsafe` of the node covers",
        )),
    }
}

/// Whether a launch asks for no attributes but those with which the node was built.
#[inline]
fn keeps_attributes(launch: &Launch, built: &KernelOp) -> bool {
    let same_cluster = launch.cluster.is_none() || launch.request().cluster_blocks() == built.cluster();
    same_cluster && (!launch.cooperative || built.is_cooperative())
}

pub(in crate::graph) fn unsupported(site: Site, message: &'static str) -> Error {
    Error::Unsupported { site, message }
}

/// Runs `f`, and makes the changes that it requested if it returns `Ok`; in an edit, when that ends. See
/// [`Graph::update`].
pub(crate) fn update(
    graph: &mut Graph,
    what: &'static str,
    f: impl FnOnce(&mut Update<'_>) -> Result<()>,
) -> Result<()> {
    let is_part = graph.is_in_edit()?;
    let mut batch = Batch::default();
    match collect(graph, &mut batch, f) {
        Ok(()) if is_part => graph.request(batch),
        Ok(()) => return commit(graph, what, &mut batch),
        Err(error) => return graph.refuse(error),
    }
    Ok(())
}

/// Adds the changes that `f` requests to a batch.
#[inline]
pub(in crate::graph) fn collect<'g>(
    graph: &'g Graph,
    batch: &'g mut Batch,
    f: impl FnOnce(&mut Update<'g>) -> Result<()>,
) -> Result<()> {
    f(&mut Update {
        graph,
        batch,
        current: None,
        child: None,
        reached: Cell::new(None),
    })
}
