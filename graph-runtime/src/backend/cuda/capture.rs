//! Captures library calls into a graph of their own: a child node, or all of a graph.

mod session;

pub(super) use self::session::Capturing;
use crate::devices::cuda::Cuda;
use crate::driver::{self, CUgraph};
use crate::error::CudaError;
use crate::program::capture::CaptureCall;
use std::ptr;
use std::sync::Arc;

/// The graph that was captured for a node, and the stream with the objects that its work uses.
pub(super) struct Captured {
    /// Null before the first recording, and after [`Captured::take`].
    graph: CUgraph,
    /// `None` if the work was recorded from a stream of the user's.
    session: Option<Capturing>,
    cuda: Arc<Cuda>,
}

impl Captured {
    /// The work of a closure, of which nothing has been captured yet.
    pub(super) fn new(cuda: &Arc<Cuda>, session: Capturing) -> Self {
        Self {
            graph: ptr::null_mut(),
            session: Some(session),
            cuda: cuda.clone(),
        }
    }

    /// A graph that was captured before, in this context, for nobody else.
    pub(super) fn recorded(cuda: &Arc<Cuda>, graph: CUgraph) -> Self {
        Self {
            graph,
            session: None,
            cuda: cuda.clone(),
        }
    }

    /// The bytes of workspaces that are in no pool.
    pub(super) fn bytes(&self) -> usize {
        self.session.as_ref().map_or(0, Capturing::bytes)
    }

    /// The stream with its objects, if there is one.
    pub(super) fn session(&mut self) -> Option<&mut Capturing> {
        self.session.as_mut()
    }

    /// Captures the work that a closure queues, in place of what was captured before. The context is current. The error
    /// says why there is no graph.
    pub(super) fn record(&mut self, call: &CaptureCall, allocations: Allocations) -> Result<(), String> {
        if let Some(session) = &self.session {
            let graph = session.record(call)?;
            self.destroy();
            self.graph = graph;
        }
        // SAFETY: the graph was just captured.
        let kinds = unsafe { kinds(self.graph) }.map_err(|error| error.to_string())?;
        let count = |kind| kinds.iter().filter(|&&other| other == kind).count();
        let (allocated, freed) = (count(driver::graph::MEMORY_ALLOC), count(driver::graph::MEMORY_FREE));
        // CUDA's own errors would not say what is wrong.
        match allocations {
            Allocations::Refused if allocated + freed > 0 => return Err(ALLOCATES.to_owned()),
            Allocations::Freed if allocated != freed => return Err(KEEPS.to_owned()),
            Allocations::Refused | Allocations::Freed => {}
        }
        match call.is_whole() && kinds.is_empty() {
            true => Err(NOTHING.to_owned()),
            false => Ok(()),
        }
    }

    /// Describes a captured node that CUDA runs in no conditional body, if there is one.
    pub(super) fn forbidden_in_bodies(&self) -> Result<Option<&'static str>, CudaError> {
        // SAFETY: the graph lives as long as `self`.
        let kinds = unsafe { kinds(self.graph) }?;
        Ok(kinds.into_iter().find_map(forbidden_in_bodies))
    }

    /// The graph, which lives as long as `self`, or until the next recording.
    pub(super) fn graph(&self) -> CUgraph {
        self.graph
    }

    /// Gives the graph away, to be destroyed by the caller.
    pub(super) fn take(&mut self) -> CUgraph {
        std::mem::replace(&mut self.graph, ptr::null_mut())
    }

    /// Destroys the graph, if there is one. The context is current.
    fn destroy(&mut self) {
        if !self.graph.is_null() {
            // SAFETY: it was captured for `self`, which has it still; child nodes have copies.
            let _ = unsafe { driver::GraphApi::Driver.destroy(self.take()) };
        }
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        let _ = self.cuda.bind_to_free(); // destructors of closures, which are code of the user, have run
        self.destroy();
    }
}

/// The nodes that allocate and free memory, which a captured graph may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allocations {
    /// None: child graphs cannot hold them.
    Refused,
    /// As many that free as allocate. Otherwise a second launch would fail, or free what the first one has left.
    Freed,
}

/// The message about allocations in a child graph.
const ALLOCATES: &str = "the library allocates memory when it is called, which CUDA cannot repeat in a part of a graph: give it \
                         memory from `workspace` (cuBLAS: `cublasSetWorkspace`, after `cublasSetStream`)";
/// The message about allocations that outlive a launch.
const KEEPS: &str = "the work allocates memory that it does not free, which every launch would do again: free it on the stream before \
                     the closure ends, or take memory that stays from `workspace`, or share a `DeviceBuffer`";
/// The message about a graph without nodes.
const NOTHING: &str = "nothing was recorded: work was queued on no stream, or on another stream or the null stream, where it ran at \
                       once; queue it on the stream of the closure, or on streams that wait for it by an event";

/// Describes a kind of node that CUDA runs in no conditional body. Returns `None` for the kinds that it runs there.
fn forbidden_in_bodies(kind: u32) -> Option<&'static str> {
    match kind {
        driver::graph::KERNEL
        | driver::graph::MEMCPY
        | driver::graph::MEMSET
        | driver::graph::CHILD_GRAPH
        | driver::graph::EMPTY
        | driver::graph::CONDITIONAL => None,
        driver::graph::HOST => Some("a host function"),
        driver::graph::WAIT_EVENT => Some("a wait for an event"),
        driver::graph::EVENT_RECORD => Some("the recording of an event"),
        driver::graph::SEMAPHORE_SIGNAL => Some("the signal of an external semaphore"),
        driver::graph::SEMAPHORE_WAIT => Some("a wait for an external semaphore"),
        driver::graph::MEMORY_ALLOC => Some("an allocation of memory"),
        driver::graph::MEMORY_FREE => Some("a release of memory"),
        driver::graph::BATCH_MEMORY_OPERATION => Some("a batch memory operation"),
        _ => Some("a node of a kind that this library does not know"),
    }
}

/// The kinds of a graph's nodes, and of those in its child graphs.
///
/// # Safety
///
/// The graph lives.
unsafe fn kinds(graph: CUgraph) -> Result<Vec<u32>, CudaError> {
    let mut found = Vec::new();
    // SAFETY: by the caller's promise.
    for node in unsafe { driver::graph::nodes(graph) }? {
        // SAFETY: the node is one of the graph's.
        let kind = unsafe { driver::graph::node_type(node) }?;
        found.push(kind);
        if kind == driver::graph::CHILD_GRAPH {
            // SAFETY: the node is a child graph's, and has it as long as it lives.
            let child = unsafe { driver::GraphApi::Driver.child(node) }?;
            // SAFETY: as above.
            found.extend(unsafe { kinds(child) }?);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_run_six_kinds_of_captured_nodes() {
        // As `CUgraphNodeType` numbers them: kernel, memcpy, memset, child graph, empty, conditional.
        let allowed: Vec<u32> = (0..20).filter(|&kind| forbidden_in_bodies(kind).is_none()).collect();
        assert_eq!(allowed, [0, 1, 2, 4, 5, 13]);
        assert_eq!(forbidden_in_bodies(3), Some("a host function"));
    }
}
