//! The event that is recorded after a graph's launches.

use crate::devices::cuda::Cuda;
use crate::devices::event_alarm::Alarm;
use crate::driver::{self, CUevent, CUstream, RelaxedCapture};
use crate::error::CudaError;
use crate::in_flight::lock::Lock;
use crate::in_flight::uses::Awaited;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// The longest that a host function waits for another thread's answer. The driver may keep that thread waiting for the
/// function itself.
const MAX_QUERY: Duration = Duration::from_millis(100);

/// The code of a question about an event that has not come.
const NOT_READY: u32 = 600;

/// The code of calls that wait for an event whose last recording was captured.
const CAPTURED_EVENT: u32 = 907;

/// An event that is recorded after the launches of a graph. Users of memory that the graph shares wait for it. It
/// stands for all launches of the graph so far, since those run one after the other, on whatever streams.
///
/// After launches on the graph's own stream, whoever wants to wait records it ([`LaunchEvent::defer`]). Recording it
/// after each launch would keep the GPU from the next one for 2 us (measured on an H200).
pub(crate) struct LaunchEvent {
    cuda: Arc<Cuda>,
    event: CUevent,
    /// The graph's own stream, if the event is still to be recorded there; else null. It lives while it is in here:
    /// [`LaunchEvent::forget_deferred`].
    deferred: Lock<CUstream>,
    /// Whether there is, or may soon be, a launch after which the event is not recorded. Then waiting means waiting for
    /// the whole context.
    lost: AtomicBool,
    /// Whether a launch is in a graph that somebody else has. Then nobody can wait for it.
    given_up: AtomicBool,
}

// SAFETY: events may be used by any thread, and by several at once (D2 of `docs/safety.md`).
unsafe impl Send for LaunchEvent {}
// SAFETY: as above.
unsafe impl Sync for LaunchEvent {}

impl LaunchEvent {
    pub(crate) fn new(cuda: &Arc<Cuda>) -> Result<Self, CudaError> {
        cuda.bind()?;
        // SAFETY: the context is current.
        let event = unsafe { driver::event::create(false) }?;
        Ok(Self {
            cuda: cuda.clone(),
            event,
            deferred: Lock::new(null_mut()),
            lost: AtomicBool::new(false),
            given_up: AtomicBool::new(false),
        })
    }

    /// Notes that a launch is about to be queued, after which the event is not recorded yet.
    pub(crate) fn lose(&self) {
        self.lost.store(true, SeqCst);
    }

    /// Makes all waiting fail from now on.
    pub(crate) fn give_up(&self) {
        self.lose();
        self.given_up.store(true, SeqCst);
    }

    /// Whether all waiting fails.
    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up.load(SeqCst)
    }

    /// Records the event after the launch that was just queued on `stream`.
    ///
    /// # Safety
    ///
    /// The stream lives and is of this context, which is current.
    pub(crate) unsafe fn record(&self, stream: CUstream) -> Result<(), CudaError> {
        let mut deferred = self.deferred.lock();
        // SAFETY: by the caller's promise; the event is `self`'s.
        unsafe { driver::event::record(self.event, stream) }?;
        *deferred = null_mut();
        self.lost.store(false, SeqCst);
        Ok(())
    }

    /// Instead of recording the event after the launch that was just queued on `stream`: whoever waits records it then.
    /// Launches that have followed by that time are waited for, too.
    ///
    /// # Safety
    ///
    /// The stream is of this context, and lives until [`LaunchEvent::forget_deferred`].
    pub(crate) unsafe fn defer(&self, stream: CUstream) {
        *self.deferred.lock() = stream;
        self.lost.store(false, SeqCst);
    }

    /// Records the event, if that was deferred. The context is current.
    pub(crate) fn record_deferred(&self) -> Result<(), CudaError> {
        let mut deferred = self.deferred.lock();
        if !deferred.is_null() {
            // SAFETY: by the promise of `defer`, the stream lives while it is in `deferred`, and is of this context;
            // the event is `self`'s.
            unsafe { driver::event::record(self.event, *deferred) }?;
            *deferred = null_mut();
        }
        Ok(())
    }

    /// Notes that all launches on the graph's own stream have ended, so that there is nothing to record.
    pub(crate) fn forget_deferred(&self) {
        *self.deferred.lock() = null_mut();
    }

    /// Makes work that is queued on `stream` from now on wait for the launches.
    ///
    /// # Safety
    ///
    /// The stream lives and is of this context, which is current.
    pub(crate) unsafe fn precede(&self, stream: CUstream) -> Result<(), CudaError> {
        if self.lost.load(SeqCst) {
            return self.wait();
        }
        self.record_deferred()?;
        // SAFETY: by the caller's promise; the event is `self`'s.
        unsafe { driver::stream::wait_event(stream, self.event) }
    }

    /// Whether the last recording was captured, also by a capture that has ended since. The context is current.
    pub(crate) fn is_captured(&self) -> Result<bool, CudaError> {
        const INVALID_VALUE: u32 = 1;
        let _relaxed = RelaxedCapture::enter();
        // SAFETY: the event is `self`'s, and the context is current.
        match unsafe { driver::event::query(self.event) } {
            // Driver 580 says this of an event whose only recording was captured; the event itself is valid.
            Err(error) if matches!(error.code(), CAPTURED_EVENT | INVALID_VALUE) => Ok(true),
            Err(error) if error.code() != NOT_READY => Err(error),
            Ok(()) | Err(_) => Ok(false),
        }
    }

    /// Whether the launches have ended, or failed; `None` while they run. Does not wait. A launch that is
    /// [lost](LaunchEvent::lose) does not count.
    pub(crate) fn end(&self) -> Option<Result<(), CudaError>> {
        let _relaxed = RelaxedCapture::enter();
        // SAFETY: the event is `self`'s.
        let query = |()| unsafe { driver::event::query(self.event) };
        match self.cuda.bind().and_then(query) {
            Err(error) if error.code() == NOT_READY => None,
            ended => Some(ended),
        }
    }

    /// Makes CUDA call `ring` on a thread of its own once the launches have ended; never, if the context fails.
    /// The caller gives the alarm to [`LaunchEvent::silence`] when they have ended.
    ///
    /// # Safety
    ///
    /// `ring` may be called with a null pointer at any time, and makes no CUDA calls.
    pub(crate) unsafe fn set_alarm(&self, ring: unsafe extern "C" fn(*mut c_void)) -> Result<Alarm, CudaError> {
        let _relaxed = RelaxedCapture::enter();
        self.cuda.bind()?;
        // SAFETY: the context is current, and the event is `self`'s; by the caller's promise.
        unsafe { self.cuda.alarms().set(self.event, ring) }
    }

    /// Takes back an alarm of launches that have ended.
    pub(crate) fn silence(&self, alarm: Alarm) {
        self.cuda.alarms().take_back(alarm);
    }

    /// Whether the launches have ended. False if CUDA cannot tell.
    fn has_ended(&self) -> bool {
        if self.lost.load(SeqCst) || self.is_given_up() {
            return false;
        }
        let deferred = self.deferred.lock();
        if deferred.is_null() {
            return self.end() == Some(Ok(()));
        }
        let _relaxed = RelaxedCapture::enter();
        // SAFETY: the stream lives while it is in `deferred`.
        let is_done = |()| unsafe { driver::stream::is_done(*deferred) };
        self.cuda.bind().and_then(is_done) == Ok(true)
    }
}

impl Awaited for LaunchEvent {
    fn wait(&self) -> Result<(), CudaError> {
        if self.is_given_up() {
            return Err(driver::error("cuEventSynchronize", CAPTURED_EVENT));
        }
        let _relaxed = RelaxedCapture::enter();
        if self.lost.load(SeqCst) {
            return self.cuda.synchronize();
        }
        self.cuda.bind()?;
        self.record_deferred()?;
        // SAFETY: the event is `self`'s.
        unsafe { driver::event::synchronize(self.event) }
    }

    /// CUDA forbids its calls in host functions, so another thread asks.
    fn have_ended(events: Vec<Arc<Self>>) -> bool {
        let (sender, answer) = mpsc::channel();
        let ask = move || sender.send(events.iter().all(|event| event.has_ended()));
        let asked = thread::Builder::new().name("cuda-graph-query".to_owned()).spawn(ask);
        asked.is_ok() && answer.recv_timeout(MAX_QUERY) == Ok(true)
    }
}

impl Drop for LaunchEvent {
    fn drop(&mut self) {
        if self.cuda.bind_to_free().is_ok() {
            // SAFETY: the event was made for `self` alone; CUDA lets whoever waits for it finish.
            let _ = unsafe { driver::event::destroy(self.event) };
        }
    }
}
