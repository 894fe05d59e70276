//! Graphs that share memory: launches in order with those of other graphs, and other memory in place.

use super::CudaExecutable;
use super::LOST;
use crate::backend::device::event::LaunchEvent;
use crate::backend::storage::Storage;
use crate::backend::uses::Claim;
use crate::driver::{self, CUstream};
use crate::error::{At, CudaError, Result, Site};
use cudarc::driver::CudaStream;
use graph_plan::Draft;

/// The most events that a graph has besides the newest: as many buffers can take turns without waiting for each other's
/// launches.
const MAX_EVENTS: usize = 7;

impl CudaExecutable {
    /// Starts the graph on a user's stream or its own, after the launches of other graphs that use the memory in
    /// `claims`, where those conflict and are on other streams.
    pub(crate) fn launch_shared(
        &mut self,
        draft: &Draft,
        claims: &[Claim<'_, LaunchEvent>],
        stream: Option<&CudaStream>,
    ) -> Result<()> {
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
        // A launch that failed was to come after others and stands for them (`Launches::add`): this one is to, as well.
        if self.in_flight.get() & LOST != 0 {
            self.wait().at(graph)?;
        }
        for claim in claims {
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
        self.launch_recorded(stream).at(graph)
    }

    /// Takes another event for launches from now on. Whoever uses what was let go of then need not wait for them. A
    /// launch must follow at once, since waiting looks at the newest event only.
    fn change_event(&mut self) -> Result<(), CudaError> {
        let event = match self.events.len() {
            MAX_EVENTS => self.events.pop_front(),
            _ => None,
        };
        // One that was used before stands for later launches, too.
        let event = event.map_or_else(|| LaunchEvent::new(&self.cuda), Ok)?;
        self.events.push_back(std::mem::replace(&mut self.event, event));
        Ok(())
    }

    /// Puts a resource somewhere else. Nodes that use it must be applied again.
    pub(crate) fn rebind(&mut self, resource: usize, storage: Storage) {
        self.adder.rebind(resource, &storage);
        self.storage[resource] = storage;
        self.rebound = true;
    }
}

/// The number of a stream, where it is one stream for all threads.
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
