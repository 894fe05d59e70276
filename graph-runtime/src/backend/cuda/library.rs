//! `capture` and `raw` as CUDA nodes.

use super::CudaExecutable;
use super::capture::Captured;
use super::failure::Failure;
use crate::driver::{CUgraph, CUgraphNode};
use crate::error::{At, CudaError, Error, Result, Site};
use crate::program::capture::CaptureCall;
use crate::program::raw::{RawCall, RawSite};
use graph_plan::{Draft, forbidden_capture};

impl CudaExecutable {
    /// Captures the calls of a node. In a conditional body, fails if CUDA cannot run one of them there.
    pub(super) fn capture(&mut self, draft: &Draft, node: usize, call: &CaptureCall) -> Result<()> {
        let site = || Site::graph(&draft.name).at_node(&draft.nodes[node].name);
        let captured = Captured::new(&self.cuda, &self.kept.addresses, call);
        let captured = captured.map_err(|message| Error::Node { site: site(), message })?;
        let forbidden = captured.forbidden_in_bodies().at(site)?;
        if let Some(mistake) = forbidden.and_then(|what| forbidden_capture(draft, node, what)) {
            return Err(Error::Invalid {
                graph: draft.name.as_ref().into(),
                diagnostics: vec![mistake],
            });
        }
        self.kept.captured.insert(node, captured);
        Ok(())
    }

    /// Adds the graph that was captured for a node.
    ///
    /// # Safety
    ///
    /// The graph and the nodes in `after` live and belong together.
    pub(super) unsafe fn add_captured(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        node: usize,
        name: &str,
    ) -> Result<CUgraphNode, CudaError> {
        announce!(
            self.cuda,
            trace,
            node = name,
            after = after.len(),
            "{}",
            self.cuda.api().names().add_child_node
        )?;
        let captured = self
            .kept
            .captured
            .get(&node)
            .map_or(std::ptr::null_mut(), Captured::graph);
        // SAFETY: by the caller's promise; `prepare` has captured a graph for each such node, which `self.kept` keeps.
        unsafe { self.cuda.api().add_child_node(graph, after, captured) }
    }

    /// Runs the closure of a `raw` node, which adds nodes of its own.
    ///
    /// # Safety
    ///
    /// As for [`CudaExecutable::add_captured`]. What the closure does is sound by the promise of whoever called
    /// `GraphBuilder::raw`.
    pub(super) unsafe fn add_raw(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        node: usize,
        call: &RawCall,
        name: &str,
    ) -> Result<CUgraphNode, Failure> {
        announce!(
            self.cuda,
            trace,
            node = name,
            after = after.len(),
            "the closure of a raw node"
        )
        .map_err(|error| (node, error))?;
        let site = RawSite {
            graph,
            context: self.cuda.context(),
            addresses: &self.kept.addresses,
        };
        let added = call.add(&site, after);
        self.cuda.bind().map_err(|error| (node, error))?;
        match added {
            Ok(added) if !added.is_null() => Ok(added),
            Ok(_) => Err(Failure::closure(node, "the closure returned no node".to_owned())),
            Err(error) => Err(Failure::closure(node, format!("the closure failed: {error}"))),
        }
    }
}
