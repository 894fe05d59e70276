//! A built graph: launching it, waiting for it, and its memory.

pub(crate) mod rng;
pub(crate) mod update;
pub(crate) mod rebind;
pub(crate) mod edit;
pub(crate) mod node;
pub(crate) mod host_split;

use crate::backend::block::{Piece, SharedMemory};
use crate::backend::executable::Executable;
use crate::backend::memory::HostMemory;
use crate::backend::shared::SharedResources;
use crate::backend::storage::Storage;
use crate::device::Device;
use crate::error::{Error, Result, Site};
use crate::graph::edit::Edit;
use crate::graph::host_split::HostSplit;
use crate::graph::node::{Missing, NodeHandle, NodeId};
use crate::graph::rng::{Generator, Rng, RngHandle};
use crate::graph::update::Update;
use crate::memory::{DeviceMut, DeviceRef, HostMut, HostRef};
use crate::program::Program;
use crate::program::declared::AllDeclaredNodes;
use crate::program::scratch::Arena;
use crate::shape::part::Layout;
use crate::shape::place::{OnDevice, OnHost, Place, Span};
use crate::shape::table::{Table, TableMut, TableRef};
use crate::shape::{Element, Extent};
use cudarc::driver::{CudaStream, sys};
use graph_plan::{Access, Draft, Plan};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A graph that is ready to launch, with the memory that it owns. [`GraphBuilder::build`](crate::GraphBuilder::build)
/// makes it.
///
/// Launches are asynchronous; accessors wait for them. What they lend borrows the graph, so that it cannot be launched
/// while its memory is being looked at:
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
    device: Device,
    /// The builder's id. Every place carries it, so that a place of another graph is refused.
    pub(crate) id: u64,
    pub(crate) draft: Draft,
    pub(crate) layouts: Vec<Option<Layout>>,
    pub(crate) shared: SharedResources,
    arena: Arena,
    pub(crate) program: Program,
    pub(crate) executable: Executable,
    pub(crate) declared_nodes: AllDeclaredNodes,
    /// Changes that failed half-way. Almost always empty.
    pub(crate) half_edited: Vec<Edit>,
    pub(crate) rngs: Vec<Generator>,
    /// Waiting through `&self` is not made for several threads at once.
    not_sync: PhantomData<Cell<()>>,
}

/// The driver's own handles of a graph: see [`Graph::raw`].
#[derive(Clone, Copy, Debug)]
pub struct RawGraph {
    /// The graph as its nodes were added.
    pub graph: sys::CUgraph,
    /// The graph as it is launched.
    pub exec: sys::CUgraphExec,
    /// The private stream that [`Graph::launch`] launches on.
    pub stream: sys::CUstream,
}

impl Graph {
    pub(crate) fn new(
        device: Device,
        id: u64,
        draft: Draft,
        layouts: Vec<Option<Layout>>,
        shared: SharedResources,
        program: Program,
        executable: Executable,
    ) -> Self {
        Self {
            device,
            id,
            draft,
            layouts,
            shared,
            arena: Arena::default(),
            program,
            executable,
            declared_nodes: AllDeclaredNodes::default(),
            half_edited: Vec::new(),
            rngs: Vec::new(),
            not_sync: PhantomData,
        }
    }

    /// The graph, whose scratch memory lies so.
    pub(crate) fn with_arena(self, arena: Arena) -> Self {
        Self { arena, ..self }
    }

    /// The graph, whose declarations became these nodes.
    pub(crate) fn with_declared(self, declared_nodes: AllDeclaredNodes) -> Self {
        Self { declared_nodes, ..self }
    }

    /// The graph, whose random numbers begin so.
    pub(crate) fn with_rngs(self, rngs: Vec<Generator>) -> Result<Self> {
        let graph = Self { rngs, ..self };
        graph.rngs.iter().try_for_each(|rng| rng.start(&graph))?;
        Ok(graph)
    }

    /// Starts the graph and returns without waiting for it. It may be started again at once: launches run one after the
    /// other.
    ///
    /// On the emulator the graph has run when this returns. What goes wrong there is reported as on CUDA, by whoever
    /// waits.
    ///
    /// # Errors
    /// [`Error::Cuda`], also with the error of an earlier launch; [`Error::HalfUpdated`] and [`Error::HalfRebound`]
    /// after a change that failed half-way; [`Error::InUse`] while a guard lends memory that the graph shared.
    #[inline]
    pub fn launch(&mut self) -> Result<()> {
        if !self.half_edited.is_empty() {
            return Err(self.refusal());
        }
        if !self.shared.is_empty() {
            return self.launch_shared(None);
        }
        self.executable.launch(&self.draft, &self.program)
    }

    /// Starts the graph on a stream of the same context, after the work that is queued there. Accessors wait for it
    /// whether or not the stream still exists then.
    ///
    /// # Errors
    /// [`Error::Stream`] where the stream is being captured or belongs to another context; [`Error::Unsupported`] on
    /// the emulator; as [`Graph::launch`].
    pub fn launch_on(&mut self, stream: &CudaStream) -> Result<()> {
        if !self.half_edited.is_empty() {
            return Err(self.refusal());
        }
        if self.shared.is_empty() || !self.executable.has_streams() {
            return self.executable.launch_on(&self.draft, stream);
        }
        self.launch_shared(Some(stream))
    }

    /// Starts the graph on a stream, or its own, after other uses of the memory that it shared.
    fn launch_shared(&mut self, stream: Option<&CudaStream>) -> Result<()> {
        let claims = self.shared.claim(&self.draft)?;
        let Self { draft, program, .. } = self;
        self.executable.launch_shared(draft, program, &claims, stream)
    }

    /// Waits for all launches.
    ///
    /// # Errors
    /// [`Error::Cuda`] or [`Error::Fault`] with what went wrong in them, [`Error::Panicked`] where a host function
    /// panicked. CUDA's errors of kernels are sticky: every later call returns them too.
    pub fn synchronize(&self) -> Result<()> {
        self.executable.wait(&self.draft)
    }

    /// Waits, and lends host memory.
    ///
    /// # Errors
    /// As [`Graph::synchronize`]; [`Error::ForeignPlace`] and [`Error::OutOfBounds`] for places that are not this
    /// graph's; [`Error::Unsupported`] for shared memory, which [`SharedHost`](crate::SharedHost) lends.
    pub fn host<S>(&self, place: &Place<S, OnHost>) -> Result<&S> {
        let pointer = self.host_pointer(place.span)?.cast::<S>();
        // SAFETY: `host_pointer` has waited and checked that the place is this graph's: its builder, which alone makes
        // places, made it for an aligned, initialised `S: Element` in memory that lives as long as `self`. No launch
        // starts (it takes `&mut self`), no `&mut` is lent, while `self` is borrowed.
        Ok(unsafe { pointer.as_ref() })
    }

    /// Waits, and lends host memory to write.
    ///
    /// # Errors
    /// As [`Graph::host`].
    pub fn host_mut<S>(&mut self, place: &Place<S, OnHost>) -> Result<&mut S> {
        let mut pointer = self.host_pointer(place.span)?.cast::<S>();
        // SAFETY: as in `host`; `self` is borrowed exclusively.
        Ok(unsafe { pointer.as_mut() })
    }

    /// Waits, and lends host memory whose length was fixed when the graph was built.
    ///
    /// # Errors
    /// As [`Graph::host`].
    pub fn host_slice<T: Element>(&self, place: &Place<[T], OnHost>) -> Result<&[T]> {
        let pointer = self.host_slice_pointer::<T>(place.span)?;
        // SAFETY: as in `host`; the span is a whole number of elements.
        Ok(unsafe { pointer.as_ref() })
    }

    /// Waits, and lends host memory to write whose length was fixed when the graph was built.
    ///
    /// # Errors
    /// As [`Graph::host`].
    pub fn host_slice_mut<T: Element>(&mut self, place: &Place<[T], OnHost>) -> Result<&mut [T]> {
        let mut pointer = self.host_slice_pointer::<T>(place.span)?;
        // SAFETY: as in `host_slice`; `self` is borrowed exclusively.
        Ok(unsafe { pointer.as_mut() })
    }

    /// Waits, and lends host memory whose lengths were fixed when the graph was built.
    ///
    /// # Errors
    /// As [`Graph::host`].
    pub fn host_table<T: Element, const D: usize>(
        &self,
        place: &Place<Table<T, D>, OnHost>,
    ) -> Result<TableRef<'_, T, D>> {
        let pointer = self.host_slice_pointer::<T>(place.span)?;
        // SAFETY: as in `host_slice`.
        Ok(TableRef::new(unsafe { pointer.as_ref() }, &place.lengths))
    }

    /// Waits, and lends host memory to write whose lengths were fixed when the graph was built.
    ///
    /// # Errors
    /// As [`Graph::host`].
    pub fn host_table_mut<T: Element, const D: usize>(
        &mut self,
        place: &Place<Table<T, D>, OnHost>,
    ) -> Result<TableMut<'_, T, D>> {
        let mut pointer = self.host_slice_pointer::<T>(place.span)?;
        // SAFETY: as in `host_slice_mut`.
        Ok(TableMut::new(unsafe { pointer.as_mut() }, &place.lengths))
    }

    /// Waits, and lends host memory that the graph shared, by a guard: see
    /// [`SharedHost::read`](crate::SharedHost::read).
    ///
    /// # Errors
    /// As [`Graph::synchronize`]; [`Error::InUse`] while a guard lends it to write; [`Error::ForeignPlace`] for places
    /// that are not this graph's; [`Error::Unsupported`] for a part of the memory, and for memory that the graph owns.
    pub fn shared_host<S: ?Sized + Extent>(&self, place: &Place<S, OnHost>) -> Result<HostRef<'_, S>> {
        let (piece, site) = self.shared_piece(place.span)?;
        HostRef::of(piece, place.lengths, || site)
    }

    /// Waits, and lends host memory that the graph shared to write, by a guard: see
    /// [`SharedHost::write`](crate::SharedHost::write).
    ///
    /// # Errors
    /// As [`Graph::shared_host`]; [`Error::InUse`] while any other guard lends it.
    pub fn shared_host_mut<S: ?Sized + Extent>(&mut self, place: &Place<S, OnHost>) -> Result<HostMut<'_, S>> {
        let (piece, site) = self.shared_piece(place.span)?;
        HostMut::of(piece, place.lengths, || site)
    }

    /// Waits, and lends several pieces of host memory to write at once.
    ///
    /// # Errors
    /// As [`Graph::synchronize`].
    pub fn split_host(&mut self) -> Result<HostSplit<'_>> {
        self.synchronize()?;
        Ok(HostSplit::new(self))
    }

    /// Waits, and lends device memory to read.
    ///
    /// # Errors
    /// As [`Graph::host`].
    pub fn device<S: ?Sized>(&self, place: &Place<S, OnDevice>) -> Result<DeviceRef<'_, S>> {
        let site = self.check_place(place.span)?;
        self.synchronize()?;
        let Span { start, bytes, .. } = place.span;
        match &self.executable.storage()[place.span.resource] {
            Storage::Device(memory) => Ok(DeviceRef::new(memory, start, bytes, site).with_lengths(place.lengths)),
            Storage::Shared(SharedMemory::Device(piece)) => {
                Ok(DeviceRef::shared(piece, start, bytes, site).with_lengths(place.lengths))
            }
            Storage::Scratch(_) => Err(Error::Unsupported {
                site,
                message: "scratch memory keeps nothing after a launch; what is to be looked at then must be declared as `device`",
            }),
            Storage::Host(_) | Storage::Shared(SharedMemory::Host(_)) | Storage::Module => {
                Err(Error::ForeignPlace { site })
            }
        }
    }

    /// Waits, and lends device memory to read and write.
    ///
    /// # Errors
    /// As [`Graph::host`].
    pub fn device_mut<S: ?Sized>(&mut self, place: &Place<S, OnDevice>) -> Result<DeviceMut<'_, S>> {
        self.device(place).map(DeviceMut)
    }

    /// Changes nodes in place: `f` says how, by calls of [`Update`]. Nothing is changed unless `f` returns `Ok`, having
    /// checked every change. Nodes that are so already are left alone. Launches in flight are not touched. `what` names
    /// the update in messages.
    ///
    /// # Errors
    /// The errors of `f`; the graph is then unchanged. [`Error::Cuda`] where the driver refuses a change: then
    /// [`Graph::launch`] refuses, too, until an update of the same `what` has succeeded.
    pub fn update(&mut self, what: &'static str, f: impl FnOnce(&mut Update<'_>) -> Result<()>) -> Result<()> {
        update::update(self, what, f)
    }

    /// A node, by its id. One that this graph does not have has no name and cannot be changed.
    pub fn node(&mut self, node: NodeId) -> NodeHandle<'_> {
        NodeHandle {
            graph: self,
            node,
            missing: None,
        }
    }

    /// The node that `cuda_graph!` has declared with this index and name, in the iterations of these numbers.
    pub(crate) fn declared(&mut self, declared: usize, name: &'static str, values: &[usize]) -> NodeHandle<'_> {
        match self.declared_nodes.find(None, declared, values) {
            Some(index) => self.node(NodeId::new(index)),
            None => NodeHandle {
                graph: self,
                node: NodeId::new(usize::MAX),
                missing: Some(Missing::new(declared, name, values)),
            },
        }
    }

    /// The random numbers that the builder declared as `rng`.
    pub fn rng(&mut self, rng: &Rng) -> RngHandle<'_> {
        let own = rng.graph() == self.id;
        let index = self
            .rngs
            .iter()
            .position(|known| own && known.rng.resource() == rng.resource());
        RngHandle { graph: self, index }
    }

    /// The graph as data: to draw it, or to look at its order.
    pub fn plan(&self) -> Plan {
        let outcome = graph_plan::check_errors(&self.draft);
        let bytes = |resource: usize| self.layouts[resource].map_or(0, |layout| layout.bytes);
        Plan::of(&self.draft, &outcome, bytes).with_arena(self.arena.offsets.iter().copied())
    }

    /// Why a node cannot be enabled, or disabled, for what it does to scratch memory.
    pub(crate) fn scratch_fault(&self, node: usize, enabled: bool) -> Option<&'static str> {
        let Self {
            draft,
            layouts,
            program,
            arena,
            ..
        } = self;
        let touches = |access: &Access| access.node == node && draft.resources[access.resource].scratch;
        let runs = |other: usize| if other == node { enabled } else { program.enabled[other] };
        let concerned = draft.accesses.iter().any(touches);
        concerned.then(|| arena.fault(draft, layouts, program, runs)).flatten()
    }

    /// The device that it runs on.
    pub fn device_used(&self) -> &Device {
        &self.device
    }

    /// The driver's handles, for what is not covered here; `None` on the emulator. They live as long as the graph, the
    /// executable form until the next [`Graph::rebind`]. Using them is up to the `unsafe` calls that take them:
    /// launches made so are not waited for, and graphs that are instantiated from the first have the memory and the
    /// functions that nodes were built with.
    pub fn raw(&self) -> Option<RawGraph> {
        let (graph, exec, stream) = self.executable.raw()?;
        Some(RawGraph { graph, exec, stream })
    }

    /// The index of a node that exists.
    pub(crate) fn check_node(&self, node: NodeId) -> Result<usize> {
        let (index, nodes) = (node.index(), self.draft.nodes.len());
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
        Site::graph(&self.draft.name)
    }

    /// Refuses places of other graphs, and places that an index has led outside.
    pub(crate) fn check_place(&self, span: Span) -> Result<Site> {
        if span.graph != self.id {
            return Err(Error::ForeignPlace { site: self.site() });
        }
        let site = self.site().at_memory(&self.draft.resources[span.resource].name);
        if span.outside {
            return Err(Error::OutOfBounds { site });
        }
        Ok(site)
    }

    /// Waits. The place's first byte.
    fn host_pointer(&self, span: Span) -> Result<NonNull<u8>> {
        let site = self.check_place(span)?;
        self.synchronize()?;
        host_split::host_pointer(&self.executable.storage()[span.resource], span, site)
    }

    /// Waits. All of shared host memory: its builder made the place for that memory's shape, and checked its length.
    fn shared_piece(&self, span: Span) -> Result<(&Piece<HostMemory>, Site)> {
        let site = self.check_place(span)?;
        self.synchronize()?;
        match &self.executable.storage()[span.resource] {
            Storage::Shared(SharedMemory::Host(piece)) if (span.start, span.bytes) == (0, piece.bytes) => {
                Ok((piece, site))
            }
            Storage::Device(_) | Storage::Shared(SharedMemory::Device(_)) | Storage::Scratch(_) | Storage::Module => {
                Err(Error::ForeignPlace { site })
            }
            Storage::Host(_) | Storage::Shared(SharedMemory::Host(_)) => Err(Error::Unsupported {
                site,
                message: "only all of shared host memory is lent by a guard",
            }),
        }
    }

    fn host_slice_pointer<T: Element>(&self, span: Span) -> Result<NonNull<[T]>> {
        let pointer = self.host_pointer(span)?.cast::<T>();
        let len = span.bytes.checked_div(size_of::<T>()).unwrap_or(0);
        Ok(NonNull::slice_from_raw_parts(pointer, len))
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.draft.nodes.len();
        write!(f, "Graph({}, {nodes} nodes, {:?})", self.draft.name, self.device)
    }
}
