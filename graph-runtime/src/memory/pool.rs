//! Pools of scratch memory.

use super::report::{PoolReport, PoolUser};
use crate::devices::Backend;
use crate::error::{Result, Site};
use crate::in_flight::uses::Terms;
use crate::ownership::block::Block;
use crate::ownership::pool_memory::{PoolMemory, PoolShare};
use std::fmt;
use std::sync::Arc;

/// Scratch memory that several graphs share, such as the graphs of a model server for batches of 1, 2, 4 and so on.
/// Together they need about as much as the largest of them. PyTorch's name for it is `graph_pool_handle()`.
///
/// [`Device::pool`](crate::Device::pool) makes one, and graphs that are built on
/// [`device.with_pool(&pool)`](crate::Device::with_pool) have their `scratch` memory in it, and the memory of
/// [`CaptureStream::scratch`](crate::CaptureStream::scratch). Their other memory is their own, as ever.
///
/// Two graphs of a pool never run at the same time: each launch claims the pool, as it claims other memory that graphs
/// share. On one stream, nothing waits for this, and a launch costs 0.6 us more of a processor (beside an H200). A
/// launch on another stream than the last one of the pool waits for that one, on the GPU. Nothing is lost, since
/// scratch memory holds nothing between launches; a graph that would read what another one has left there is not built.
///
/// The pool grows when a graph is built that needs more than it holds: on CUDA in place, so that the order of building
/// does not matter, in steps of 2 MiB. A device that has no virtual memory management (and the emulator) cannot do so:
/// there the pool gets another piece of memory, and graphs that were built before stay in theirs. There, build the
/// largest graph first. Memory is freed when the last handle to the pool, and the last of its graphs, is dropped, or by
/// [`Pool::trim`].
///
/// A clone is another handle to the same pool; handles are equal if they are to the same pool.
///
/// ```
/// use graph_runtime::{Device, GraphBuilder};
///
/// let device = Device::emulator();
/// let pool = device.pool();
/// let pooled = device.with_pool(&pool);
/// let mut graphs = Vec::new();
/// for batch in [256, 16, 1] {
///     let mut builder = GraphBuilder::new(&pooled, format!("Batch{batch}"));
///     let mut hidden = builder.scratch_slice::<f32>("hidden", 1024 * batch);
///     builder.memset("clear", &mut hidden, 0.0_f32);
///     graphs.push(builder.build()?);
/// }
/// for graph in &mut graphs {
///     graph.launch()?;                     // one after the other, whatever streams they run on
/// }
/// let report = pool.memory_report();
/// assert_eq!(report.held, 1024 * 256 * 4); // as much as the largest needs
/// assert_eq!(report.saved(), 1024 * (16 + 1) * 4);
/// # Ok::<(), graph_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Pool {
    memory: Arc<Block<PoolMemory>>,
}

impl Pool {
    /// An empty pool of a device.
    pub(crate) fn new(backend: &Backend) -> Self {
        Self {
            memory: Arc::new(Block::new(PoolMemory::new(backend.clone()), Terms::Owned)),
        }
    }

    /// An empty share for a graph on `backend`, which reports call `label`.
    pub(crate) fn share(&self, graph: Site, label: String, backend: &Backend) -> Result<Arc<PoolShare>> {
        PoolShare::new(&self.memory, graph, label, backend)
    }

    /// The bytes that the pool holds, and the bytes that each of its graphs needs.
    pub fn memory_report(&self) -> PoolReport {
        let (held, graphs) = self.memory.sizes();
        let user = |(graph, bytes)| PoolUser { graph, bytes };
        PoolReport {
            graphs: graphs.into_iter().map(user).collect(),
            held,
        }
    }

    /// Frees the memory that no graph of the pool needs any more, as far as it was added last. Graphs that have been
    /// forgotten (`mem::forget`) still need theirs.
    ///
    /// # Errors
    /// [`Error::Cuda`](crate::Error::Cuda) if the driver refuses.
    pub fn trim(&self) -> Result<()> {
        self.memory.trim()
    }
}

impl PartialEq for Pool {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.memory, &other.memory)
    }
}

impl Eq for Pool {}

/// Writes the table of [`Pool::memory_report`].
impl fmt::Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.memory_report().fmt(f)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PoolReport { graphs, held } = self.memory_report();
        write!(f, "Pool({} graphs, {held} bytes)", graphs.len())
    }
}
