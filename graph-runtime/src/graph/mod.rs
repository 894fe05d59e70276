//! A built graph: launching it, waiting for it, and its memory.

mod rerun;
pub(crate) mod definition;
pub(crate) mod captured_graph;
mod report;
pub(crate) mod lift;
pub(crate) mod advice;
mod measure;
pub(crate) mod profile;
pub(crate) mod rng;
pub(crate) mod set_param;
pub(crate) mod dump;
pub(crate) mod tool_id;
mod saved;
mod reset;
mod mapped_access;
pub(crate) mod handle;
pub(crate) mod change;
pub(crate) mod node;
pub(crate) mod host_split;
pub(crate) mod future;

use crate::backend::executable::Executable;
use crate::device::Device;
use crate::driver::{CUgraph, CUgraphExec, CUstream, CudaStream};
use crate::error::{At, Error, Result, Site, mistakes};
use crate::graph::change::edit::{EditResult, Requests};
use crate::graph::change::state::{Instance, State};
use crate::graph::change::update::Update;
use crate::graph::future::LaunchFuture;
use crate::graph::handle::NodeHandle;
use crate::graph::host_split::HostSplit;
use crate::graph::node::NodeId;
use crate::graph::profile::Profile;
use crate::graph::rng::{BuiltRng, Rng, RngHandle};
use crate::in_flight::lock::Lock;
use crate::in_flight::uses::Patience;
use crate::kernel::Launch;
use crate::memory::{DeviceMut, DeviceRef, HostMut, HostRef};
use crate::ownership::block::{Piece, SharedMemory};
use crate::ownership::host_memory::HostMemory;
use crate::ownership::shared_resources::SharedResources;
use crate::ownership::storage::Storage;
use crate::program::declared_nodes::AllDeclaredNodes;
use crate::program::params::DeclaredParam;
use crate::program::scratch::Arena;
use crate::program::{External, ModuleMemory, Op, Program};
use crate::shape::builders::Builders;
use crate::shape::part::Layout;
use crate::shape::place::{OnDevice, OnHost, Place, Selected, Span};
use crate::shape::table::{Table, TableMut, TableRef};
use crate::shape::{Element, Extent};
use graph_plan::{Access, Draft, Plan, PlanLaunch};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::panic::UnwindSafe;
use std::ptr::NonNull;

/// A graph that is ready to launch, with the memory that it owns. [`GraphBuilder::build`](crate::GraphBuilder::build)
/// makes it.
///
/// Launches are asynchronous; accessors wait for them. The references and views that accessors lend borrow the graph,
/// so that it cannot be launched while they live:
///
/// ```compile_fail,E0502
/// # use graph_runtime::{Device, GraphBuilder};
/// # let mut builder = GraphBuilder::new(&Device::emulator(), "Test");
/// # let input = builder.host::<[f32; 4]>("input");
/// # let mut graph = builder.build()?;
/// let numbers = graph.host(&input)?;
/// graph.launch()?;                    // error: cannot borrow `graph` as mutable
/// println!("{numbers:?}");
/// # Ok::<(), graph_runtime::Error>(())
/// ```
///
/// A graph may move to another thread, but threads do not share one:
///
/// ```compile_fail,E0277
/// fn share<T: Sync>(_: &T) {}
/// # use graph_runtime::{Device, GraphBuilder};
/// # let graph = GraphBuilder::new(&Device::emulator(), "Test").build()?;
/// share(&graph);                      // error: `Graph` cannot be shared between threads safely
/// # Ok::<(), graph_runtime::Error>(())
/// ```
///
/// Dropping a graph waits for launches in flight. Forgetting one (`mem::forget`) frees nothing, so that launches in
/// flight still find their memory.
pub struct Graph {
    pub(crate) data: GraphData,
    pub(crate) executable: Executable,
    state: State,
    instance: Instance,
    /// The changes that the edit whose closure is running has requested; else the room for those of the next one.
    requests: Option<Box<Requests>>,
    /// The launches by declaration of kernel nodes whose dimensions handles have chosen.
    pub(crate) chosen: BTreeMap<usize, Launch>,
    /// The last profile, for [`Graph::advice`].
    profiled: Option<Box<Profile>>,
    /// The last error of a kernel on a GPU as CUDA tells it, and the notes about it: see [`Graph::explained`].
    explained: Lock<Option<(String, &'static str)>>,
    /// Keeps `Graph` from being `Sync`: waiting through `&self` does not work for several threads at the same time.
    not_sync: PhantomData<dyn UseAMutexToShareAGraph>,
}

/// A marker whose name stands in rustc's message about a graph that several threads share. It is `Send`, not `Sync`.
trait UseAMutexToShareAGraph: Send + Unpin + UnwindSafe {}

/// A checked graph as data: all that a [`Graph`] has besides its executable form.
#[derive(Clone)]
pub(crate) struct GraphData {
    pub(crate) device: Device,
    /// The builders whose places and nodes are the graph's. Every place carries the id of its own, so that a place of
    /// another graph is refused.
    pub(crate) builders: Builders,
    pub(crate) draft: Draft,
    /// The build arguments, in parentheses, if reports name them.
    pub(crate) arguments: Box<str>,
    pub(crate) layouts: Vec<Option<Layout>>,
    pub(crate) shared: SharedResources,
    pub(crate) arena: Arena,
    pub(crate) program: Program,
    pub(crate) declared_nodes: AllDeclaredNodes,
    pub(crate) rngs: Vec<BuiltRng>,
    /// The variables of modules that the author declares as memory.
    pub(crate) variables: Vec<ModuleMemory>,
    /// The params of the builder, with the values that they have.
    pub(crate) params: Vec<DeclaredParam>,
}

impl GraphData {
    /// The name of the graph in reports.
    pub(crate) fn label(&self) -> String {
        format!("{}{}", self.draft.name, self.arguments)
    }

    /// Whether places, nodes and params of another graph mean the same in this one: both have memory of the same names,
    /// kinds and sizes, nodes of the same names, and params of the same names and types. Where a place is of host
    /// memory that graphs share, the host borrows it as the type of the place; so both must have the very same memory
    /// there, which is aligned for that type.
    fn means_the_same(&self, other: &Self) -> bool {
        let resources = |data: &Self| data.draft.resources.len();
        let (ours, theirs) = (&self.draft, &other.draft);
        let shared = |data: &Self| data.shared.by_resource(resources(data));
        let same_shared = |pair: (Option<SharedMemory>, Option<SharedMemory>)| match pair {
            (None, None) | (Some(SharedMemory::Device(_)), Some(SharedMemory::Device(_))) => true,
            (Some(host @ SharedMemory::Host(_)), Some(other)) => host.is_same(&other),
            (Some(_), _) | (None, Some(_)) => false,
        };
        let mut memory = ours.resources.iter().zip(&theirs.resources);
        let mut nodes = ours.nodes.iter().zip(&theirs.nodes);
        let mut params = self.params.iter().zip(&other.params);
        resources(self) == resources(other)
            && ours.nodes.len() == theirs.nodes.len()
            && self.layouts == other.layouts
            && memory.all(|(one, other)| (&one.name, one.memory) == (&other.name, other.memory))
            && nodes.all(|(one, other)| one.name == other.name)
            && self.params.len() == other.params.len()
            && params.all(|(one, other)| one.is_like(other))
            && shared(self).into_iter().zip(shared(other)).all(same_shared)
    }

    /// Takes the places and nodes of a graph that this one replaces, if they mean the same here.
    pub(crate) fn follow(&mut self, replaced: &Self) {
        if self.means_the_same(replaced) {
            self.builders.follow(&replaced.builders);
        }
    }

    /// The graph with drawings of it.
    pub(crate) fn plan(&self) -> Plan {
        let outcome = graph_plan::check_errors(&self.draft);
        let bytes = |resource: usize| self.layouts[resource].map_or(0, |layout| layout.bytes);
        let ops = self.program.ops.iter().enumerate();
        let launches = ops.filter_map(|(node, op)| {
            let kernel = op.kernel()?;
            let facts = self.program.functions[kernel.function as usize].facts;
            let (kernel, config) = (facts.name.into(), kernel.config);
            Some((node, PlanLaunch { kernel, config }))
        });
        let plan = Plan::of(&self.draft, &outcome, bytes)
            .with_arena(self.arena.offsets.iter().copied())
            .with_launches(launches)
            .with_views(&self.shared.views(&self.device.backend));
        let file = saved::file(self, &plan);
        plan.with_file(file)
    }
}

/// The driver's own handles of a graph: see [`Graph::raw`].
#[derive(Clone, Copy, Debug)]
pub struct RawGraph {
    /// The graph to which the nodes were added.
    pub graph: CUgraph,
    /// The executable graph, which launches start.
    pub exec: CUgraphExec,
    /// The graph's own stream, on which [`Graph::launch`] starts it.
    pub stream: CUstream,
}

impl Graph {
    /// The graph of an executable that was made of `data`, and whose random numbers have been started.
    pub(crate) fn new(mut data: GraphData, executable: Executable) -> Self {
        // Closures of captures may run again, and take more.
        let mut others = data.program.others();
        let takes_more = others.any(|(_, op)| matches!(op, Op::External(External::Capture(_))));
        drop(others);
        if !takes_more && data.shared.pool().is_some_and(|share| share.bytes() == 0) {
            data.shared.set_pool(None); // launches need not claim it
        }
        Self {
            data,
            executable,
            state: State::Whole,
            instance: Instance::next(),
            requests: None,
            chosen: BTreeMap::new(),
            profiled: None,
            explained: Lock::default(),
            not_sync: PhantomData,
        }
    }

    /// The graph's name.
    pub fn name(&self) -> &str {
        &self.data.draft.name
    }

    /// Starts the graph and returns without waiting for it. It may be started again at once: launches run one after the
    /// other.
    ///
    /// On the emulator the graph has run when this returns (but not when [`Graph::launch_async`] does). As on CUDA, its
    /// errors are returned when somebody waits.
    /// In [debug mode](Device::with_debug) the graph has run, too, and this returns its errors as well.
    ///
    /// # Errors
    /// * [`Error::Cuda`] if the driver refuses; it may also report the error of an earlier launch;
    /// * [`Error::Fault`] in debug mode, if a node failed;
    /// * [`Error::HalfUpdated`] after a change that failed half-way, or that a panic has ended;
    /// * [`Error::InUse`] while a guard lends memory that the graph shares.
    #[inline]
    pub fn launch(&mut self) -> Result<()> {
        if !self.is_whole() {
            return Err(self.refusal());
        }
        if !self.data.shared.is_empty() {
            return self.launch_shared(None);
        }
        let launched = self.executable.launch(&self.data.draft, &self.data.program);
        launched.map_err(|error| self.explained(error))
    }

    /// Starts the graph on a stream of the same context, after the work that is queued there, and returns without
    /// waiting for it. Accessors wait for the launch, even if the stream has been destroyed by then.
    ///
    /// # Errors
    /// * [`Error::Stream`] if the stream is being captured or belongs to another context. No other thread should begin
    ///   or end a capture of this stream during the call: CUDA's driver may not survive that. If it begins one, that
    ///   capture becomes invalid; if it also ends it, the graph's memory may have to be kept for ever, and the graph
    ///   cannot be used any more then;
    /// * [`Error::Unsupported`] on the emulator;
    /// * as [`Graph::launch`].
    pub fn launch_on(&mut self, stream: &CudaStream) -> Result<()> {
        if !self.is_whole() {
            return Err(self.refusal());
        }
        let launched = if self.data.shared.is_empty() || self.data.device.is_emulator() {
            let launched = self.executable.launch_on(&self.data.draft, &self.data.program, stream);
            launched.map_err(|error| self.explained(error))
        } else {
            self.launch_shared(Some(stream))
        };
        if launched.is_err() && self.executable.is_captured() {
            self.state = State::Captured;
        }
        launched
    }

    /// Starts the graph as [`Graph::launch_on`] does, on a stream of any other bindings to CUDA: a `CUstream`, also a
    /// null one, or a `cudaStream_t`.
    ///
    /// # Safety
    ///
    /// The stream lives until this returns, and is of the context of the graph's device.
    ///
    /// # Errors
    /// As [`Graph::launch_on`].
    pub unsafe fn launch_on_raw(&mut self, stream: *mut c_void) -> Result<()> {
        let Some(context) = self.data.device.context() else {
            return Err(self.no_streams());
        };
        // SAFETY: by the caller's promise; the object is dropped when this returns.
        let stream = unsafe { context.wrap_borrowed_stream(stream.cast()) };
        self.launch_on(&stream)
    }

    /// The error of a launch on a stream, on the emulator.
    fn no_streams(&self) -> Error {
        Error::Unsupported {
            site: self.site(),
            message: "the CPU emulator has no streams",
        }
    }

    /// Starts the graph as [`Graph::launch`] does, and returns a future that resolves when this launch has ended. It
    /// needs no particular executor:
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder};
    /// use std::pin::pin;
    /// use std::sync::Arc;
    /// use std::task::{Context, Poll, Wake};
    /// use std::thread::{self, Thread};
    ///
    /// /// An executor for one future.
    /// fn block_on<F: Future>(future: F) -> F::Output {
    ///     struct Unpark(Thread);
    ///     impl Wake for Unpark {
    ///         fn wake(self: Arc<Self>) {
    ///             self.0.unpark();
    ///         }
    ///     }
    ///     let waker = Arc::new(Unpark(thread::current())).into();
    ///     let mut future = pin!(future);
    ///     loop {
    ///         match future.as_mut().poll(&mut Context::from_waker(&waker)) {
    ///             Poll::Ready(output) => return output,
    ///             Poll::Pending => thread::park(),
    ///         }
    ///     }
    /// }
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Ones");
    /// let mut data = builder.device::<[f32; 64]>("data");
    /// builder.memset("ones", &mut data, 1.0_f32);
    /// let mut graph = builder.build()?;
    /// block_on(async {
    ///     let first = graph.launch_async()?;
    ///     let second = graph.launch_async()?; // both are in flight
    ///     first.await?;
    ///     second.await
    /// })?;
    /// assert_eq!(*graph.device(&data)?.read()?, [1.0; 64]);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// On the emulator, the graph runs on a thread of its own. A launch waits for the one before.
    ///
    /// # Errors
    /// As [`Graph::launch`]. If CUDA cannot record the event of the future, the launch may be in flight all the same.
    pub fn launch_async(&mut self) -> Result<LaunchFuture> {
        self.launch_watched(None)
    }

    /// Starts the graph on a stream as [`Graph::launch_on`] does, and returns a future that resolves when this launch
    /// has ended.
    ///
    /// # Errors
    /// As [`Graph::launch_on`] and [`Graph::launch_async`].
    pub fn launch_async_on(&mut self, stream: &CudaStream) -> Result<LaunchFuture> {
        self.launch_watched(Some(stream))
    }

    fn launch_watched(&mut self, stream: Option<&CudaStream>) -> Result<LaunchFuture> {
        let GraphData {
            draft, program, shared, ..
        } = &self.data;
        if stream.is_none()
            && self.is_whole()
            && let Some(end) = self.executable.launch_on_thread(draft, program, shared)
        {
            return end.map(LaunchFuture);
        }
        let event = self.executable.end_event().at(|| self.site())?;
        match stream {
            Some(stream) => self.launch_on(stream),
            None => self.launch(),
        }?;
        let max_spin = self.data.device.max_spin;
        self.executable
            .end(&self.data.draft, event, stream, max_spin)
            .map(LaunchFuture)
    }

    /// Starts the graph on a user's stream or on its own, after conflicting uses of the memory that it shares.
    fn launch_shared(&mut self, stream: Option<&CudaStream>) -> Result<()> {
        let claims = self.data.shared.claim(&self.data.draft, Patience::of_this_thread())?;
        let launched = self
            .executable
            .launch_shared(&self.data.draft, &self.data.program, &claims, stream);
        drop(claims);
        launched.map_err(|error| self.explained(error))
    }

    /// Waits for all launches.
    ///
    /// # Errors
    /// * [`Error::Cuda`] if a launch failed on CUDA. Errors of kernels are sticky: every later call of CUDA returns
    ///   them. Once, the graph is then launched on the emulator, which may find the node and the line;
    /// * [`Error::Fault`] if the last launch failed on the emulator, or in debug mode;
    /// * [`Error::Panicked`] if a host function panicked since the last wait.
    pub fn synchronize(&self) -> Result<()> {
        let waited = self.executable.wait(&self.data.draft);
        waited.map_err(|error| self.explained(error))
    }

    /// Waits for all launches, and lends host memory to read.
    ///
    /// # Errors
    /// * As [`Graph::synchronize`];
    /// * [`Error::ForeignPlace`] if the place is another graph's, [`Error::OutOfBounds`] if it reaches outside;
    /// * [`Error::Unsupported`] for shared memory, which [`SharedHost`](crate::SharedHost) lends.
    pub fn host<S>(&self, place: &Place<S, OnHost>) -> Result<&S> {
        let pointer = self.host_pointer::<S>(place.span)?;
        // SAFETY: `host_pointer` has waited, and has checked that the place is this graph's. Only its builder makes
        // such places: this one is for an aligned, initialised `S: Element` in memory that lives as long as `self`.
        // While `self` is borrowed, no launch starts (it takes `&mut self`), and no `&mut` is lent.
        Ok(unsafe { pointer.as_ref() })
    }

    /// Waits for all launches, and lends host memory to read and write.
    ///
    /// # Errors
    /// As [`Graph::host`].
    pub fn host_mut<S>(&mut self, place: &Place<S, OnHost>) -> Result<&mut S> {
        let mut pointer = self.host_pointer::<S>(place.span)?;
        // SAFETY: as in `host`; `self` is borrowed exclusively.
        Ok(unsafe { pointer.as_mut() })
    }

    /// Waits for all launches, and lends host memory to read, whose length was fixed when the graph was built.
    ///
    /// # Errors
    /// As [`Graph::host`].
    pub fn host_slice<T: Element>(&self, place: &Place<[T], OnHost>) -> Result<&[T]> {
        let pointer = self.host_pointer::<[T]>(place.span)?;
        // SAFETY: as in `host`; the span is a whole number of elements.
        Ok(unsafe { pointer.as_ref() })
    }

    /// Waits for all launches, and lends host memory to read and write, whose length was fixed when the graph was
    /// built.
    ///
    /// # Errors
    /// As [`Graph::host`].
    pub fn host_slice_mut<T: Element>(&mut self, place: &Place<[T], OnHost>) -> Result<&mut [T]> {
        let mut pointer = self.host_pointer::<[T]>(place.span)?;
        // SAFETY: as in `host_slice`; `self` is borrowed exclusively.
        Ok(unsafe { pointer.as_mut() })
    }

    /// Waits for all launches, and lends host memory to read, whose lengths were fixed when the graph was built.
    ///
    /// # Errors
    /// As [`Graph::host`].
    pub fn host_table<T: Element, const D: usize>(
        &self,
        place: &Place<Table<T, D>, OnHost>,
    ) -> Result<TableRef<'_, T, D>> {
        let pointer = self.host_pointer::<[T]>(place.span)?;
        // SAFETY: as in `host_slice`.
        Ok(TableRef::new(unsafe { pointer.as_ref() }, &place.lengths))
    }

    /// Waits for all launches, and lends host memory to read and write, whose lengths were fixed when the graph was
    /// built.
    ///
    /// # Errors
    /// As [`Graph::host`].
    pub fn host_table_mut<T: Element, const D: usize>(
        &mut self,
        place: &Place<Table<T, D>, OnHost>,
    ) -> Result<TableMut<'_, T, D>> {
        let mut pointer = self.host_pointer::<[T]>(place.span)?;
        // SAFETY: as in `host_slice_mut`.
        Ok(TableMut::new(unsafe { pointer.as_mut() }, &place.lengths))
    }

    /// Waits for all launches, and lends host memory that the graph shares, to read, by a guard: see
    /// [`SharedHost::read`](crate::SharedHost::read).
    ///
    /// # Errors
    /// * As [`Graph::synchronize`];
    /// * [`Error::InUse`] while a guard lends it to write;
    /// * [`Error::ForeignPlace`] if the place is another graph's, [`Error::OutOfBounds`] if it reaches outside;
    /// * [`Error::Unsupported`] for a part of the memory, and for memory that the graph owns.
    pub fn shared_host<S: ?Sized + Extent>(&self, place: &Place<S, OnHost>) -> Result<HostRef<'_, S>> {
        let (piece, site) = self.shared_piece(place.span)?;
        HostRef::of(piece, place.lengths, || site)
    }

    /// Waits for all launches, and lends host memory that the graph shares, to read and write, by a guard: see
    /// [`SharedHost::write`](crate::SharedHost::write).
    ///
    /// # Errors
    /// As [`Graph::shared_host`]; [`Error::InUse`] while any other guard lends it.
    pub fn shared_host_mut<S: ?Sized + Extent>(&mut self, place: &Place<S, OnHost>) -> Result<HostMut<'_, S>> {
        let (piece, site) = self.shared_piece(place.span)?;
        HostMut::of(piece, place.lengths, || site)
    }

    /// Waits for all launches, and lends several pieces of host memory to read and write at the same time.
    ///
    /// # Errors
    /// As [`Graph::synchronize`].
    pub fn split_host(&mut self) -> Result<HostSplit<'_>> {
        self.synchronize()?;
        Ok(HostSplit::new(self))
    }

    /// Waits for all launches, and lends device memory to read.
    ///
    /// # Errors
    /// As [`Graph::host`], except that [`Error::Unsupported`] is for `scratch` memory: shared memory can be lent.
    pub fn device<S: ?Sized>(&self, place: &Place<S, OnDevice>) -> Result<DeviceRef<'_, S>> {
        let site = self.check_place(place.span)?;
        self.synchronize()?;
        let (Span { start, bytes, .. }, lengths) = (place.span, place.lengths);
        let part = Selected { start, bytes, lengths };
        match &self.executable.storage()[place.span.resource] {
            Storage::Device(memory) => Ok(DeviceRef::new(memory, part, site)),
            Storage::Shared(SharedMemory::Device(piece)) => Ok(DeviceRef::shared(piece, part, site)),
            Storage::Scratch(_) => Err(Error::Unsupported {
                site,
                message: "scratch memory keeps nothing after a launch; what is to be looked at then must be declared as `device`",
            }),
            _ => Err(Error::ForeignPlace { site }),
        }
    }

    /// Waits for all launches, and lends device memory to read and write.
    ///
    /// # Errors
    /// As [`Graph::device`].
    pub fn device_mut<S: ?Sized>(&mut self, place: &Place<S, OnDevice>) -> Result<DeviceMut<'_, S>> {
        self.device(place).map(DeviceMut)
    }

    /// Changes nodes in place, for later launches. `f` requests changes by calls of [`Update`], which check each. If
    /// `f` returns `Ok`, all changes are made; nodes that do not differ are left alone. Launches in flight keep the old
    /// nodes. `what` names the update in messages. In [an edit](Graph::edit), the changes are made when that ends.
    ///
    /// # Errors
    /// After each of these, the graph is unchanged:
    ///
    /// * the errors of `f`;
    /// * the errors of [`NodeHandle::set_enabled`] and [`Graph::rebind`] that depend on several changes;
    /// * [`Error::Cuda`] if the driver refuses a change. If it then also refuses to change the nodes back,
    ///   [`Graph::launch`] fails until an update has succeeded.
    pub fn update(&mut self, what: &'static str, f: impl FnOnce(&mut Update<'_>) -> Result<()>) -> Result<()> {
        change::update::update(self, what, f)
    }

    /// Makes several changes at once, all or none: `change` gets the graph, and requests them as it would make them
    /// outside of an edit, by [`Graph::update`], [`Graph::set`], [`Graph::rebind`], [`NodeHandle::set_enabled`] and
    /// [`NodeHandle::set_launch`]. They are checked together and made when it has returned, each node once, before the
    /// next launch. So only the state after all of them must be right: two buffers may change places.
    ///
    /// If a change is refused, none is made, also if `change` goes on after the error. `change` may return nothing, or
    /// a `Result`. While it runs, the graph does not launch, and methods that tell the state of nodes tell the old one.
    /// Changes of the contents of memory (`device_mut`, [`RngHandle::reseed`]) are made at once, and not undone. An
    /// edit in an edit is a part of that. While `change` runs, no other graph is changed on this thread: the edit could
    /// not undo that.
    ///
    /// ```
    /// # use graph_runtime::{Device, GraphBuilder};
    /// # let device = Device::emulator();
    /// # let [one, two] = [device.alloc::<[u32; 4]>()?, device.alloc::<[u32; 4]>()?];
    /// # let mut builder = GraphBuilder::new(&device, "Test");
    /// let mut data = builder.shared("data", &one, true);
    /// let first = builder.memset("first", &mut data, 1_u32);
    /// let second = builder.memset("second", &mut data, 2_u32);
    /// builder.after(second, &[first]);
    /// let mut graph = builder.build()?;
    /// graph.edit(|e| {
    ///     e.rebind(&data, &two)?;
    ///     e.node(second).set_enabled(false)
    /// })?;
    /// graph.launch()?;
    /// assert_eq!((*one.read()?, *two.read()?), ([0; 4], [1; 4]));
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// After each of these, the graph is unchanged:
    ///
    /// * the error of `change`, or else the first error of a change that it requested;
    /// * the errors of the changes that depend on several of them;
    /// * [`Error::Cuda`] if the driver refuses a change. If it then also refuses to change the nodes back,
    ///   [`Graph::launch`] fails until an edit has succeeded.
    pub fn edit<R: EditResult>(&mut self, change: impl FnOnce(&mut Self) -> R) -> Result<()> {
        change::edit::edit_nodes(self, |graph| graph, change)
    }

    /// Returns a handle to a node. If the graph has no such node, the handle has no name, and its methods that change
    /// the node return [`Error::UnknownNode`], or [`Error::ForeignNode`] for a node of another graph.
    pub fn node(&mut self, node: NodeId) -> NodeHandle<'_> {
        NodeHandle {
            graph: self,
            node,
            missing: None,
        }
    }

    /// Returns the node of this name, for [`Graph::node`] and updates. In a loop, the name has the numbers of the
    /// iterations: `step[2]`, as [`Graph::plan`] has it.
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder};
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Fill");
    /// let mut data = builder.device::<[f32; 4]>("data");
    /// builder.memset("fill", &mut data, 1.0_f32);
    /// let mut graph = builder.build()?;
    ///
    /// let fill = graph.find("fill")?;
    /// graph.update("value", |update| update.memset(fill, &data, 2.0_f32))?;
    /// graph.launch()?;
    /// assert_eq!(*graph.device(&data)?.read()?, [2.0; 4]);
    /// assert!(graph.find("fil").unwrap_err().to_string().contains("did you mean `fill`?"));
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] (`unknown-node`) if there is none.
    pub fn find(&self, name: &str) -> Result<NodeId> {
        let draft = &self.data.draft;
        match draft.nodes.iter().position(|node| node.name == name) {
            Some(index) => Ok(NodeId::of(self.data.builders.own(), index)),
            None => Err(Error::mistake(&draft.name, mistakes::no_node(draft, name))),
        }
    }

    /// Returns a handle to the random numbers that the builder declared as `rng`. If they are another graph's,
    /// [`RngHandle::reseed`] returns [`Error::ForeignPlace`].
    pub fn rng(&mut self, rng: &Rng) -> RngHandle<'_> {
        let own = self.data.builders.has(rng.graph);
        let mut rngs = self.data.rngs.iter();
        let index = rngs.position(|known| own && known.find(rng.resource).is_some());
        RngHandle { graph: self, index }
    }

    /// The graph as data: its nodes, their order, memory and launches, with drawings of it. Each iteration of a loop
    /// has nodes of its own here; the `PLAN` of a declared graph has them once.
    pub fn plan(&self) -> Plan {
        self.data.plan()
    }

    /// Whether a node uses scratch memory.
    pub(crate) fn touches_scratch(&self, node: usize) -> bool {
        let touches = |access: &Access| access.node == node && self.data.draft.is_scratch(access.resource);
        self.data.draft.accesses.iter().any(touches)
    }

    /// A message that says why nodes cannot be enabled or disabled so that those run for which `runs` is true, since
    /// scratch memory would be read uninitialized; `None` if they can.
    pub(crate) fn scratch_fault(&self, runs: impl Fn(usize) -> bool) -> Option<&'static str> {
        let data = &self.data;
        data.arena.fault(&data.draft, &data.layouts, &data.program, runs)
    }

    /// The device on which the graph runs.
    pub fn device_used(&self) -> &Device {
        &self.data.device
    }

    /// The driver's handles, for features of CUDA that this crate does not cover; `None` on the emulator, and in
    /// [debug mode](Device::with_debug), where no one graph has all nodes. They live as long as the graph, the
    /// executable graph only until the next [`Graph::rebind`] or update of a copy, and all of them only until the next
    /// [`Graph::update_from`]. After that, CUDA knows the nodes of the executable graph by those of the graph before.
    ///
    /// The `unsafe` calls that take the handles must know: nothing here waits for launches that are made with them, and
    /// a graph that is instantiated from [`RawGraph::graph`] uses the memory and the functions with which the nodes
    /// were built.
    pub fn raw(&self) -> Option<RawGraph> {
        let (graph, exec, stream) = self.executable.raw()?;
        Some(RawGraph { graph, exec, stream })
    }

    /// The index of a node, if the graph has it.
    pub(crate) fn check_node(&self, node: NodeId) -> Result<usize> {
        if node.is_foreign_to_all(&self.data.builders) {
            return Err(Error::ForeignNode {
                site: self.site(),
                node: node.words().map(Into::into),
            });
        }
        let (index, nodes) = (node.index(), self.data.draft.nodes.len());
        if index < nodes {
            return Ok(index);
        }
        Err(Error::UnknownNode {
            site: self.site(),
            index,
            nodes,
        })
    }

    pub(crate) fn site(&self) -> Site {
        Site::graph(&self.data.draft.name)
    }

    /// Refuses places of other graphs, and places that reach outside.
    pub(crate) fn check_place(&self, span: Span) -> Result<Site> {
        if !self.data.builders.has(span.graph) {
            return Err(Error::ForeignPlace { site: self.site() });
        }
        let site = self.site().at_memory(&self.data.draft.resources[span.resource].name);
        if span.outside {
            return Err(Error::OutOfBounds { site });
        }
        Ok(site)
    }

    /// Waits for all launches, and returns a pointer to a place, whose shape is `S`.
    fn host_pointer<S: ?Sized + Extent>(&self, span: Span) -> Result<NonNull<S>> {
        let site = self.check_place(span)?;
        self.synchronize()?;
        host_split::host_pointer(&self.executable.storage()[span.resource], span, site)
    }

    /// Waits for all launches, and returns all of shared host memory. The builder made the place for the memory's
    /// shape, and has checked its length.
    fn shared_piece(&self, span: Span) -> Result<(&Piece<HostMemory>, Site)> {
        let site = self.check_place(span)?;
        self.synchronize()?;
        match &self.executable.storage()[span.resource] {
            Storage::Shared(SharedMemory::Host(piece)) if (span.start, span.bytes) == (0, piece.bytes) => {
                Ok((piece, site))
            }
            Storage::Host(_) | Storage::Shared(SharedMemory::Host(_)) => Err(Error::Unsupported {
                site,
                message: "only all of shared host memory is lent by a guard",
            }),
            _ => Err(Error::ForeignPlace { site }),
        }
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GraphData { draft, device, .. } = &self.data;
        write!(f, "Graph({}, {} nodes, {device:?})", draft.name, draft.nodes.len())
    }
}
