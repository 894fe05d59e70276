//! The calls that this thread may make while a stream is being captured.

use super::call::call;
use crate::error::CudaError;
use cudarc::driver::sys;
use std::marker::PhantomData;

/// `cuThreadExchangeStreamCaptureMode`: sets the calling thread's mode and returns the one it had
unsafe fn exchange_capture_mode(mut mode: sys::CUstreamCaptureMode) -> Result<sys::CUstreamCaptureMode, CudaError> {
    call!(cuThreadExchangeStreamCaptureMode(&mut mode))?;
    Ok(mode)
}

/// While it lives, calls of this thread that CUDA forbids during somebody's capture (allocating, freeing, waiting)
/// neither fail nor disturb that capture. Nothing is done to any stream that captures.
pub(crate) struct RelaxedCapture {
    _mode: ThreadMode,
}

impl RelaxedCapture {
    pub(crate) fn enter() -> Self {
        Self {
            _mode: ThreadMode::enter(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED),
        }
    }
}

/// While it lives, such calls of this thread fail if this thread captures, whatever [`RelaxedCapture`] is around it.
pub(crate) struct StrictCapture {
    _mode: ThreadMode,
}

impl StrictCapture {
    pub(crate) fn enter() -> Self {
        Self {
            _mode: ThreadMode::enter(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
        }
    }
}

/// The mode of this thread while it lives; then the one before.
struct ThreadMode {
    before: Option<sys::CUstreamCaptureMode>,
    /// The mode belongs to this thread.
    not_send: PhantomData<*const ()>,
}

impl ThreadMode {
    fn enter(mode: sys::CUstreamCaptureMode) -> Self {
        // SAFETY: the call takes any mode and needs no context; whoever gets here holds a CUDA object, so the library
        // is loaded.
        let before = unsafe { exchange_capture_mode(mode) }.ok();
        Self {
            before,
            not_send: PhantomData,
        }
    }
}

impl Drop for ThreadMode {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: as in `enter`.
            let _ = unsafe { exchange_capture_mode(before) };
        }
    }
}
