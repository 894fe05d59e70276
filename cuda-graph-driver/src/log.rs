//! The driver's log: the functions that callers have registered get a line for each call or kernel that fails.

use std::ffi::c_char;
use std::sync::{Mutex, PoisonError};

/// A function that gets its data, a level, a text and its length.
pub(crate) type Receive = unsafe extern "C" fn(usize, u32, *const c_char, usize);

/// The level of errors.
const ERROR: u32 = 0;

static RECEIVERS: Mutex<Vec<(usize, Receive, usize)>> = Mutex::new(Vec::new());

/// Adds a function, and returns its handle.
pub(crate) fn register(receive: Receive, data: usize) -> usize {
    let mut receivers = RECEIVERS.lock().unwrap_or_else(PoisonError::into_inner);
    let handle = receivers.last().map_or(1, |(handle, ..)| handle + 1);
    receivers.push((handle, receive, data));
    handle
}

pub(crate) fn unregister(handle: usize) {
    let mut receivers = RECEIVERS.lock().unwrap_or_else(PoisonError::into_inner);
    receivers.retain(|(other, ..)| *other != handle);
}

/// Tells all of them, and standard error if `CUDA_GRAPH_DRIVER_LOG` is set.
pub(crate) fn tell(text: &str) {
    if std::env::var_os("CUDA_GRAPH_DRIVER_LOG").is_some() {
        eprintln!("cuda-graph-driver: {text}");
    }
    let receivers = RECEIVERS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for (_, receive, data) in receivers {
        // SAFETY: whoever registered the function promised that it may be called from any thread, with its data.
        unsafe { receive(data, ERROR, text.as_ptr().cast(), text.len()) };
    }
}
