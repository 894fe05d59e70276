//! Host functions that CUDA calls once an event has come, each on a stream of its own.

use crate::driver::{self, CUevent, CUstream};
use crate::error::CudaError;
use crate::in_flight::lock::Lock;
use std::ffi::c_void;
use std::ptr;

/// The streams of a context whose alarms have rung.
#[derive(Default)]
pub(crate) struct Alarms(Lock<Vec<Alarm>>);

/// A stream on which a host function waits, or has run.
pub(crate) struct Alarm(CUstream);

// SAFETY: a stream may be used by any thread (D2 of `docs/safety.md`).
unsafe impl Send for Alarm {}

impl Alarms {
    /// Makes CUDA call `ring` on a thread of its own once the event has come. If the context fails before that, CUDA
    /// never calls it.
    ///
    /// # Safety
    ///
    /// The context of these alarms is current. The event lives and is of this context. `ring` may be called with a null
    /// pointer at any time, and makes no CUDA calls.
    pub(super) unsafe fn set(
        &self,
        event: CUevent,
        ring: unsafe extern "C" fn(*mut c_void),
    ) -> Result<Alarm, CudaError> {
        let idle = self.0.lock().pop();
        let alarm = match idle {
            Some(alarm) => alarm,
            // SAFETY: by the caller's promise.
            None => Alarm(unsafe { driver::stream::create() }?),
        };
        // SAFETY: by the caller's promise; the stream is the alarm's own.
        let waits = unsafe { driver::stream::wait_event(alarm.0, event) };
        // SAFETY: as above; the function takes no data.
        let set = waits.and_then(|()| unsafe { driver::host_function::launch(alarm.0, ring, ptr::null_mut()) });
        if let Err(error) = set {
            // SAFETY: by the caller's promise; nobody else has the stream.
            let _ = unsafe { driver::stream::destroy(alarm.0) };
            return Err(error);
        }
        Ok(alarm)
    }

    /// Takes back an alarm whose event has come, so that the stream is used again.
    pub(crate) fn take_back(&self, alarm: Alarm) {
        self.0.lock().push(alarm);
    }

    pub(super) fn is_empty(&mut self) -> bool {
        self.0.get_mut().is_empty()
    }

    /// Destroys the streams.
    ///
    /// # Safety
    ///
    /// The context of these alarms is current.
    pub(super) unsafe fn destroy(&mut self) {
        for alarm in self.0.get_mut().drain(..) {
            // SAFETY: by the caller's promise; nobody else has the stream, and a function that still runs on it has no
            // data.
            let _ = unsafe { driver::stream::destroy(alarm.0) };
        }
    }
}
