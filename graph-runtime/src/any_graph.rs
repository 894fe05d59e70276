//! The trait of all graphs, whatever they were made by.

pub(crate) mod loaded;
pub(crate) mod buckets;
pub(crate) mod graphed;

use crate::backend::executable::Updated;
use crate::devices::bodies::BodyForm;
use crate::devices::uploads::UploadForm;
use crate::driver::CudaStream;
use crate::error::{Error, Result};
use crate::graph::advice::Advice;
use crate::graph::captured_graph::CapturedGraph;
use crate::graph::definition::Definition;
use crate::graph::future::LaunchFuture;
use crate::graph::profile::Profile;
use crate::graph::tool_id::ToolId;
use crate::graph::{Graph, RawGraph};
use crate::memory::{MemoryReport, Pool};
use graph_plan::Plan;
use std::ffi::c_void;
use std::fmt;
use std::path::Path;

/// The abilities of every graph: of one that `cuda_graph!` declares, of an expression, a [`Graph`] and a
/// [`CapturedGraph`]. A list may hold graphs of several types, as `Vec<Box<dyn AnyGraph>>`, and a function may return
/// one whose type has no name:
///
/// ```
/// use graph_runtime::{AnyGraph, Device, Result, cuda_graph};
///
/// cuda_graph! {
///     graph Zeros {
///         device data: [f32; 64];
///         memset zeros = data <- 0.0;
///     }
/// }
///
/// /// The graph keeps nothing of the device that it borrows: `use<>`.
/// fn filled(device: &Device, value: f32) -> Result<impl AnyGraph + use<>> {
///     cuda_graph! { device =>
///         device data: [f32; 64];
///         memset fill = data <- value;
///     }
/// }
///
/// let device = Device::emulator();
/// let mut graphs: Vec<Box<dyn AnyGraph>> = vec![Box::new(Zeros::build(&device)?), Box::new(filled(&device, 1.0)?)];
/// for graph in &mut graphs {
///     graph.launch()?;
/// }
/// for graph in &graphs {
///     graph.synchronize()?;
/// }
/// assert_eq!(graphs[0].name(), "Zeros");
/// assert_eq!(graphs[1].plan().nodes.len(), 1);
/// # Ok::<(), graph_runtime::Error>(())
/// ```
///
/// A graph with an accessor of the same name, such as that of a node `plan`, has both: `graph.plan()` is the accessor,
/// and `AnyGraph::plan(&graph)` the method of the trait.
///
/// All graphs may move to another thread unless values in them may not: `Box<dyn AnyGraph + Send>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no graph",
    label = "not a graph",
    note = "graphs are declared by `cuda_graph!`, or built by `GraphBuilder::build`; if this is a `Result` of a graph, write `?`"
)]
pub trait AnyGraph: fmt::Debug {
    /// Lends the graph inside to the methods below.
    #[doc(hidden)]
    fn __graph(&self) -> LentGraph<&Graph>;

    /// As `__graph`, to launch it.
    #[doc(hidden)]
    fn __graph_mut(&mut self) -> LentGraph<&mut Graph>;

    /// The graph's name. An expression is named after its file and line.
    fn name(&self) -> &str {
        self.__graph().0.name()
    }

    /// Starts the graph on its own stream and returns without waiting for it.
    ///
    /// # Errors
    /// As [`Graph::launch`].
    fn launch(&mut self) -> Result<()> {
        self.__graph_mut().0.launch()
    }

    /// Starts the graph on a stream of the same context, after the work that is queued there.
    ///
    /// # Errors
    /// As [`Graph::launch_on`].
    fn launch_on(&mut self, stream: &CudaStream) -> Result<()> {
        self.__graph_mut().0.launch_on(stream)
    }

    /// Starts the graph on a stream of any other bindings to CUDA: a `CUstream` or a `cudaStream_t`.
    ///
    /// # Safety
    ///
    /// As for [`Graph::launch_on_raw`].
    ///
    /// # Errors
    /// As [`Graph::launch_on`].
    unsafe fn launch_on_raw(&mut self, stream: *mut c_void) -> Result<()> {
        // SAFETY: by the caller's promise.
        unsafe { self.__graph_mut().0.launch_on_raw(stream) }
    }

    /// Starts the graph on its own stream, and returns a future that resolves when this launch has ended.
    ///
    /// # Errors
    /// As [`Graph::launch_async`].
    fn launch_async(&mut self) -> Result<LaunchFuture> {
        self.__graph_mut().0.launch_async()
    }

    /// Starts the graph on a stream of the same context, and returns a future that resolves when this launch has ended.
    ///
    /// # Errors
    /// As [`Graph::launch_async_on`].
    fn launch_async_on(&mut self, stream: &CudaStream) -> Result<LaunchFuture> {
        self.__graph_mut().0.launch_async_on(stream)
    }

    /// Adds to the error of a future what the errors of [`AnyGraph::synchronize`] have.
    ///
    /// As [`Graph::explain`].
    fn explain(&self, error: Error) -> Error {
        self.__graph().0.explain(error)
    }

    /// Waits for all launches.
    ///
    /// # Errors
    /// As [`Graph::synchronize`].
    fn synchronize(&self) -> Result<()> {
        self.__graph().0.synchronize()
    }

    /// The graph as data: see [`Graph::plan`]. Each iteration of a loop has nodes of its own here; the `PLAN` of a
    /// declared graph has them once.
    fn plan(&self) -> Plan {
        self.__graph().0.plan()
    }

    /// The forms of the bodies of its `if`s, `switch`es and `while`s on a GPU: see [`Graph::body_forms`].
    fn body_forms(&self) -> &[BodyForm] {
        self.__graph().0.body_forms()
    }

    /// The forms of its copies from the host on a GPU: see [`Graph::upload_forms`].
    fn upload_forms(&self) -> &[UploadForm] {
        self.__graph().0.upload_forms()
    }

    /// Launches the graph, and measures each node: see [`Graph::profile`].
    ///
    /// # Errors
    /// As [`Graph::profile`].
    fn profile(&mut self, launches: usize) -> Result<Profile> {
        self.__graph_mut().0.profile(launches)
    }

    /// The ids by which NVIDIA's tools know the nodes: see [`Graph::tool_ids`].
    ///
    /// # Errors
    /// As [`Graph::tool_ids`].
    fn tool_ids(&self) -> Result<Vec<ToolId>> {
        self.__graph().0.tool_ids()
    }

    /// Writes the ids of the nodes for tools as a table: see [`Graph::write_tool_ids`].
    ///
    /// # Errors
    /// As [`Graph::write_tool_ids`].
    fn write_tool_ids(&self, path: impl AsRef<Path>) -> Result<()>
    where
        Self: Sized,
    {
        self.__graph().0.write_tool_ids(path)
    }

    /// Says what makes the graph slow, and what to write instead: see [`Graph::advice`].
    fn advice(&self) -> Advice {
        self.__graph().0.advice()
    }

    /// The memory that the graph uses, by kind: see [`Graph::memory_report`].
    fn memory_report(&self) -> MemoryReport {
        self.__graph().0.memory_report()
    }

    /// The pool that the graph was built on: see [`Graph::pool`].
    fn pool(&self) -> Option<&Pool> {
        self.__graph().0.pool()
    }

    /// The driver's handles: see [`Graph::raw`].
    fn raw(&self) -> Option<RawGraph> {
        self.__graph().0.raw()
    }

    /// Writes the graph as a DOT file: see [`Graph::debug_dump`].
    ///
    /// # Errors
    /// As [`Graph::debug_dump`].
    fn debug_dump(&self, path: impl AsRef<Path>) -> Result<()>
    where
        Self: Sized,
    {
        self.__graph().0.debug_dump(path)
    }

    /// Uploads the executable graph to the device: see [`Graph::upload`].
    ///
    /// # Errors
    /// As [`Graph::upload`].
    fn upload(&mut self) -> Result<()> {
        self.__graph_mut().0.upload()
    }

    /// Makes the memory that the graph owns as it was when the graph was built: see [`Graph::reset`]. The promise of
    /// `unsafe` nodes covers memory that is zeroed so, whatever its visibility (U2 of `docs/safety.md`).
    ///
    /// # Errors
    /// As [`Graph::reset`].
    fn reset(&mut self) -> Result<()> {
        self.__graph_mut().0.reset()
    }

    /// Makes this graph another one of the same nodes and edges, in place: see [`Graph::update_from`].
    ///
    /// ```
    /// use graph_runtime::{AnyGraph, Device, Updated, cuda_graph};
    ///
    /// cuda_graph! {
    ///     graph Fill(len: usize, value: f32) {
    ///         host   output: [f32; len];
    ///         device data:   [f32; len];
    ///         memset fill     = data <- value;
    ///         memcpy download = data -> output after fill;
    ///     }
    /// }
    ///
    /// let device = Device::emulator();
    /// let mut graph = Fill::build(&device, 4, 1.0)?;
    /// assert_eq!(graph.update_from(Fill::define(&device, 8, 2.0)?)?, Updated::InPlace);
    /// graph.launch()?;
    /// assert_eq!(graph.output()?, [2.0; 8]);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Graph::update_from`].
    fn update_from(&mut self, definition: Definition<Self>) -> Result<Updated>
    where
        Self: Sized,
    {
        definition.replace(self, |graph| graph.__graph_mut().0)
    }
}

/// A graph that only the methods of [`AnyGraph`] use.
///
/// A declared graph may offer less of its `Graph` than all of it: nodes and memory that are `pub(self)` are for its
/// module alone, which may have promised something about them (U2 of `docs/safety.md`). Other code that got the `Graph`
/// could reach every node by its number, or swap it with another one. So it cannot be taken out of here, and swapping
/// two of these swaps borrows, not graphs.
#[derive(Debug)]
pub struct LentGraph<G>(G);

impl<'g> From<&'g Graph> for LentGraph<&'g Graph> {
    fn from(graph: &'g Graph) -> Self {
        Self(graph)
    }
}

impl<'g> From<&'g mut Graph> for LentGraph<&'g mut Graph> {
    fn from(graph: &'g mut Graph) -> Self {
        Self(graph)
    }
}

impl AnyGraph for Graph {
    fn __graph(&self) -> LentGraph<&Graph> {
        self.into()
    }

    fn __graph_mut(&mut self) -> LentGraph<&mut Graph> {
        self.into()
    }
}

impl AnyGraph for CapturedGraph {
    fn __graph(&self) -> LentGraph<&Graph> {
        (**self).__graph()
    }

    fn __graph_mut(&mut self) -> LentGraph<&mut Graph> {
        (**self).__graph_mut()
    }
}

/// Graphs by way of another.
macro_rules! forwarded {
    ($($owner:ty),*) => {$(
        impl<G: AnyGraph + ?Sized> AnyGraph for $owner {
            fn __graph(&self) -> LentGraph<&Graph> {
                (**self).__graph()
            }

            fn __graph_mut(&mut self) -> LentGraph<&mut Graph> {
                (**self).__graph_mut()
            }
        }
    )*};
}
forwarded!(Box<G>, &mut G);
