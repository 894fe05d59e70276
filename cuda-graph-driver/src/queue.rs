//! Queues of work: one for each stream, with a thread of its own while there is work. So work is done after the call
//! that queued it has returned, a moment late, and beside the work of other streams. Threads never end: a function of
//! the user finds what it has left on its thread, as with CUDA.

use crate::settings::{SETTINGS, random};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

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
            employ(self.clone());
        }
        drop(state);
        self.changed.notify_all();
        mark
    }

    /// Does all work.
    fn run(&self) {
        let mut state = self.state();
        loop {
            let Some((after, is_late, work)) = state.waiting.pop_front() else {
                state.has_thread = false;
                return;
            };
            drop(state);
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

/// Lets a thread do the work of a queue: the one that was idle last, or a new one.
fn employ(queue: Arc<Queue>) {
    static IDLE: Mutex<Vec<mpsc::Sender<Arc<Queue>>>> = Mutex::new(Vec::new());
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let last = idle().pop();
    let thread = last.unwrap_or_else(|| {
        let (thread, queues) = mpsc::channel::<Arc<Queue>>();
        let this = thread.clone();
        thread::spawn(move || {
            for queue in queues {
                queue.run();
                idle().push(this.clone());
            }
        });
        thread
    });
    let _ = thread.send(queue); // its thread never ends
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
