//! The mode that decides which calls this thread may make while a stream is being captured.

use super::error::driver_calls;
use super::types::CUstreamCaptureMode;
use std::marker::PhantomData;

driver_calls! {
    NAMES;
    /// Sets the calling thread's mode, and writes the one that it had.
    fn exchange_capture_mode(mode: &mut u32)
        = cuThreadExchangeStreamCaptureMode(mode: *mut u32 as *mut sys::CUstreamCaptureMode);
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
    /// Not `Send`: the mode belongs to the thread that set it.
    not_send: PhantomData<*const ()>,
}

impl ThreadMode {
    fn enter(mode: CUstreamCaptureMode) -> Self {
        let mut before = mode as u32;
        // SAFETY: the call takes any mode and needs no context; whoever gets here holds a CUDA object or has asked for
        // the library, so it is loaded.
        let exchanged = unsafe { exchange_capture_mode(&mut before) };
        Self {
            before: exchanged.ok().map(|()| before),
            not_send: PhantomData,
        }
    }
}

impl Drop for ThreadMode {
    fn drop(&mut self) {
        if let Some(mut before) = self.before {
            // SAFETY: as in `enter`.
            let _ = unsafe { exchange_capture_mode(&mut before) };
        }
    }
}
