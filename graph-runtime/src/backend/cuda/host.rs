//! `call`, `record` and `wait` as CUDA nodes.

use super::CudaExecutable;
use crate::backend::host_calls::BoundCall;
use crate::driver::host_function::HostNode;
use crate::driver::{CUgraph, CUgraphNode};
use crate::error::CudaError;
use crate::program::event::Event;
use std::ffi::c_void;
use std::sync::Arc;

/// The function that CUDA calls, on a thread of CUDA's own. It never panics: `BoundCall::run` catches panics.
unsafe extern "C" fn run(call: *mut c_void) {
    // SAFETY: `add_call` passed the address of a `BoundCall`, which lives until no launch is in flight (fact 8 of
    // `CudaExecutable`).
    let call = unsafe { &*call.cast_const().cast::<BoundCall>() };
    // SAFETY: a launch runs the node, so the memory lives, and nobody else touches it now (facts 2, 4 and 8).
    unsafe { call.run() };
}

/// The parameters of a node that calls the function.
fn host_node(call: *const BoundCall) -> HostNode {
    HostNode {
        function: run,
        data: call.cast_mut().cast(),
    }
}

impl CudaExecutable {
    /// Adds a node that calls a host function.
    ///
    /// # Safety
    ///
    /// The graph and the nodes in `after` live and belong together; the graph is of the context of `self`.
    pub(super) unsafe fn add_call(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        node: usize,
        name: &str,
    ) -> Result<CUgraphNode, CudaError> {
        announce_node!(self.cuda, add_host_node, name, after)?;
        let call = self.user_objects.calls.get(node).map_or(std::ptr::null(), Arc::as_ptr);
        // SAFETY: by the caller's promise; `run` takes this address, and `self.user_objects` has a call for each such
        // node of the program.
        unsafe { self.cuda.api().add_host_node(graph, after, &host_node(call)) }
    }

    /// Makes later launches call the function of `node` with its memory where that is now.
    pub(super) fn apply_call(&mut self, node: usize) -> Result<(), CudaError> {
        self.renew_call(node)?;
        let call = self.user_objects.calls.get(node).map_or(std::ptr::null(), Arc::as_ptr);
        // SAFETY: fact 1 of `CudaExecutable`; the node is a host node; `run` takes this address (fact 8).
        unsafe {
            self.cuda
                .api()
                .set_host_node(self.exec, self.handle(node), &host_node(call))
        }
    }

    /// Binds the function of `node` to its memory where that is now. Launches in flight keep the old function.
    pub(super) fn renew_call(&mut self, node: usize) -> Result<(), CudaError> {
        /// The most retired functions that are kept for launches in flight. The next change waits for these launches.
        const MAX_RETIRED: usize = 64;
        if self.user_objects.calls.retired() >= MAX_RETIRED {
            self.wait()?;
        }
        if self.in_flight.get() == 0 {
            self.user_objects.calls.forget_retired();
        }
        self.user_objects.calls.renew(node, &self.storage);
        self.cuda.bind() // destructors of retired functions, which are code of the user, may have run
    }

    /// Adds a node that records an event or, if `wait`, one that waits for it.
    ///
    /// # Safety
    ///
    /// As for [`CudaExecutable::add_call`].
    pub(super) unsafe fn add_event(
        &self,
        graph: CUgraph,
        after: &[CUgraphNode],
        event: &Event,
        wait: bool,
        name: &str,
    ) -> Result<CUgraphNode, CudaError> {
        // `support` has refused events of other devices.
        let event = event.raw_in(self.cuda.raw()).unwrap_or(std::ptr::null_mut());
        if wait {
            announce_node!(self.cuda, add_wait_node, name, after)?;
            // SAFETY: by the caller's promise; the event lives as long as `self.user_objects` (fact 8 of
            // `CudaExecutable`).
            unsafe { self.cuda.api().add_wait_node(graph, after, event) }
        } else {
            announce_node!(self.cuda, add_record_node, name, after)?;
            // SAFETY: as above.
            unsafe { self.cuda.api().add_record_node(graph, after, event) }
        }
    }
}
