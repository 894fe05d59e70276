//! A launch as a future.

use crate::backend::launch_end::LaunchEnd;
use crate::error::Result;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A launch of a graph, which any executor can wait for: [`Graph::launch_async`](crate::Graph::launch_async) and
/// [`AnyGraph::launch_async`](crate::AnyGraph::launch_async) return it.
///
/// The launch is in flight already, whether or not the future is polled. It resolves when this launch has ended, to the
/// error that [`Graph::synchronize`](crate::Graph::synchronize) would return; also if the context has failed, and the
/// launch will never end. A graph may have several launches in flight, each with its future. (If a host function
/// panics, one of them returns the panic, and so may be one for an earlier launch.)
///
/// Dropping the future leaves the launch in flight: the graph waits for it when it must, as for any other. The future
/// does not borrow the graph, and may outlive it.
///
/// On the emulator, the launch runs on a thread of its own, so that programs find there what they find on a GPU. In
/// [debug mode](crate::Device::with_debug), the launch has ended when the future is made.
///
/// # Cost
///
/// One thread of this crate watches all launches that are waited for. It keeps a processor busy while there are any, so
/// that the end is seen within microseconds; [`Device::with_max_spin`](crate::Device::with_max_spin) limits that.
/// Wakers are called on this thread, so they should return soon. They may call CUDA.
///
/// # Errors
///
/// * [`Error::Cuda`](crate::Error::Cuda) if the launch failed on CUDA, or if a host function polls this. The emulator
///   needs the graph to look for the line of a fault, and a future does not have it:
///   [`Graph::explain`](crate::Graph::explain) adds the notes that the error of
///   [`Graph::synchronize`](crate::Graph::synchronize) has;
/// * [`Error::Fault`](crate::Error::Fault) on the emulator;
/// * [`Error::Panicked`](crate::Error::Panicked) if a host function has panicked.
#[must_use = "the launch is in flight, but nothing waits for it; `launch` does the same"]
pub struct LaunchFuture(pub(crate) LaunchEnd);

impl Future for LaunchFuture {
    type Output = Result<()>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        self.0.poll(context.waker())
    }
}

impl fmt::Debug for LaunchFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaunchFuture").finish_non_exhaustive()
    }
}
