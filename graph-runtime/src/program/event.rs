//! Events, by which `record` and `wait` nodes order a graph against other streams.

use crate::driver::{self, CUcontext, CUevent, CudaEvent, RelaxedCapture};
use crate::error::{At, Result, Site};
use crate::program::host_call::refuse_in_host_function;
use std::fmt;
use std::sync::Arc;

/// An event: a point in the work of a stream or a graph, for which others can wait.
/// [`Device::event`](crate::Device::event) makes one, and events of cudarc convert into one. It is a counted handle: a
/// clone refers to the same event, and graphs keep the events that they use.
///
/// A `record` node records it when the nodes that it runs after have ended. A `wait` node holds back the nodes that run
/// after it, until the work before the latest recording has ended; recordings after the launch do not count. An event
/// that was never recorded holds back nothing.
///
/// On the emulator each launch ends before the next begins, so events have nothing to hold back.
#[derive(Clone)]
pub struct Event(Option<Arc<CudaEvent>>);

impl Event {
    /// The event of the emulator.
    pub(crate) const EMULATOR: Self = Self(None);

    /// The event as cudarc's type, to record it on a stream or to make a stream wait for it; `None` on the emulator.
    #[cfg(feature = "cudarc")]
    pub fn as_cudarc(&self) -> Option<&Arc<CudaEvent>> {
        self.0.as_ref()
    }

    /// The driver's handle, for any bindings to CUDA; `None` on the emulator.
    pub fn raw(&self) -> Option<CUevent> {
        self.0.as_ref().map(|event| event.cu_event())
    }

    /// Blocks until the work before the latest recording has ended. Returns at once on the emulator, or if the event
    /// was never recorded.
    ///
    /// # Errors
    /// [`Error::Cuda`](crate::Error::Cuda) if that work failed, and in host functions of graphs.
    pub fn synchronize(&self) -> Result<()> {
        let Some(event) = &self.0 else { return Ok(()) };
        refuse_in_host_function().at(Site::default)?;
        let _relaxed = RelaxedCapture::enter();
        // SAFETY: `event` keeps the event and its context alive.
        unsafe { driver::event::synchronize(event.cu_event()) }.at(Site::default)
    }

    /// A message that says why a graph in this context, or on the emulator (`None`), cannot use the event, if it
    /// cannot.
    pub(crate) fn misfit(&self, context: Option<CUcontext>) -> Option<&'static str> {
        match (&self.0, context) {
            (Some(event), Some(context)) if event.context().cu_ctx() != context => {
                Some("the event belongs to another context")
            }
            (Some(_), None) => Some("the event is one of CUDA, but this is the CPU emulator"),
            (None, Some(_)) => Some("the event is one of the CPU emulator"),
            (Some(_), Some(_)) | (None, None) => None,
        }
    }

    /// The handle, if the event is of this context.
    pub(crate) fn raw_in(&self, context: CUcontext) -> Option<CUevent> {
        let event = self.0.as_ref()?;
        (event.context().cu_ctx() == context).then(|| event.cu_event())
    }
}

impl From<Arc<CudaEvent>> for Event {
    fn from(event: Arc<CudaEvent>) -> Self {
        Self(Some(event))
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
            Some(event) => write!(f, "Event({:?})", event.cu_event()),
            None => f.write_str("Event(CPU emulator)"),
        }
    }
}
