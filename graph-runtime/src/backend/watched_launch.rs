//! Launches that futures wait for, and the thread that asks whether they have ended.
//!
//! The thread begins with the first future that has to wait, and sleeps while none does. It asks again and again
//! without a pause, as CUDA's own waits do, so that the end is seen within microseconds. If a launch takes longer than
//! [`Device::with_max_spin`](crate::Device::with_max_spin) says, CUDA wakes the thread when it ends, by a host function
//! that is queued after the launch (on a stream of its own, so that the graph's next launch does not wait for it). On
//! an H200 with driver 580, which has no `cuLaunchHostFunc_v2`, that is 0.2 to 0.4 ms late. If the context fails, CUDA
//! calls no host function. So the thread also asks every [`MAX_PAUSE`].
//!
//! Wakers run on this thread, outside of its locks, and never in a host function: an executor that polls in its waker
//! may launch graphs there.

use crate::backend::launch_end::InFlight;
use crate::devices::event_alarm::Alarm;
use crate::devices::launch_event::LaunchEvent;
use crate::error::{At, CudaError, Result, Site};
use crate::in_flight::lock::Lock;
use crate::in_flight::uses::Awaited;
use crate::program::host_call::refuse_in_host_function;
use std::ffi::c_void;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::task::{Poll, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// The pauses of the processor, each some dozens of cycles, before the thread asks again. Without them, launches on
/// other threads are slower, since they contend with the questions for locks of the driver.
const PAUSES: usize = 16;
/// The time after which the thread asks again, if nothing wakes it.
const MAX_PAUSE: Duration = Duration::from_millis(10);
/// As [`MAX_PAUSE`], while a launch has no alarm, since none could be set.
const MAX_PAUSE_WITHOUT_ALARM: Duration = Duration::from_micros(200);

/// One launch that may be in flight.
pub(crate) struct WatchedLaunch {
    /// The event that was recorded after this launch alone.
    event: LaunchEvent,
    /// The time for which the thread asks without a pause.
    max_spin: Duration,
    graph: Site,
    state: Lock<WatchState>,
}

#[derive(Default)]
struct WatchState {
    /// The result, once the thread has seen the end.
    ended: Option<Result<(), CudaError>>,
    /// The task that waits for the end.
    waker: Option<Waker>,
    /// The time since which the thread has the launch.
    watched_since: Option<Instant>,
}

impl WatchedLaunch {
    pub(crate) fn new(event: LaunchEvent, max_spin: Duration, graph: Site) -> Arc<Self> {
        Arc::new(Self {
            event,
            max_spin,
            graph,
            state: Lock::default(),
        })
    }

    fn poll_event(self: &Arc<Self>, waker: &Waker) -> Poll<Result<(), CudaError>> {
        let (ended, watched_since) = {
            let state = self.state.lock();
            (state.ended, state.watched_since)
        };
        if let Some(ended) = ended {
            return Poll::Ready(ended);
        }
        if let Err(error) = refuse_in_host_function() {
            return Poll::Ready(Err(error));
        }
        // While the thread asks without a pause, another question would only contend with it for locks of the driver.
        let is_asked = watched_since.is_some_and(|since| since.elapsed() < self.max_spin);
        if !is_asked && let Some(ended) = self.event.end() {
            return Poll::Ready(ended);
        }
        // Cloning and dropping wakers is code of the executor, and happens outside of the lock.
        let waker = waker.clone();
        let mut state = self.state.lock();
        if let Some(ended) = state.ended {
            return Poll::Ready(ended);
        }
        let before = state.waker.replace(waker);
        let is_watched = state.watched_since.is_some();
        state.watched_since.get_or_insert_with(Instant::now);
        drop(state);
        if !is_watched && watch(self.clone()).is_err() {
            return Poll::Ready(self.event.wait()); // the system has no more threads
        }
        drop(before); // which may panic, so the launch is watched by now
        Poll::Pending
    }
}

impl InFlight for WatchedLaunch {
    fn poll(self: Arc<Self>, waker: &Waker) -> Poll<Result<()>> {
        self.poll_event(waker).map(|ended| ended.at(|| self.graph.clone()))
    }

    fn forget_waker(&self) {
        let waker = self.state.lock().waker.take();
        drop(waker);
    }
}

/// The thread, once it has begun.
static THREAD: OnceLock<Thread> = OnceLock::new();
/// Launches that the thread does not have yet.
static ARRIVED: Lock<Vec<Arc<WatchedLaunch>>> = Lock::new(Vec::new());

/// Gives a launch to the thread.
fn watch(launch: Arc<WatchedLaunch>) -> io::Result<()> {
    let mut arrived = ARRIVED.lock();
    if THREAD.get().is_none() {
        let thread = thread::Builder::new().name("cuda-graph-watch".to_owned()).spawn(run)?;
        let _ = THREAD.set(thread.thread().clone()); // the lock lets one caller come here
    }
    arrived.push(launch);
    drop(arrived);
    wake_thread();
    Ok(())
}

fn wake_thread() {
    if let Some(thread) = THREAD.get() {
        thread.unpark();
    }
}

/// The host function of alarms. It takes no data, makes no CUDA call and does not panic.
unsafe extern "C" fn ring(_: *mut c_void) {
    wake_thread();
}

/// A launch that the thread asks for.
struct Entry {
    launch: Arc<WatchedLaunch>,
    since: Instant,
    alarm: Option<Alarm>,
}

/// The thread. It never ends.
fn run() {
    let mut entries: Vec<Entry> = Vec::new();
    loop {
        entries.extend(ARRIVED.lock().drain(..).map(|launch| Entry {
            launch,
            since: Instant::now(),
            alarm: None,
        }));
        let wakers = ended(&mut entries);
        if !wakers.is_empty() {
            wakers.into_iter().for_each(wake);
        } else if entries.is_empty() {
            thread::park();
        } else if entries
            .iter()
            .any(|entry| entry.since.elapsed() < entry.launch.max_spin)
        {
            (0..PAUSES).for_each(|_| std::hint::spin_loop());
            thread::yield_now(); // to whoever has no processor
        } else {
            entries.iter_mut().for_each(Entry::set_alarm);
            let all = entries.iter().all(|entry| entry.alarm.is_some());
            thread::park_timeout(if all { MAX_PAUSE } else { MAX_PAUSE_WITHOUT_ALARM });
        }
    }
}

/// Takes the launches that have ended or that nobody waits for out of the list. Returns the tasks to wake.
fn ended(entries: &mut Vec<Entry>) -> Vec<Waker> {
    let mut wakers = Vec::new();
    entries.retain_mut(|entry| {
        let Some(ended) = entry.launch.event.end() else {
            // The stream of an alarm is of no use before the end.
            return entry.alarm.is_some() || Arc::strong_count(&entry.launch) > 1;
        };
        if let Some(alarm) = entry.alarm.take() {
            entry.launch.event.silence(alarm);
        }
        let mut state = entry.launch.state.lock();
        state.ended = Some(ended);
        wakers.extend(state.waker.take());
        false
    });
    wakers
}

impl Entry {
    /// Makes CUDA wake the thread when the launch ends, if it can.
    fn set_alarm(&mut self) {
        if self.alarm.is_none() {
            // SAFETY: `ring` may be called at any time.
            self.alarm = unsafe { self.launch.event.set_alarm(ring) }.ok();
        }
    }
}

/// Calls a waker, which is code of the executor. Other launches are watched even if it panics.
fn wake(waker: Waker) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
        std::mem::forget(payload); // its `drop` could panic, too
    }
}
