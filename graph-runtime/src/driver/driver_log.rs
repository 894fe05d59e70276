//! The driver's own log, which came with CUDA 12.9: lines that say in plain English why a call or a kernel failed. The
//! driver, and cudarc's bindings, may be older.

use super::error::driver_calls;
use std::collections::VecDeque;
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// The most lines that are kept: the newest.
const MAX_LINES: usize = 20;

/// The newest lines, from any thread.
static LINES: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

/// A function that the driver calls with its data, a level, and a line of so many bytes.
type Receive = unsafe extern "C" fn(*mut c_void, u32, *const c_char, usize);

driver_calls! {
    NAMES;
    /// The function gets no data, and there is no place for a handle.
    fn register(receive: Receive)
        = cuLogsRegisterCallback(
            receive: Receive, data: *mut c_void = ptr::null_mut(), handle: *mut *mut c_void = ptr::null_mut(),
        ), newer;
}

/// `cuLogsRegisterCallback`: collects the driver's lines from now on. Does nothing with a driver that has no log.
pub(crate) unsafe fn start() {
    static START: Once = Once::new();
    START.call_once(|| {
        // SAFETY: `keep` may be called from any thread, for ever.
        let started = unsafe { register(keep) };
        tracing::debug!(target: "graph_runtime", ?started, "cuLogsRegisterCallback");
    });
}

/// Returns the lines since the last call, oldest first.
pub(crate) fn take() -> Vec<String> {
    lines().drain(..).collect()
}

/// Keeps a line. The driver calls this, on any thread. It makes no CUDA call, and does not panic.
unsafe extern "C" fn keep(_: *mut c_void, _level: u32, message: *const c_char, length: usize) {
    if message.is_null() {
        return;
    }
    // SAFETY: the driver passes a message of `length` bytes, which stays until this returns.
    let message = unsafe { std::slice::from_raw_parts(message.cast::<u8>(), length) };
    let message = String::from_utf8_lossy(message);
    let message = message.trim_end_matches(['\0', '\n', '\r', ' ']);
    let mut lines = lines();
    if lines.len() == MAX_LINES {
        lines.pop_front();
    }
    lines.push_back(message.to_owned());
}

fn lines() -> MutexGuard<'static, VecDeque<String>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_lines_are_kept() {
        for line in 0..MAX_LINES + 2 {
            let text = format!("line {line}\n");
            // SAFETY: the text has that many bytes.
            unsafe { keep(ptr::null_mut(), 0, text.as_ptr().cast(), text.len()) };
        }
        let lines = take();
        assert_eq!((lines.len(), &*lines[0]), (MAX_LINES, "line 2"));
        assert!(take().is_empty());
    }
}
