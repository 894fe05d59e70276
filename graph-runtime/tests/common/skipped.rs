//! The number of tests that were skipped, in a line after the program's last: libtest shows them as passed.

use std::ffi::c_int;
use std::io::Write;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

static COUNT: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" {
    /// A function of C's library, which every program of Rust's standard library is linked with.
    safe fn atexit(function: extern "C" fn()) -> c_int;
}

/// Counts a test that was skipped, or a part of one.
pub(super) fn count() {
    static ONCE: Once = Once::new();
    COUNT.fetch_add(1, Ordering::Relaxed);
    ONCE.call_once(|| assert_eq!(atexit(tell), 0, "the C library takes 32 functions or more"));
}

extern "C" fn tell() {
    let count = COUNT.load(Ordering::Relaxed);
    // The harness captures the prints of a test, but not what is written to the stream itself.
    let _ = writeln!(
        std::io::stderr(),
        "skipped: {count} of these tests have run nothing, or a part only: they need CUDA_GRAPH_TEST_DEVICE=cuda\n"
    );
}
