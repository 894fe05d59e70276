//! `capture` and `raw` as CUDA nodes.

use super::CudaExecutable;
use super::capture::{Allocations, Captured, Capturing};
use super::failure::Failure;
use crate::driver::{self, CUgraph, CUgraphNode};
use crate::error::{At, CudaError, Error, Result, Site};
use crate::in_flight::uses::Patience;
use crate::ownership::blueprint::Blueprint;
use crate::ownership::storage::Storage;
use crate::program::capture::CaptureCall;
use crate::program::pointer::Addresses;
use crate::program::raw::{RawCall, RawSite};
use graph_plan::{Draft, forbidden_capture};
use std::sync::Arc;

impl CudaExecutable {
    /// Captures the calls of a node, after it has warmed up. In a conditional body, fails if CUDA cannot run one of
    /// them there.
    pub(super) fn capture(&mut self, blueprint: &Blueprint<'_>, node: usize, call: &CaptureCall) -> Result<()> {
        let draft = blueprint.draft;
        let site = || Site::graph(&draft.name).at_node(&draft.nodes[node].name);
        let failed = |message| Error::Node { site: site(), message };
        let (addresses, pool) = (&self.user_objects.addresses, blueprint.shared.pool());
        let captured = match call.take_recorded() {
            Some(graph) => Ok(Captured::recorded(&self.cuda, graph)),
            None => Capturing::new(&self.cuda, addresses, pool, call.options().mode)
                .map(|session| Captured::new(&self.cuda, session)),
        };
        let captured = captured.map_err(|error| failed(error.to_string()))?;
        // From now on it is leaked if nobody can wait for its work.
        self.user_objects.captured.insert(node, captured);
        if call.options().warm_up > 0 {
            self.warm_up(blueprint, node, call)?;
        }
        let Some(captured) = self.user_objects.captured.get_mut(&node) else {
            return Ok(()); // it was just inserted
        };
        let allocations = match blueprint.program.whole_capture() {
            Some(_) => Allocations::Freed,
            None => Allocations::Refused,
        };
        captured.record(call, allocations).map_err(failed)?;
        let forbidden = captured.forbidden_in_bodies().at(site)?;
        if let Some(mistake) = forbidden.and_then(|what| forbidden_capture(draft, node, what)) {
            return Err(Error::mistake(&draft.name, mistake));
        }
        Ok(())
    }

    /// Runs the closure of a captured graph as often as its options say, with the work that it queues, and waits for
    /// that. This is a launch: it is noted as one, and claims the memory that the graph shares (facts 2 and 3 of
    /// `CudaExecutable`, facts 1 to 3 of `Uses`). If the closure fails or panics in the middle, whoever uses the memory
    /// next waits for the context, since no event was recorded after the work.
    fn warm_up(&mut self, blueprint: &Blueprint<'_>, node: usize, call: &CaptureCall) -> Result<()> {
        let draft = blueprint.draft;
        let site = || Site::graph(&draft.name).at_node(&draft.nodes[node].name);
        let claims = blueprint.shared.claim(draft, Patience::of_this_thread())?;
        let (stream, _using) = self.await_others(draft, &claims, None)?;
        self.note_launch();
        // SAFETY: fact 1 of `CudaExecutable`. Afterwards, no launch that conflicts with the claims is in flight.
        unsafe { driver::stream::synchronize(stream) }.at(site)?;
        if let Some(session) = self.user_objects.captured.get_mut(&node).and_then(Captured::session) {
            for _ in 0..call.options().warm_up {
                let ran = session.run_eagerly(call);
                ran.map_err(|message| Error::Node { site: site(), message })?;
            }
            session.finish().at(site)?;
        }
        // SAFETY: fact 1 of `CudaExecutable`; the context is current. All work of the closure has ended.
        unsafe { self.record_launch(stream) }.at(site)?;
        self.wait().at(site)
    }

    /// The graph that was captured for a node, which `self.user_objects` keeps.
    pub(super) fn captured(&self, node: usize) -> CUgraph {
        let captured = self.user_objects.captured.get(&node);
        captured.map_or(std::ptr::null_mut(), Captured::graph)
    }

    /// Makes all of the graph of what the closure has captured, instead of adding nodes to an empty one.
    pub(super) fn adopt(&mut self, node: usize) {
        self.graph = self
            .user_objects
            .captured
            .get_mut(&node)
            .map_or(std::ptr::null_mut(), Captured::take);
    }

    /// Runs the closure of a captured graph again, with its memory where that is now, and captures its work. The
    /// context is current afterwards. Later launches still run the work from before.
    pub(super) fn recapture(&mut self, draft: &Draft, node: usize, call: &CaptureCall) -> Result<()> {
        let site = || Site::graph(&draft.name).at_node(&draft.nodes[node].name);
        self.cuda.bind().at(site)?;
        let addresses = Arc::new(Addresses::new(self.storage.iter().map(Storage::first)));
        self.user_objects.addresses = addresses.clone();
        let Some(captured) = self.user_objects.captured.get_mut(&node) else {
            return Ok(()); // `build` captured it
        };
        if let Some(session) = captured.session() {
            session.set_addresses(addresses);
        }
        let recorded = captured.record(call, Allocations::Freed);
        recorded.map_err(|message| Error::Node { site: site(), message })
    }

    /// Drops values and workspaces that the closure has replaced, when no launch uses them any more.
    pub(super) fn clear_retired(&mut self, node: usize) -> Result<(), CudaError> {
        let mut session = self.user_objects.captured.get_mut(&node).and_then(Captured::session);
        if !session.is_some_and(|session| session.has_retired()) {
            return Ok(());
        }
        self.wait()?;
        session = self.user_objects.captured.get_mut(&node).and_then(Captured::session);
        session.into_iter().for_each(Capturing::clear_retired);
        self.cuda.bind() // the destructors are code of the user
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
        announce_node!(self.cuda, add_child_node, name, after)?;
        // SAFETY: by the caller's promise; `prepare` has captured a graph for each such node, which
        // `self.user_objects` keeps.
        unsafe { self.cuda.api().add_child_node(graph, after, self.captured(node)) }
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
        let announced = announce!(
            self.cuda,
            trace,
            node = name,
            after = after.len(),
            "the closure of a raw node"
        );
        announced.map_err(|error| (node, error))?;
        let site = RawSite {
            graph,
            context: self.cuda.context(),
            addresses: &self.user_objects.addresses,
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
