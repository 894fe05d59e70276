//! A subscriber of `tracing` is code of the user, which runs between this library's calls.

use crate::common::listener::Listener;
use crate::common::*;
use crate::enumeration::runs;
use crate::graphs::Run;
use crate::software::device;
use graph_runtime::cudarc::driver::sys;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tracing::Event;
use tracing::subscriber::with_default;

static EVENTS: AtomicUsize = AtomicUsize::new(0);

/// Leaves this thread without a context.
fn leave_context() {
    EVENTS.fetch_add(1, Relaxed);
    // SAFETY: the driver is initialised, since a device was opened; null means no context.
    let result = unsafe { sys::cuCtxSetCurrent(ptr::null_mut()) };
    assert_eq!(result, sys::CUresult::CUDA_SUCCESS);
}

#[test]
fn a_subscriber_may_take_the_context_away() -> Result<()> {
    let Some((device, _turn)) = device("subscribers::a_subscriber_may_take_the_context_away") else {
        return Ok(());
    };
    for (name, device, scenario) in runs(&device) {
        let mut run = Run::new();
        let ran = with_default(Listener(|_: &Event<'_>| leave_context()), || {
            scenario(&device, &mut run)
        });
        ran.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(run.errors.is_empty(), "{name}: {:?}", run.errors);
    }
    assert!(EVENTS.load(Relaxed) > 100, "{} events", EVENTS.load(Relaxed));
    Ok(())
}
