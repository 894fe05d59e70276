//! A capture of a user's stream, from its beginning to its end, and the graph that it gives.

use crate::devices::cuda::Cuda;
use crate::driver::{self, CUgraph, CudaStream, RelaxedCapture};
use crate::error::CudaError;
use crate::program::capture::{CaptureMode, Recorded};
use std::sync::Arc;

/// A capture of a user's stream that has begun. Dropping it ends the capture. Forgetting it leaves the stream
/// capturing, so that work that is queued on it never runs.
pub(crate) struct Recording {
    cuda: Arc<Cuda>,
    stream: Arc<CudaStream>,
    /// Whether the capture has not been ended here.
    open: bool,
}

impl Recording {
    /// Begins to capture a stream, which is of the context.
    pub(crate) fn begin(cuda: &Arc<Cuda>, stream: &Arc<CudaStream>, mode: CaptureMode) -> Result<Self, CudaError> {
        cuda.bind()?;
        // SAFETY: the `CudaStream` lives (C1 of `docs/safety.md`), and the context is current.
        unsafe { driver::stream::begin_capture(stream.cu_stream(), mode.of_driver()) }?;
        Ok(Self {
            cuda: cuda.clone(),
            stream: stream.clone(),
            open: true,
        })
    }

    /// Ends the capture. The error says why there is no graph.
    pub(crate) fn end(mut self) -> Result<RecordedGraph, String> {
        self.cuda.bind().map_err(|error| error.to_string())?;
        let graph = self.end_capture().map_err(|error| explained(&error))?;
        Ok(RecordedGraph {
            cuda: self.cuda.clone(),
            graph,
        })
    }

    /// Ends the capture. The context is current.
    fn end_capture(&mut self) -> Result<CUgraph, CudaError> {
        // SAFETY: `stream` keeps the stream alive (C1 of `docs/safety.md`). A stream that does not capture any more is
        // an error.
        let graph = unsafe { driver::stream::end_capture(self.stream.cu_stream()) }?;
        self.open = false; // most errors end the capture, too; then dropping `self` tries in vain
        Ok(graph)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let _relaxed = RelaxedCapture::enter();
        if self.open
            && self.cuda.bind_to_free().is_ok()
            && let Ok(graph) = self.end_capture()
        {
            // SAFETY: the graph was captured for nobody else.
            let _ = unsafe { driver::GraphApi::Driver.destroy(graph) };
        }
    }
}

/// A graph that was captured from a user's stream, and that nobody else has.
pub(crate) struct RecordedGraph {
    cuda: Arc<Cuda>,
    graph: CUgraph,
}

// SAFETY: driver handles are not bound to threads (D2 of `docs/safety.md`), and nobody else has this one.
unsafe impl Send for RecordedGraph {}

impl Recorded for RecordedGraph {
    fn take(mut self: Box<Self>) -> CUgraph {
        std::mem::replace(&mut self.graph, std::ptr::null_mut())
    }
}

impl Drop for RecordedGraph {
    fn drop(&mut self) {
        if !self.graph.is_null() && self.cuda.bind_to_free().is_ok() {
            // SAFETY: the graph is `self`'s alone, and the context is current.
            let _ = unsafe { driver::GraphApi::Driver.destroy(self.graph) };
        }
    }
}

/// The explanation of a call that a capture does not allow.
pub(crate) const NOT_ALLOWED: &str = "a call was made that CUDA does not allow during a capture, such as allocating, freeing or waiting: make it in \
                                      `prepare`, and take scratch memory from `workspace`";

/// The error of a capture that could not be ended, with an explanation.
pub(crate) fn explained(error: &CudaError) -> String {
    let meaning = match error.code() {
        900 | 901 => NOT_ALLOWED,
        902 => "work of another capture was waited for",
        904 => "work was forked to another stream that the node's stream does not wait for at the end",
        905 => "work outside the capture was waited for",
        906 => "the null stream was used, which waits for others",
        908 => "the capture was moved to another thread",
        _ => return error.to_string(),
    };
    format!("{error}: {meaning}")
}
