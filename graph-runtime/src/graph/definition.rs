//! Definitions: graphs that are checked, but not yet executable. One makes several graphs, or changes a graph as a
//! whole.

mod ranks;
mod shape;

use crate::backend::executable::{Executable, Updated};
use crate::devices::options::{DebugOptions, InstantiateOptions};
use crate::driver::CUgraph;
use crate::error::{Error, Result, Site};
use crate::graph::dump::dump;
use crate::graph::{Graph, GraphData};
use crate::ownership::blueprint::{Blueprint, Programmatic};
use crate::program::array::ArrayForm;
use crate::program::capture::BoxError;
use crate::program::communicator::seat::Seats;
use crate::program::{External, Op};
use graph_plan::{Lists, Nest, Outcome, Plan};
use std::fmt;
use std::mem;
use std::path::Path;
use std::sync::Arc;

/// A graph that is checked, but not yet executable: the definition of one or several graphs of type `G`.
/// [`GraphBuilder::define`](crate::GraphBuilder::define) makes it, and so does the `define` of a declared graph, which
/// takes what `build` takes.
///
/// Each executable graph has memory of its own. They share what others share with them: the memory that was given to
/// `build` or [`GraphBuilder::shared`](crate::GraphBuilder::shared), events, and the closures of `call` nodes, of which
/// one runs at a time. Places and nodes of the builder are those of all graphs of the definition.
///
/// ```
/// use graph_runtime::{Device, GraphBuilder, InstantiateOptions};
///
/// let mut builder = GraphBuilder::new(&Device::emulator(), "Copies");
/// let input = builder.host::<[f32; 4]>("input");
/// let mut output = builder.device::<[f32; 4]>("output");
/// builder.memcpy("upload", &input, &mut output);
///
/// let mut definition = builder.define()?;
/// assert_eq!(definition.plan().nodes.len(), 1);
/// let mut first = definition.instantiate(InstantiateOptions::default())?;
/// let mut second = definition.instantiate(InstantiateOptions { upload: false, ..Default::default() })?;
/// *first.host_mut(&input)? = [1.0; 4];
/// *second.host_mut(&input)? = [2.0; 4];
/// first.launch()?;
/// second.launch()?;
/// assert_eq!(*first.device(&output)?.read()?, [1.0; 4]);
/// assert_eq!(*second.device(&output)?.read()?, [2.0; 4]);
/// # Ok::<(), graph_runtime::Error>(())
/// ```
#[must_use = "a definition runs nothing: `instantiate` makes a graph of it"]
pub struct Definition<G = Graph> {
    executables: Executables,
    make: Box<dyn Make<G>>,
}

/// A checked graph, and the executables that are made of it.
struct Executables {
    checked: Checked,
    /// The next executable, if it is prepared.
    prepared: Option<Executable>,
    /// The number of executables that were prepared.
    count: usize,
    changes: Vec<Change>,
    /// The part of the next executable in the meetings of its ranks.
    seats: Arc<Seats>,
}

/// A change of the CUDA graph of each executable, before it is instantiated.
type Change = Box<dyn FnMut(CUgraph) -> Result<(), BoxError> + Send>;

/// A function that makes a typed graph of a built one.
trait Make<G>: Send {
    /// Copies the values that the typed graph keeps, which is code of the user, and returns the function itself.
    fn prepare<'a>(&'a self) -> Box<dyn FnOnce(Graph) -> G + 'a>;
}

impl<G, F: FnOnce(Graph) -> G + Clone + Send> Make<G> for F {
    fn prepare<'a>(&'a self) -> Box<dyn FnOnce(Graph) -> G + 'a> {
        Box::new(self.clone())
    }
}

/// A graph that has passed every check that needs no device.
pub(crate) struct Checked {
    pub(crate) data: GraphData,
    pub(crate) order: Nest,
    /// The direct predecessors of each node, after transitive reduction.
    pub(crate) after: Lists<u32>,
    pub(crate) programmatic: Programmatic,
    /// The form of each resource that is an array; empty if there are none.
    pub(crate) arrays: Vec<Option<ArrayForm>>,
    /// A resource whose memory may belong to one graph only.
    pub(crate) unique: Option<usize>,
    pub(crate) debug: Option<DebugOptions>,
    /// The newest CUDA version of a driver to build for.
    pub(crate) driver: u32,
}

impl Checked {
    fn site(&self) -> Site {
        Site::graph(&self.data.draft.name)
    }
}

/// The direct predecessors of each node of a graph, after transitive reduction.
pub(crate) fn predecessors(draft: &graph_plan::Draft, outcome: &Outcome) -> Lists<u32> {
    Lists::new(draft.nodes.len(), || {
        outcome.reduced(draft).map(|edge| (edge.to, edge.from as u32))
    })
}

impl Definition {
    pub(crate) fn new(checked: Checked) -> Self {
        let executables = Executables {
            checked,
            prepared: None,
            count: 0,
            changes: Vec::new(),
            seats: Arc::default(),
        };
        let make = Box::new(|graph| graph);
        Self { executables, make }
    }

    /// The definition of graphs that `make` makes of the built ones.
    pub(crate) fn of<G>(self, make: impl FnOnce(Graph) -> G + Clone + Send + 'static) -> Definition<G> {
        Definition {
            executables: self.executables,
            make: Box::new(make),
        }
    }
}

impl<G> Definition<G> {
    /// The name of the graph.
    pub fn name(&self) -> &str {
        &self.executables.checked.data.draft.name
    }

    /// The graph as data, as [`Graph::plan`] returns it.
    pub fn plan(&self) -> Plan {
        self.executables.checked.data.plan()
    }

    /// Makes a graph with memory of its own.
    ///
    /// # Errors
    /// * [`Error::Unsupported`] for [options](InstantiateOptions) that exclude each other, or that the device or a node
    ///   does not allow; for a second graph of a definition with a `raw` node, whose closure runs only once;
    /// * [`Error::Module`], [`Error::Kernel`] if the device cannot load the PTX, or cannot launch a kernel as asked;
    /// * [`Error::Node`] if the closure of a `capture` or `raw` node, or of [`Definition::change`], fails;
    /// * [`Error::Peer`] if the graph has communicators, and another rank does not build the same graph in time;
    /// * [`Error::OutOfMemory`] and [`Error::Cuda`] from the device.
    pub fn instantiate(&mut self, options: InstantiateOptions) -> Result<G> {
        let executable = self.executables.next(options)?;
        let data = &mut self.executables.checked.data;
        let graph = Graph::new(data.clone(), executable);
        data.shared.set_pool(None); // the share is the graph's
        Ok(self.make.prepare()(graph))
    }

    /// Makes the last graph of the definition, with the default options.
    ///
    /// # Errors
    /// As [`Definition::instantiate`].
    pub fn build(mut self) -> Result<G> {
        let executable = self.executables.next(InstantiateOptions::default())?;
        Ok(self.make.prepare()(Graph::new(
            self.executables.checked.data,
            executable,
        )))
    }

    /// The `CUgraph` that the next graph will be instantiated from, for calls of the driver that look at it; `None` on
    /// the emulator and in [debug mode](crate::Device::with_debug). The first call allocates its memory, loads its
    /// kernels and adds its nodes. It lives as long as the definition or the graph that is made of it.
    ///
    /// Calls that change it are `unsafe`, and must do what [`Definition::change`] asks.
    ///
    /// # Errors
    /// As [`Definition::instantiate`].
    pub fn raw(&mut self) -> Result<Option<CUgraph>> {
        Ok(self.executables.prepare()?.raw().map(|(graph, ..)| graph))
    }

    /// Changes the `CUgraph` of each later graph by calls of the driver, after all nodes have been added and before it
    /// is instantiated. An error of `change` becomes that of [`Definition::instantiate`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] on the emulator and in [debug mode](crate::Device::with_debug), which have no such graph.
    ///
    /// # Safety
    ///
    /// * The nodes of the definition stay, each of its kind and after all nodes that it came after.
    /// * In every launch, its nodes touch only the memory that they touch without the change, as before; and the nodes
    ///   that `change` adds touch only memory that nothing else uses at the same time and that lives as long as the
    ///   graph. That holds for each of the graphs.
    /// * Later changes of the graph (params, rebinding, disabling nodes) set the values of its nodes again: the above
    ///   holds with those, too.
    pub unsafe fn change(
        &mut self,
        change: impl FnMut(CUgraph) -> Result<(), BoxError> + Send + 'static,
    ) -> Result<()> {
        let checked = &self.executables.checked;
        if checked.data.device.is_emulator() || checked.debug.is_some() {
            return Err(Error::Unsupported {
                site: checked.site(),
                message: "on the CPU emulator and in debug mode there is no CUDA graph to change",
            });
        }
        self.executables.changes.push(Box::new(change));
        Ok(())
    }

    /// Writes the graph as a DOT file: on CUDA with all that the driver knows of its nodes (`cuGraphDebugDotPrint`,
    /// verbose), else as [`Plan::to_dot`] draws it.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be written; as [`Definition::raw`].
    pub fn debug_dump(&mut self, path: impl AsRef<Path>) -> Result<()> {
        self.executables.prepare()?;
        let Executables { prepared, checked, .. } = &self.executables;
        let mut prepared = prepared.iter();
        prepared.try_for_each(|executable| dump(executable, &checked.data, path.as_ref()))
    }

    /// Makes a graph another one, which has its executable graph if CUDA can change that: see [`Graph::update_from`].
    /// `inner` returns the runtime's graph.
    pub(crate) fn replace(mut self, old: &mut G, inner: impl Fn(&mut G) -> &mut Graph) -> Result<Updated> {
        let graph = inner(old);
        graph.check_replaceable()?;
        // After a change that failed half-way, nobody knows which nodes CUDA skips.
        let like = self.executables.order_like(graph)? && graph.is_whole();
        let mut executable = self.executables.changed()?;
        let make = self.make.prepare();
        let blueprint = self.executables.blueprint();
        let before = graph.begin_change("the whole graph", Vec::new());
        let Graph {
            data,
            executable: old_executable,
            ..
        } = &mut *graph;
        match executable.update_from(&blueprint, old_executable, (&data.draft, &data.program), like) {
            Ok(updated) => {
                self.executables.checked.data.follow(data);
                let new = make(Graph::new(self.executables.checked.data, executable));
                // The destructors of the old graph are code of the user, too.
                drop(mem::replace(old, new));
                Ok(updated)
            }
            Err(error) => {
                drop(executable);
                if graph.executable.restore(&graph.data.draft, &graph.data.program).is_ok() {
                    graph.state = before;
                }
                Err(error)
            }
        }
    }
}

impl Executables {
    fn blueprint(&self) -> Blueprint<'_> {
        let Checked { data, .. } = &self.checked;
        Blueprint {
            draft: &data.draft,
            program: &data.program,
            order: &self.checked.order,
            after: &self.checked.after,
            programmatic: &self.checked.programmatic,
            layouts: &data.layouts,
            delays: data.device.delays,
            debug: self.checked.debug,
            driver: self.checked.driver,
            shared: &data.shared,
            arena: &data.arena,
            variables: &data.variables,
            arrays: &self.checked.arrays,
            seats: &self.seats,
            changed: !self.changes.is_empty(),
            bodies: data.device.bodies,
            uploads: data.device.uploads,
        }
    }

    /// Makes the next executable, up to its instantiation, unless that was done.
    fn prepare(&mut self) -> Result<&Executable> {
        let prepared = self.take_prepared()?;
        Ok(self.prepared.insert(prepared))
    }

    fn take_prepared(&mut self) -> Result<Executable> {
        if let Some(prepared) = self.prepared.take() {
            return Ok(prepared);
        }
        let data = &self.checked.data;
        if self.count > 0 {
            self.refuse_another()?;
        }
        self.count += 1;
        let pool = data.device.pool.as_ref();
        let share = pool.map(|pool| pool.share(self.checked.site(), data.label(), &data.device.backend));
        self.checked.data.shared.set_pool(share.transpose()?);
        self.seats = Arc::new(ranks::seats(&self.checked));
        let stations = ranks::stations(&self.checked);
        self.checked.data.shared.set_stations(stations);
        // NCCL's calls are those of all ranks, so their graphs are compared before.
        let joins_first = self.seats.is_by_nccl();
        if joins_first {
            ranks::join(&self.seats, &self.checked)?;
        }
        let data = &self.checked.data;
        let prepared = Executable::prepare(&data.device.backend, &self.blueprint());
        let executable = prepared.inspect_err(|error| match joins_first {
            true => self.seats.give_up(&error.to_string()),
            false => self.seats.refuse(&error.to_string()),
        })?;
        if !joins_first {
            ranks::join(&self.seats, &self.checked)?;
        }
        executable.joined(&self.blueprint())?;
        let mut rngs = data.rngs.iter();
        rngs.try_for_each(|rng| rng.begin(&data.draft, executable.storage()))?;
        Ok(executable)
    }

    /// Refuses a second executable of a definition that makes one.
    fn refuse_another(&self) -> Result<()> {
        let Checked { data, unique, .. } = &self.checked;
        let mut others = data.program.others();
        if let Some((node, _)) = others.find(|(_, op)| matches!(op, Op::External(External::Raw(_)))) {
            return Err(Error::Unsupported {
                site: self.checked.site().at_node(&data.draft.nodes[node].name),
                message: "the closure of a `raw` node runs once, so its definition makes one graph",
            });
        }
        unique.map_or(Ok(()), |resource| {
            Err(Error::Unsupported {
                site: self.checked.site().at_memory(&data.draft.resources[resource].name),
                message: "the memory was moved into one graph, so its definition makes one",
            })
        })
    }

    /// The next executable, prepared, with the user's changes.
    fn changed(&mut self) -> Result<Executable> {
        let executable = self.take_prepared()?;
        if let Some((graph, ..)) = executable.raw() {
            for change in &mut self.changes {
                change(graph).map_err(|error| Error::Node {
                    site: self.checked.site(),
                    message: format!("the closure of `Definition::change` failed: {error}"),
                })?;
            }
        }
        Ok(executable)
    }

    /// The next executable, instantiated.
    fn next(&mut self, options: InstantiateOptions) -> Result<Executable> {
        let backend = &self.checked.data.device.backend;
        Executable::check_options(backend, &self.blueprint(), options)?;
        let mut executable = self.changed()?;
        let instantiated = executable.instantiate(&self.blueprint(), options);
        instantiated.inspect_err(|error| self.seats.give_up(&error.to_string()))?;
        ranks::ready(&self.seats, &self.checked)?;
        Ok(executable)
    }

    /// Fails if `old` has another shape than the definition. Otherwise orders the nodes as those of `old` were, unless
    /// they have been added. Returns whether they are ordered so: CUDA pairs nodes by the order of their addition.
    fn order_like(&mut self, old: &Graph) -> Result<bool> {
        let checked = &mut self.checked;
        if checked.data.device.backend.context() != old.device_used().backend.context() {
            return Err(Error::OtherShape {
                site: old.site(),
                message: "the definition is for another device".to_owned(),
            });
        }
        let outcome = graph_plan::check_errors(&old.data.draft);
        let after = predecessors(&old.data.draft, &outcome);
        let ours = (&checked.data.draft, &checked.after, &checked.programmatic);
        let theirs = (
            &old.data.draft,
            &after,
            &Programmatic::of(&old.data.draft, &old.data.program),
        );
        if let Some((node, message)) = shape::difference(theirs, ours) {
            let site = match node {
                Some(node) => old.site().at_node(&old.data.draft.nodes[node].name),
                None => old.site(),
            };
            return Err(Error::OtherShape { site, message });
        }
        if self.prepared.is_some() {
            return Ok(shape::is_ordered_like(
                (&outcome.order, &after),
                (&checked.order, &checked.after),
            ));
        }
        (checked.order, checked.after) = (outcome.order, after);
        Ok(true)
    }
}

impl Graph {
    /// Makes this graph another one of the same nodes and edges, without instantiating that: later launches use the
    /// memory, the kernels, the values and the closures of `definition`. On CUDA the executable graph is changed in
    /// place by `cuGraphExecUpdate` if CUDA can, else made anew; the result says which.
    ///
    /// Waits for launches in flight. The old memory is then freed, and the new memory is as after
    /// [`GraphBuilder::build`](crate::GraphBuilder::build). Places and nodes are those of the definition's builder from
    /// now on. Those from before stay valid, too, if the definition has memory of the same names, kinds and sizes, and
    /// nodes of the same names; host memory that is shared must also be the same.
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder, Updated};
    ///
    /// let device = Device::emulator();
    /// let fill = |len: usize, value: f32| {
    ///     let mut builder = GraphBuilder::new(&device, "Fill");
    ///     let mut data = builder.device_slice::<f32>("data", len);
    ///     builder.memset("fill", &mut data, value);
    ///     Ok::<_, graph_runtime::Error>((builder.define()?, data))
    /// };
    /// let (definition, _) = fill(4, 1.0)?;
    /// let mut graph = definition.build()?;
    /// let (longer, data) = fill(8, 2.0)?;
    /// assert_eq!(graph.update_from(longer)?, Updated::InPlace);
    /// graph.launch()?;
    /// assert_eq!(graph.device(&data)?.read_vec()?, [2.0; 8]);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// CUDA changes neither graphs with conditional nodes in place, nor copies of rows that lie apart, nor what its
    /// documentation of `cuGraphExecUpdate` excepts.
    ///
    /// # Errors
    /// After these, the graph is as before:
    ///
    /// * [`Error::OtherShape`] if the definition has other nodes or edges, or is for another device; it names the first
    ///   node that differs;
    /// * the errors of [`Definition::instantiate`].
    ///
    /// * [`Error::Unsupported`] in an [edit](Graph::edit).
    ///
    /// If CUDA has failed to change the graph, and then fails to instantiate either, [`Graph::launch`] returns
    /// [`Error::HalfUpdated`] until a change of the graph succeeds. So it does after a panic of code of the user.
    pub fn update_from(&mut self, definition: Definition) -> Result<Updated> {
        definition.replace(self, |graph| graph)
    }
}

impl<G> fmt::Debug for Definition<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GraphData { draft, device, .. } = &self.executables.checked.data;
        write!(f, "Definition({}, {} nodes, {device:?})", draft.name, draft.nodes.len())
    }
}
