//! Graphs that share memory: their launches wait for those of other graphs, and their memory can be replaced.

use super::CudaExecutable;
use super::LOST;
use crate::devices::adopted::Using;
use crate::devices::launch_event::LaunchEvent;
use crate::driver::{self, CUstream, CudaStream};
use crate::error::{At, CudaError, Result, Site};
use crate::ownership::shared_resources::Claims;
use crate::ownership::storage::Storage;
use graph_plan::Draft;
use std::sync::Arc;

/// The most events that a graph has besides the newest. This many buffers can take turns without waiting for each
/// other's launches.
const MAX_EVENTS: usize = 7;

impl CudaExecutable {
    /// Starts the graph on a user's stream or on its own. On the GPU, it first waits for launches of other graphs that
    /// conflict with `claims` and are on other streams.
    pub(crate) fn launch_shared(
        &mut self,
        draft: &Draft,
        claims: &Claims<'_>,
        stream: Option<&CudaStream>,
    ) -> Result<()> {
        let of_user = stream.is_some();
        let (stream, _using) = self.await_others(draft, claims, stream)?;
        if !of_user {
            return self.launch_deferred().at(|| Site::graph(&draft.name));
        }
        let launched = self.launch_on_checked(draft, stream);
        if self.is_captured() {
            // The stream does not order the launch. So whoever uses the memory waits for the event, which fails.
            claims.iter().for_each(|claim| claim.launched(None, &self.event));
        }
        launched
    }

    /// Makes the stream, a user's or the graph's own, wait for launches of other graphs that conflict with `claims` and
    /// are on other streams, and notes the launch that the caller is about to make there. Returns the stream, which
    /// lives as long as `self` and the user's stream; the context is current. Owners of adopted memory are told when
    /// the second value is dropped, which must be after the launch.
    pub(super) fn await_others<'c>(
        &mut self,
        draft: &Draft,
        claims: &'c Claims<'_>,
        stream: Option<&CudaStream>,
    ) -> Result<(CUstream, Using<'c>)> {
        let graph = || Site::graph(&draft.name);
        let (stream, id) = match stream {
            Some(stream) => {
                let stream = self.check_stream(draft, stream)?;
                // SAFETY: the `CudaStream` is borrowed, so the stream lives; `check_stream` has made the context
                // current.
                (stream, unsafe { user_stream_id(stream) }.at(graph)?)
            }
            None => {
                self.cuda.bind().at(graph)?;
                (self.stream, self.stream_id)
            }
        };
        let using = claims.begin(stream, Some(&self.cuda)).at(graph)?;
        // An earlier launch may have failed after `Launches::add`. It replaced the launches that it should have waited
        // for, so nothing makes this launch wait for them, either: everything is waited for.
        if self.in_flight.get() & LOST != 0 {
            self.wait().at(graph)?;
        }
        for claim in claims.iter() {
            for event in claim.launches_elsewhere(id, &self.event) {
                // SAFETY: the stream lives and is of this context, as is all memory that a graph shares; the context is
                // current.
                unsafe { event.precede(stream) }.at(graph)?;
            }
        }
        if std::mem::take(&mut self.rebound) {
            self.change_event().at(graph)?;
        }
        self.event.lose();
        claims.iter().for_each(|claim| claim.launched(id, &self.event));
        Ok((stream, using))
    }

    /// Takes another event for launches from now on. Those who use memory that was replaced then need not wait for
    /// these launches. A launch must follow at once, since waiting looks at the newest event only.
    fn change_event(&mut self) -> Result<(), CudaError> {
        self.event.record_deferred()?;
        let event = match self.events.len() {
            MAX_EVENTS => self.events.pop_front(),
            _ => None,
        };
        // An event that was used before now stands for later launches, too.
        let event = event.map_or_else(|| LaunchEvent::new(&self.cuda).map(Arc::new), Ok)?;
        self.events.push_back(std::mem::replace(&mut self.event, event));
        Ok(())
    }

    /// Replaces the memory of a resource. The caller must apply the nodes that use it again.
    pub(crate) fn rebind(&mut self, resource: usize, storage: Storage) {
        self.prepared.clear(); // they have addresses
        self.adder.rebind(resource, &storage);
        self.storage[resource] = storage;
        self.rebound = true;
    }
}

/// The number of a stream; `None` if the handle means another stream on each thread.
///
/// # Safety
///
/// The stream lives, and its context is current.
unsafe fn user_stream_id(stream: CUstream) -> Result<Option<u64>, CudaError> {
    const PER_THREAD: usize = 2; // `CU_STREAM_PER_THREAD`
    if stream.addr() == PER_THREAD {
        return Ok(None);
    }
    // SAFETY: by the caller's promise.
    unsafe { driver::stream::id(stream) }.map(Some)
}
