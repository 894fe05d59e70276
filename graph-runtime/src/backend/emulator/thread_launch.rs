//! Launches on threads of their own, so that programs find pending futures on the emulator, too.

use crate::backend::launch_end::InFlight;
use crate::error::{Error, Result, Site};
use crate::in_flight::lock::Lock;
use crate::program::host_call;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, PoisonError, mpsc};
use std::task::{Poll, Waker};
use std::thread;
use tracing::dispatcher;

/// A launch that may be in flight on a thread of its own.
pub(super) struct ThreadLaunch {
    graph: Site,
    state: Lock<ThreadState>,
    has_ended: Condvar,
}

#[derive(Default)]
struct ThreadState {
    /// The result, once the launch has ended.
    ended: Option<Result<()>>,
    /// The task that waits for the end.
    waker: Option<Waker>,
}

impl ThreadLaunch {
    fn new(graph: Site, ended: Option<Result<()>>) -> Arc<Self> {
        Arc::new(Self {
            graph,
            state: Lock::new(ThreadState { ended, waker: None }),
            has_ended: Condvar::new(),
        })
    }

    /// A launch that has ended.
    pub(super) fn ended(result: Result<()>) -> Arc<Self> {
        Self::new(Site::default(), Some(result))
    }

    /// Runs `launch` on a thread. It must call the function that it gets when it has claimed its memory, with the error
    /// if that was refused. Then this returns, also if the launch has not ended. The thread has dropped `launch`, with
    /// all that it owns, before anybody learns that it has ended.
    pub(super) fn start(
        graph: Site,
        launch: impl FnOnce(&dyn Fn(Result<()>)) -> Result<()> + Send + 'static,
    ) -> Result<Arc<Self>> {
        let started = Self::new(graph, None);
        let (claimed, answer) = mpsc::channel();
        let on_thread = started.clone();
        let subscriber = dispatcher::get_default(Clone::clone);
        let run = move || {
            let launch = || dispatcher::with_default(&subscriber, move || launch(&|result| _ = claimed.send(result)));
            let ran = catch_unwind(AssertUnwindSafe(launch));
            let ended = ran.unwrap_or_else(|payload| {
                let (site, message) = (on_thread.graph.clone(), host_call::message(payload));
                Err(Error::Panicked { site, message })
            });
            on_thread.end(ended);
        };
        let spawned = thread::Builder::new().name("cuda-graph-emulator".to_owned()).spawn(run);
        spawned.map_err(|_| Error::Unsupported {
            site: started.graph.clone(),
            message: "the system has no more threads for a launch on the CPU emulator",
        })?;
        // If it has panicked before that, its end says so.
        answer.recv().unwrap_or(Ok(()))?;
        Ok(started)
    }

    fn end(&self, result: Result<()>) {
        let mut state = self.state.lock();
        state.ended = Some(result);
        let waker = state.waker.take();
        drop(state);
        self.has_ended.notify_all();
        // Code of the executor; a panic ends nothing but this thread.
        waker.into_iter().for_each(Waker::wake);
    }

    /// Waits for the end, and returns the result of the launch. Fails in a host function, which may belong to this
    /// launch.
    pub(super) fn wait(&self) -> Result<Result<()>> {
        let mut state = self.state.lock();
        loop {
            if let Some(ended) = &state.ended {
                return Ok(ended.clone());
            }
            if host_call::is_running() {
                return Err(self.refusal());
            }
            state = self.has_ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    #[cold]
    fn refusal(&self) -> Error {
        Error::InUse {
            site: self.graph.clone(),
            message: "a launch is in flight, and nothing waits for it in a host function: the function may belong to it",
        }
    }
}

impl InFlight for ThreadLaunch {
    fn poll(self: Arc<Self>, waker: &Waker) -> Poll<Result<()>> {
        // Cloning and dropping wakers is code of the executor, and happens outside of the lock.
        let waker = waker.clone();
        let mut state = self.state.lock();
        if let Some(ended) = &state.ended {
            return Poll::Ready(ended.clone());
        }
        if host_call::is_running() {
            return Poll::Ready(Err(self.refusal()));
        }
        let before = state.waker.replace(waker);
        drop(state);
        drop(before);
        Poll::Pending
    }

    fn forget_waker(&self) {
        let waker = self.state.lock().waker.take();
        drop(waker);
    }
}
