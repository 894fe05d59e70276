//! The end of one launch, for a future.

use crate::backend::host_calls::{HostCalls, Panic};
use crate::error::Result;
use crate::program::communicator::Communicator;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

/// The default of [`Device::with_max_spin`](crate::Device::with_max_spin).
pub(crate) const MAX_SPIN: Duration = Duration::from_millis(100);

/// The end of one launch. It keeps nothing of the graph alive, and the graph need not know of it: nothing that the GPU
/// uses depends on when it is polled, dropped or forgotten.
pub(crate) struct LaunchEnd {
    state: LaunchState,
    /// The host functions' first panic.
    panic: Arc<Panic>,
    /// The communicators of the graph, whose kernels may have reported a rank that is missing.
    communicators: Arc<[Communicator]>,
}

enum LaunchState {
    /// The launch had ended before it returned.
    Ended(Result<()>),
    InFlight(Arc<dyn InFlight>),
}

/// A launch that may be in flight.
pub(super) trait InFlight: Send + Sync {
    /// Whether the launch has ended, or its error. If it has not, the waker is called when it has.
    ///
    /// Fails in host functions, as waiting for a graph does: the function may belong to this launch.
    fn poll(self: Arc<Self>, waker: &Waker) -> Poll<Result<()>>;

    /// Forgets the task that waits.
    fn forget_waker(&self);
}

impl LaunchEnd {
    /// The end of a launch that had ended before it returned.
    pub(super) fn known(result: Result<()>, calls: &HostCalls) -> Self {
        Self::new(LaunchState::Ended(result), calls)
    }

    fn new(state: LaunchState, calls: &HostCalls) -> Self {
        Self {
            state,
            panic: calls.panic().clone(),
            communicators: Arc::default(),
        }
    }

    /// The end of a launch that may be in flight.
    pub(super) fn of(launch: Arc<dyn InFlight>, calls: &HostCalls) -> Self {
        Self::new(LaunchState::InFlight(launch), calls)
    }

    /// The end of a launch whose kernels report ranks that are missing.
    pub(super) fn with_ranks(mut self, communicators: &Arc<[Communicator]>) -> Self {
        self.communicators = communicators.clone();
        self
    }

    /// Whether the launch has ended, or its error. If it has not, the waker is called when it has.
    pub(crate) fn poll(&self, waker: &Waker) -> Poll<Result<()>> {
        let ended = match &self.state {
            LaunchState::Ended(result) => Poll::Ready(result.clone()),
            LaunchState::InFlight(launch) => launch.clone().poll(waker),
        };
        let checked = ended.map(|ended| ended.and_then(|()| Communicator::check(&self.communicators)));
        checked.map(|ended| ended.and_then(|()| self.panic.take()))
    }
}

impl Drop for LaunchEnd {
    fn drop(&mut self) {
        if let LaunchState::InFlight(launch) = &self.state {
            launch.forget_waker();
        }
    }
}
