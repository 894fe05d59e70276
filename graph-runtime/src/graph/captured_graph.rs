//! Captured graphs: work that was recorded from a stream.

use crate::devices::cuda::Cuda;
use crate::driver::CudaStream;
use crate::error::{At, Error, Result, Site};
use crate::graph::Graph;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A graph of work that was recorded from a stream instead of declared: [`GraphBuilder::build_captured`] makes it, for
/// code that cannot be declared, such as a training step that calls libraries.
///
/// It says what memory it reads and writes, keeps that alive, and is launched as any other graph: it dereferences to
/// [`Graph`].
///
/// [`GraphBuilder::build_captured`]: crate::GraphBuilder::build_captured
pub struct CapturedGraph {
    graph: Graph,
}

impl CapturedGraph {
    pub(crate) fn new(graph: Graph) -> Self {
        Self { graph }
    }

    /// Runs the closure again, and records its work anew, for later launches: a closure that owns a counter or a
    /// channel queues other work then. Memory stays where it is; [`Graph::rebind`] replaces it, and records again as
    /// well.
    ///
    /// If the new work has as many nodes of the same kinds in the same order, CUDA changes the executable graph in
    /// place (`cuGraphExecUpdate`); launches in flight do not change. Otherwise, or if the closure has prepared other
    /// values or workspaces than before, this waits for launches in flight. There is no warm-up.
    ///
    /// # Errors
    /// * [`Error::Node`] with the error of the closure, or of its work: the graph is then unchanged;
    /// * [`Error::Cuda`] if the driver refuses the change: then [`Graph::launch`] fails until this or another change
    ///   has succeeded;
    /// * [`Error::Unsupported`] in an [edit](Graph::edit).
    pub fn record_again(&mut self) -> Result<()> {
        self.graph.check_no_edit()?;
        let before = self.graph.begin_change("record_again", vec![0]);
        let Graph { executable, data, .. } = &mut self.graph;
        let recorded = executable.record_again(&data.draft, &data.program);
        match &recorded {
            Ok(()) => self.graph.mend(),
            // Nothing has changed.
            Err(Error::Node { .. } | Error::Unsupported { .. }) => self.graph.state = before,
            Err(_) => {}
        }
        recorded
    }
}

impl Deref for CapturedGraph {
    type Target = Graph;

    fn deref(&self) -> &Graph {
        &self.graph
    }
}

impl DerefMut for CapturedGraph {
    fn deref_mut(&mut self) -> &mut Graph {
        &mut self.graph
    }
}

/// Unwraps a captured graph, for code that takes a [`Graph`].
impl From<CapturedGraph> for Graph {
    fn from(captured: CapturedGraph) -> Graph {
        captured.graph
    }
}

impl fmt::Debug for CapturedGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Captured{:?}", self.graph)
    }
}

/// Whether the work of a stream is being recorded instead of run: by this crate, by cudarc, or by others. It is also
/// true after a call has made the capture invalid, until somebody ends it.
///
/// `cudaStreamIsCapturing`, and PyTorch's `is_current_stream_capturing`, for any stream.
///
/// # Errors
/// [`Error::Cuda`] if the driver refuses: for the null stream, while another stream that waits for it is being
/// captured, this is `CUDA_ERROR_STREAM_CAPTURE_IMPLICIT`.
pub fn is_capturing(stream: &CudaStream) -> Result<bool> {
    Cuda::new(stream.context().clone())
        .is_capturing(stream)
        .at(Site::default)
}
