//! cudarc's contexts, streams, events and functions, and what this crate asks of them besides its own calls.

use super::context::current;
use super::error::error;
use super::types::{CUcontext, CUdevice};
use crate::error::CudaError;
use cudarc::driver::DriverError;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use cudarc::driver::{CudaContext, CudaEvent};
pub use cudarc::driver::{CudaFunction, CudaStream};

/// Makes an error of one of cudarc's, of a call.
pub(crate) fn failed(call: &'static str) -> impl Fn(DriverError) -> CudaError {
    move |failure| error(call, failure.0 as u32)
}

/// Retains the primary context of a device. The driver is initialised.
pub(crate) fn retain(ordinal: usize) -> Result<Arc<CudaContext>, CudaError> {
    CudaContext::new(ordinal).map_err(failed("cuDevicePrimaryCtxRetain"))
}

/// A context of others, which is never destroyed here.
///
/// # Safety
///
/// The context is of the device, and lives as long as what is returned is used.
pub(crate) unsafe fn of_others(context: CUcontext, device: CUdevice) -> Result<Arc<CudaContext>, CudaError> {
    /// cudarc would destroy a context with the last handle, so one is kept here for ever.
    static WRAPPED: Mutex<Vec<Arc<CudaContext>>> = Mutex::new(Vec::new());
    let mut wrapped = WRAPPED.lock().unwrap_or_else(PoisonError::into_inner);
    let same = |known: &&Arc<CudaContext>| known.cu_ctx() == context && known.cu_device() == device;
    if let Some(known) = wrapped.iter().find(same) {
        return Ok(known.clone());
    }
    // SAFETY: by the caller's promise. The context is not destroyed here, since a handle is kept. (cudarc destroys it
    // if its first call with the context fails: then the context is lost, or the caller has not kept the promise.)
    let new = unsafe { CudaContext::from_raw_context(device as usize, device, context) };
    let new = new.map_err(failed("cuDeviceGetAttribute"))?;
    wrapped.push(new.clone());
    Ok(new)
}

/// Makes an event without timing.
pub(crate) fn event(context: &Arc<CudaContext>) -> Result<CudaEvent, CudaError> {
    context.new_event(None).map_err(failed("cuEventCreate"))
}

/// The context of a function.
pub(crate) fn context_of(function: &CudaFunction) -> Result<CUcontext, CudaError> {
    // To ask cudarc about a function makes the function's context current: that tells which context it is. The first
    // answer may be an earlier, stored error of cudarc's, so the question is repeated.
    let ask = || function.max_threads_per_block();
    let asked = ask().or_else(|_| ask());
    // SAFETY: the driver is initialised.
    let context = unsafe { current() }?;
    asked.map_err(failed("cuFuncGetAttribute"))?;
    Ok(context)
}
