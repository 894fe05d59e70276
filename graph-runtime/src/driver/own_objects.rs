//! Contexts, streams, events and functions in a build without the feature `cudarc`, in place of its types. They have
//! the same names, and the methods that this crate calls.

use super::error::driver_calls;
use super::types::{CUcontext, CUdevice, CUevent, CUfunction, CUstream};
use super::{RelaxedCapture, context, event, primary_context};
use crate::error::CudaError;
use std::any::Any;
use std::ffi::{c_int, c_void};
use std::fmt;
use std::sync::Arc;

driver_calls! {
    NAMES;
    fn device(ordinal: c_int) -> device: CUdevice
        = cuDeviceGet(device: *mut CUdevice = &mut device, ordinal: c_int);
}

/// A CUDA context: [`Device::context`](crate::Device::context) returns it.
pub struct CudaContext {
    context: CUcontext,
    device: CUdevice,
    /// Whether this has retained the device's primary context.
    retained: bool,
}

/// A stream of others: [`CudaContext::wrap_borrowed_stream`] makes it of a handle.
pub struct CudaStream {
    stream: CUstream,
    context: Arc<CudaContext>,
}

/// An event, which is destroyed when this is dropped.
pub struct CudaEvent {
    event: CUevent,
    context: Arc<CudaContext>,
}

/// A function that somebody has loaded: see [`LoadedFunction`](crate::LoadedFunction).
#[derive(Clone)]
pub struct CudaFunction {
    function: CUfunction,
    context: CUcontext,
    #[expect(dead_code, reason = "it keeps the function's module loaded")]
    keep_alive: Arc<dyn Any + Send + Sync>,
}

macro_rules! handles {
    ($($name:ident: $handle:ident;)*) => {$(
        // SAFETY: driver handles are not bound to threads (D2 of `docs/safety.md`).
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:?})"), self.$handle)
            }
        }
    )*};
}
handles! {
    CudaContext: context;
    CudaStream: stream;
    CudaEvent: event;
    CudaFunction: function;
}

/// Retains the primary context of a device. The driver is initialised.
pub(crate) fn retain(ordinal: usize) -> Result<Arc<CudaContext>, CudaError> {
    // SAFETY: the driver is initialised.
    let device = unsafe { device(ordinal as c_int) }?;
    // SAFETY: the device was found above.
    let context = unsafe { primary_context::retain(device) }?;
    Ok(Arc::new(CudaContext {
        context,
        device,
        retained: true,
    }))
}

/// A context of others, which is never destroyed here.
///
/// # Safety
///
/// The context is of the device, and lives as long as what is returned is used.
pub(crate) unsafe fn of_others(context: CUcontext, device: CUdevice) -> Result<Arc<CudaContext>, CudaError> {
    Ok(Arc::new(CudaContext {
        context,
        device,
        retained: false,
    }))
}

/// Makes an event without timing.
pub(crate) fn event(context: &Arc<CudaContext>) -> Result<CudaEvent, CudaError> {
    // SAFETY: the context lives.
    unsafe { context::set_current(context.context) }?;
    // SAFETY: the context is current.
    let event = unsafe { event::create(false) }?;
    Ok(CudaEvent {
        event,
        context: context.clone(),
    })
}

/// The context of a function.
pub(crate) fn context_of(function: &CudaFunction) -> Result<CUcontext, CudaError> {
    Ok(function.context)
}

impl CudaContext {
    /// The driver's handle.
    pub fn cu_ctx(&self) -> CUcontext {
        self.context
    }

    /// The device that the context is of.
    pub fn cu_device(&self) -> CUdevice {
        self.device
    }

    /// A stream of others, of this context.
    ///
    /// # Safety
    ///
    /// The stream is of this context, and lives as long as what is returned is used.
    pub unsafe fn wrap_borrowed_stream(self: &Arc<Self>, stream: CUstream) -> Arc<CudaStream> {
        Arc::new(CudaStream {
            stream,
            context: self.clone(),
        })
    }
}

impl Drop for CudaContext {
    fn drop(&mut self) {
        if self.retained {
            let _relaxed = RelaxedCapture::enter();
            // SAFETY: `retain` has retained it for `self`.
            let _ = unsafe { primary_context::release(self.device) };
        }
    }
}

impl CudaStream {
    /// The driver's handle.
    pub fn cu_stream(&self) -> CUstream {
        self.stream
    }

    /// The context of the stream.
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }
}

impl CudaEvent {
    /// The driver's handle.
    pub fn cu_event(&self) -> CUevent {
        self.event
    }

    /// The context of the event.
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }
}

impl Drop for CudaEvent {
    fn drop(&mut self) {
        let _relaxed = RelaxedCapture::enter();
        // SAFETY: `event` has made it for `self`, whose context lives.
        let _ = unsafe { event::destroy(self.event) };
    }
}

impl CudaFunction {
    /// Takes a `CUfunction` of a `CUcontext`, and keeps `keep_alive` as long as the function is used.
    ///
    /// # Safety
    ///
    /// As long as `keep_alive` lives, the context does, and the function's module is loaded into it.
    pub unsafe fn from_raw(
        function: *mut c_void,
        context: *mut c_void,
        keep_alive: impl Any + Send + Sync,
    ) -> CudaFunction {
        Self {
            function: function.cast(),
            context: context.cast(),
            keep_alive: Arc::new(keep_alive),
        }
    }

    /// The driver's handle.
    pub fn cu_function(&self) -> CUfunction {
        self.function
    }
}
