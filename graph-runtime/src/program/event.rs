//! Events: what `record` and `wait` nodes order a graph against other streams with.

use crate::driver::{self, CUcontext, CUevent, RelaxedCapture};
use crate::error::{At, Result, Site};
use crate::program::host::refuse_in_host_function;
use cudarc::driver::CudaEvent;
use std::fmt;
use std::sync::Arc;

/// An event: a point in the work of a stream or a graph that others can wait for.
/// [`Device::event`](crate::Device::event) makes one; those of cudarc convert into one. A clone is another handle to
/// the same event, and graphs keep those that they use.
///
/// A `record` node sets it once the nodes that it runs after have ended; a `wait` node holds back the nodes that run
/// after it until all is done that was recorded before the launch. An event that was never recorded holds back nothing.
///
/// On the emulator work is done before the next begins, so that an event has nothing to hold back.
#[derive(Clone)]
pub struct Event(EventKind);

#[derive(Clone)]
enum EventKind {
    Cuda(Arc<CudaEvent>),
    Emulator,
}

impl Event {
    /// The event of the emulator.
    pub(crate) const EMULATOR: Self = Self(EventKind::Emulator);

    /// The event of cudarc, to record it on a stream or to let a stream wait for it; `None` on the emulator.
    pub fn as_cudarc(&self) -> Option<&Arc<CudaEvent>> {
        match &self.0 {
            EventKind::Cuda(event) => Some(event),
            EventKind::Emulator => None,
        }
    }

    /// Waits until all is done that was last recorded.
    ///
    /// # Errors
    /// [`Error::Cuda`](crate::Error::Cuda) with what went wrong in that work.
    pub fn synchronize(&self) -> Result<()> {
        let EventKind::Cuda(event) = &self.0 else { return Ok(()) };
        refuse_in_host_function().at(Site::default)?;
        let _relaxed = RelaxedCapture::enter();
        // SAFETY: `event` keeps the event and its context alive.
        unsafe { driver::event::synchronize(event.cu_event()) }.at(Site::default)
    }

    /// Why nodes of a graph in this context, or on the emulator, cannot use it.
    pub(crate) fn misfit(&self, context: Option<CUcontext>) -> Option<&'static str> {
        match (&self.0, context) {
            (EventKind::Cuda(event), Some(context)) if event.context().cu_ctx() != context => {
                Some("the event belongs to another context")
            }
            (EventKind::Cuda(_), None) => Some("the event is one of CUDA, but this is the CPU emulator"),
            (EventKind::Emulator, Some(_)) => Some("the event is one of the CPU emulator"),
            (EventKind::Cuda(_), Some(_)) | (EventKind::Emulator, None) => None,
        }
    }

    /// The handle of an event of this context.
    pub(crate) fn raw(&self, context: CUcontext) -> Option<CUevent> {
        let event = self.as_cudarc()?;
        (event.context().cu_ctx() == context).then(|| event.cu_event())
    }
}

impl From<Arc<CudaEvent>> for Event {
    fn from(event: Arc<CudaEvent>) -> Self {
        Self(EventKind::Cuda(event))
    }
}

impl From<&Arc<CudaEvent>> for Event {
    fn from(event: &Arc<CudaEvent>) -> Self {
        event.clone().into()
    }
}

impl From<CudaEvent> for Event {
    fn from(event: CudaEvent) -> Self {
        Arc::new(event).into()
    }
}

impl From<&Event> for Event {
    fn from(event: &Event) -> Self {
        event.clone()
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            EventKind::Cuda(event) => write!(f, "Event({:?})", event.cu_event()),
            EventKind::Emulator => f.write_str("Event(CPU emulator)"),
        }
    }
}
