//! The end of one launch, for a future.

use crate::backend::host_calls::{HostCalls, Panic};
use crate::backend::watched_launch::WatchedLaunch;
use crate::devices::launch_event::LaunchEvent;
use crate::error::{At, Result, Site};
use graph_plan::Draft;
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
}

enum LaunchState {
    /// The launch had ended before it returned.
    Ended(Result<()>),
    InFlight {
        launch: Arc<WatchedLaunch>,
        graph: Site,
    },
}

impl LaunchEnd {
    /// The end of a launch that had ended before it returned.
    pub(super) fn known(result: Result<()>, calls: &HostCalls) -> Self {
        Self {
            state: LaunchState::Ended(result),
            panic: calls.panic().clone(),
        }
    }

    /// The end of a launch after which `event` was recorded.
    pub(super) fn watched(draft: &Draft, event: LaunchEvent, max_spin: Duration, calls: &HostCalls) -> Self {
        let launch = WatchedLaunch::new(event, max_spin);
        let graph = Site::graph(&draft.name);
        Self {
            state: LaunchState::InFlight { launch, graph },
            panic: calls.panic().clone(),
        }
    }

    /// Whether the launch has ended, or its error. If it has not, the waker is called when it has.
    pub(crate) fn poll(&self, waker: &Waker) -> Poll<Result<()>> {
        let ended = match &self.state {
            LaunchState::Ended(result) => Poll::Ready(result.clone()),
            LaunchState::InFlight { launch, graph } => launch.poll(waker).map(|ended| ended.at(|| graph.clone())),
        };
        ended.map(|ended| ended.and_then(|()| self.panic.take()))
    }
}

impl Drop for LaunchEnd {
    fn drop(&mut self) {
        match &self.state {
            LaunchState::Ended(_) => {}
            LaunchState::InFlight { launch, .. } => launch.forget_waker(),
        }
    }
}
