//! Queues of work: one for each stream, with a thread of its own while there is work. So work is done after the call
//! that queued it has returned, a moment late, and beside the work of other streams.

use crate::settings::{SETTINGS, random};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The longest that the thread of a queue waits for more work.
const IDLE: Duration = Duration::from_millis(100);

/// Work that is queued.
type Work = Box<dyn FnOnce() + Send>;

/// The queue of a stream. It lives until its work is done, also if the stream is destroyed before.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Work, with the work of other queues that it comes after, and whether it is delayed.
    waiting: VecDeque<(Vec<Mark>, bool, Work)>,
    queued: u64,
    done: u64,
    has_thread: bool,
}

/// A place in a queue: all work before it.
#[derive(Clone)]
pub(crate) struct Mark {
    queue: Arc<Queue>,
    number: u64,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place after all work that is queued.
    pub(crate) fn end(self: &Arc<Self>) -> Mark {
        Mark {
            queue: self.clone(),
            number: self.state().queued,
        }
    }

    /// Queues work, which also comes after that of other queues. Returns the place after it.
    pub(crate) fn push(
        self: &Arc<Self>,
        after: Vec<Mark>,
        is_late: bool,
        work: impl FnOnce() + Send + 'static,
    ) -> Mark {
        let after = after
            .into_iter()
            .filter(|mark| !Arc::ptr_eq(&mark.queue, self))
            .collect();
        let mut state = self.state();
        state.waiting.push_back((after, is_late, Box::new(work)));
        state.queued += 1;
        let mark = Mark {
            queue: self.clone(),
            number: state.queued,
        };
        if !state.has_thread {
            state.has_thread = true;
            let queue = self.clone();
            thread::spawn(move || queue.run());
        }
        drop(state);
        self.changed.notify_all();
        mark
    }

    /// Does all work, and ends when there has been none for some time.
    fn run(&self) {
        let mut state = self.state();
        loop {
            let Some((after, is_late, work)) = state.waiting.pop_front() else {
                let waited = self.changed.wait_timeout(state, IDLE);
                let (again, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                state = again;
                if timeout.timed_out() && state.waiting.is_empty() {
                    state.has_thread = false;
                    return;
                }
                continue;
            };
            drop(state);
            if SETTINGS.is_stuck {
                loop {
                    thread::park();
                }
            }
            after.iter().for_each(Mark::wait);
            match random(4) {
                _ if !is_late => {}
                0 => thread::yield_now(),
                _ => thread::sleep(Duration::from_micros(random(SETTINGS.delay + 1))),
            }
            work();
            state = self.state();
            state.done += 1;
            self.changed.notify_all();
        }
    }
}

impl Mark {
    pub(crate) fn has_come(&self) -> bool {
        self.queue.state().done >= self.number
    }

    pub(crate) fn wait(&self) {
        let mut state = self.queue.state();
        while state.done < self.number {
            state = self.queue.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
