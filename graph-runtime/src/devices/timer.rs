//! The clock of a profile: two events around work on a stream.

use crate::devices::cuda::Cuda;
use crate::driver::{self, CUevent, CUstream};
use crate::error::CudaError;
use std::ptr;
use std::sync::Arc;

/// Two events with timing. No other thread sees them.
pub(crate) struct Timer {
    cuda: Arc<Cuda>,
    begin: CUevent,
    end: CUevent,
}

impl Timer {
    /// Makes the events. The context is current.
    pub(crate) fn new(cuda: &Arc<Cuda>) -> Result<Self, CudaError> {
        let mut timer = Self {
            cuda: cuda.clone(),
            begin: ptr::null_mut(),
            end: ptr::null_mut(),
        };
        // SAFETY: the context is current.
        timer.begin = unsafe { driver::event::create(true) }?;
        // SAFETY: as above.
        timer.end = unsafe { driver::event::create(true) }?;
        Ok(timer)
    }

    /// Starts the clock when all work that is queued on the stream has ended.
    ///
    /// # Safety
    ///
    /// The stream lives and is of the timer's context, which is current.
    pub(crate) unsafe fn begin(&self, stream: CUstream) -> Result<(), CudaError> {
        // SAFETY: by the caller's promise; the event is `self`'s.
        unsafe { driver::event::record(self.begin, stream) }
    }

    /// Stops the clock when all work that is queued on the stream has ended.
    ///
    /// # Safety
    ///
    /// As for [`Timer::begin`].
    pub(crate) unsafe fn end(&self, stream: CUstream) -> Result<(), CudaError> {
        // SAFETY: as above.
        unsafe { driver::event::record(self.end, stream) }
    }

    /// The time that was measured, when the stream has been waited for. CUDA tells it to about half a microsecond
    /// (CUDA driver API, `cuEventElapsedTime`).
    pub(crate) fn nanoseconds(&self) -> Result<u64, CudaError> {
        // SAFETY: the events are `self`'s, and have timing. If they have not come, that is an error.
        let milliseconds = unsafe { driver::event::elapsed(self.begin, self.end) }?;
        Ok((f64::from(milliseconds) * 1e6).max(0.0) as u64)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if self.cuda.bind_to_free().is_err() {
            return;
        }
        for event in [self.begin, self.end] {
            if !event.is_null() {
                // SAFETY: the event is `self`'s alone. CUDA keeps what recordings in flight need.
                let _ = unsafe { driver::event::destroy(event) };
            }
        }
    }
}
