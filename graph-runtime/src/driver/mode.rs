//! The mode that decides which calls this thread may make while a stream is being captured.

use super::functions::call;
use crate::error::CudaError;
use cudarc::driver::sys::CUstreamCaptureMode;
use std::marker::PhantomData;

/// `cuThreadExchangeStreamCaptureMode`: sets the calling thread's mode and returns the one it had
unsafe fn exchange_capture_mode(mut mode: u32) -> Result<u32, CudaError> {
    call!(cuThreadExchangeStreamCaptureMode(&mut mode))?;
    Ok(mode)
}

/// Relaxes CUDA's rules for this thread, as long as it lives: calls that CUDA forbids while any stream is being
/// captured (allocating, freeing, waiting) neither fail nor disturb that capture. None of these calls is on a stream
/// that captures.
pub(crate) struct RelaxedCapture {
    _mode: ThreadMode,
}

impl RelaxedCapture {
    pub(crate) fn enter() -> Self {
        Self {
            _mode: ThreadMode::enter(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED),
        }
    }
}

/// Applies the rules of a capture's mode to such calls of this thread, as long as it lives, even inside a
/// [`RelaxedCapture`].
#[derive(Debug)]
pub(crate) struct CaptureRules {
    _mode: ThreadMode,
}

impl CaptureRules {
    pub(crate) fn enter(mode: CUstreamCaptureMode) -> Self {
        Self {
            _mode: ThreadMode::enter(mode),
        }
    }
}

/// A mode of this thread. Dropping it restores the mode before, which is a number: a driver may know other modes than
/// the bindings.
#[derive(Debug)]
struct ThreadMode {
    before: Option<u32>,
    /// Keeps it on the thread whose mode it is.
    not_send: PhantomData<*const ()>,
}

impl ThreadMode {
    fn enter(mode: CUstreamCaptureMode) -> Self {
        // SAFETY: the call takes any mode and needs no context; whoever gets here holds a CUDA object or has asked for
        // the library, so it is loaded.
        let before = unsafe { exchange_capture_mode(mode as u32) }.ok();
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
