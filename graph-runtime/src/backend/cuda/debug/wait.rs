//! Waits for a stream, for so long.

use crate::driver::{self, CUstream};
use crate::error::CudaError;
use std::thread;
use std::time::{Duration, Instant};

/// The reason why a wait ended without the work having ended.
pub(super) enum Failed {
    Cuda(CudaError),
    /// The work takes longer than this.
    Late(Duration),
}

/// The time for which the wait asks again and again; after that, it sleeps in between.
const BUSY: Duration = Duration::from_micros(200);
/// The longest sleep.
const MAX_SLEEP: Duration = Duration::from_millis(1);

/// Waits until all work of the stream is done.
///
/// # Safety
///
/// The stream lives, and its context is current.
pub(super) unsafe fn wait(stream: CUstream, limit: Option<Duration>) -> Result<(), Failed> {
    let Some(limit) = limit else {
        // SAFETY: by the caller's promise.
        return unsafe { driver::stream::synchronize(stream) }.map_err(Failed::Cuda);
    };
    let began = Instant::now();
    loop {
        // SAFETY: by the caller's promise.
        if unsafe { driver::stream::is_done(stream) }.map_err(Failed::Cuda)? {
            return Ok(());
        }
        let waited = began.elapsed();
        if waited >= limit {
            return Err(Failed::Late(limit));
        }
        if waited < BUSY {
            std::hint::spin_loop();
        } else {
            thread::sleep((waited / 8).min(MAX_SLEEP));
        }
    }
}
