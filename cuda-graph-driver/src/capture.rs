//! Captures of streams.

use crate::handle::Handle;
use std::thread::ThreadId;

/// A capture, which may be of several streams.
pub(crate) struct Capture {
    pub(crate) graph: Handle,
    /// Whether the graph was there before, so that the end of the capture does not own it.
    pub(crate) is_given: bool,
    /// 0 is global, 1 of the thread, 2 relaxed.
    pub(crate) mode: u32,
    pub(crate) thread: ThreadId,
    pub(crate) origin: Handle,
    pub(crate) is_invalid: bool,
}

/// A stream's part in a capture.
#[derive(Clone)]
pub(crate) struct Capturing {
    pub(crate) capture: u64,
    /// The nodes that its next node comes after.
    pub(crate) after: Vec<Handle>,
}

/// An event that was recorded in a capture.
#[derive(Clone)]
pub(crate) struct Captured {
    pub(crate) capture: u64,
    pub(crate) after: Vec<Handle>,
}
