//! The CUDA driver: one `unsafe fn` for each call, returning [`CudaError`] instead of a code. Nothing else calls CUDA.
//!
//! What each function asks of its caller is what CUDA asks (<https://docs.nvidia.com/cuda/cuda-driver-api/>):
//! handles are live and of one context, pointers are valid for the call and, where work is queued, until it has run; a
//! context is current where CUDA needs one. [`is_present`] comes first: without the library every call panics.

mod attribute;
mod capture;
mod edge;
mod conditional;
mod graph;
mod host;
mod memory;
mod module;
mod nvrtc;
mod call;

use crate::error::CudaError;
use cudarc::driver::sys;
use std::ffi::CStr;
use std::ptr;
use std::sync::OnceLock;

pub(crate) use attribute::*;
use call::call;
pub(crate) use call::error;
pub(crate) use capture::*;
pub(crate) use conditional::*;
pub(crate) use edge::*;
pub(crate) use graph::*;
pub(crate) use host::*;
pub(crate) use memory::*;
pub(crate) use module::*;
pub(crate) use nvrtc::*;
pub(crate) use sys::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUfunction_attribute, CUgraph,
    CUgraphExec, CUgraphNode, CUmodule, CUstream, CUstreamCaptureStatus,
};

/// Is a driver library on this machine? Loads it at the first call.
pub(crate) fn is_present() -> bool {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    *PRESENT.get_or_init(|| {
        // SAFETY: loading a library runs its initialisers; those of NVIDIA's driver are made for it.
        unsafe { sys::is_culib_present() }
    })
}

/// `cuInit`
pub(crate) unsafe fn init() -> Result<(), CudaError> {
    call!(cuInit(0))
}

/// `cuDriverGetVersion`: 1000 x major + 10 x minor
pub(crate) unsafe fn driver_version() -> Result<u32, CudaError> {
    let mut version = 0;
    call!(cuDriverGetVersion(&mut version))?;
    Ok(version as u32)
}

/// `cuDeviceGetCount`
pub(crate) unsafe fn device_count() -> Result<usize, CudaError> {
    let mut count = 0;
    call!(cuDeviceGetCount(&mut count))?;
    Ok(count as usize)
}

/// `cuDeviceGetName`
pub(crate) unsafe fn device_name(device: CUdevice) -> Result<String, CudaError> {
    let mut name = [0_u8; 256];
    call!(cuDeviceGetName(name.as_mut_ptr().cast(), name.len() as i32 - 1, device))?;
    let name = CStr::from_bytes_until_nul(&name).unwrap_or(c"CUDA device");
    Ok(name.to_string_lossy().into_owned())
}

/// `cuDeviceGetAttribute`
pub(crate) unsafe fn device_attribute(device: CUdevice, attribute: CUdevice_attribute) -> Result<i32, CudaError> {
    let mut value = 0;
    call!(cuDeviceGetAttribute(&mut value, attribute, device))?;
    Ok(value)
}

/// `cuCtxGetCurrent`
pub(crate) unsafe fn current_context() -> Result<CUcontext, CudaError> {
    let mut context = ptr::null_mut();
    call!(cuCtxGetCurrent(&mut context))?;
    Ok(context)
}

/// `cuCtxSetCurrent`
pub(crate) unsafe fn set_current_context(context: CUcontext) -> Result<(), CudaError> {
    call!(cuCtxSetCurrent(context))
}

/// `cuCtxSynchronize`
pub(crate) unsafe fn context_synchronize() -> Result<(), CudaError> {
    call!(cuCtxSynchronize())
}

/// `cuStreamCreate`, non-blocking: it does not wait for the null stream, nor that for it
pub(crate) unsafe fn stream_create() -> Result<CUstream, CudaError> {
    let mut stream = ptr::null_mut();
    let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
    call!(cuStreamCreate(&mut stream, flags))?;
    Ok(stream)
}

/// `cuStreamDestroy_v2`
pub(crate) unsafe fn stream_destroy(stream: CUstream) -> Result<(), CudaError> {
    call!(cuStreamDestroy_v2(stream))
}

/// `cuStreamSynchronize`
pub(crate) unsafe fn stream_synchronize(stream: CUstream) -> Result<(), CudaError> {
    call!(cuStreamSynchronize(stream))
}

/// `cuStreamGetId`: a number that no other stream of the program ever has
pub(crate) unsafe fn stream_id(stream: CUstream) -> Result<u64, CudaError> {
    let mut id = 0;
    call!(cuStreamGetId(stream, &mut id))?;
    Ok(id)
}

/// `cuStreamWaitEvent`: what is queued from now on waits for what the event is recorded behind now
pub(crate) unsafe fn stream_wait_event(stream: CUstream, event: CUevent) -> Result<(), CudaError> {
    call!(cuStreamWaitEvent(stream, event, 0))
}

/// `cuStreamIsCapturing`
pub(crate) unsafe fn stream_capture_status(stream: CUstream) -> Result<CUstreamCaptureStatus, CudaError> {
    let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    call!(cuStreamIsCapturing(stream, &mut status))?;
    Ok(status)
}

/// `cuEventCreate`, without timing
pub(crate) unsafe fn event_create() -> Result<CUevent, CudaError> {
    let mut event = ptr::null_mut();
    let flags = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
    call!(cuEventCreate(&mut event, flags))?;
    Ok(event)
}

/// `cuEventDestroy_v2`
pub(crate) unsafe fn event_destroy(event: CUevent) -> Result<(), CudaError> {
    call!(cuEventDestroy_v2(event))
}

/// `cuEventRecord`
pub(crate) unsafe fn event_record(event: CUevent, stream: CUstream) -> Result<(), CudaError> {
    call!(cuEventRecord(event, stream))
}

/// `cuEventSynchronize`
pub(crate) unsafe fn event_synchronize(event: CUevent) -> Result<(), CudaError> {
    call!(cuEventSynchronize(event))
}

/// `cuThreadExchangeStreamCaptureMode`: sets the calling thread's mode and returns the one it had
unsafe fn exchange_capture_mode(mut mode: sys::CUstreamCaptureMode) -> Result<sys::CUstreamCaptureMode, CudaError> {
    call!(cuThreadExchangeStreamCaptureMode(&mut mode))?;
    Ok(mode)
}

/// While it lives, calls of this thread that CUDA forbids during somebody's capture (allocating, freeing, waiting)
/// neither fail nor disturb that capture. Nothing is done to any stream that captures.
pub(crate) struct RelaxedCapture {
    _mode: ThreadMode,
}

impl RelaxedCapture {
    pub(crate) fn enter() -> Self {
        Self {
            _mode: ThreadMode::enter(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED),
        }
    }
}

/// While it lives, such calls of this thread fail if this thread captures, whatever [`RelaxedCapture`] is around it.
pub(crate) struct StrictCapture {
    _mode: ThreadMode,
}

impl StrictCapture {
    pub(crate) fn enter() -> Self {
        Self {
            _mode: ThreadMode::enter(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
        }
    }
}

/// The mode of this thread while it lives; then the one before.
struct ThreadMode {
    before: Option<sys::CUstreamCaptureMode>,
    /// The mode belongs to this thread.
    not_send: std::marker::PhantomData<*const ()>,
}

impl ThreadMode {
    fn enter(mode: sys::CUstreamCaptureMode) -> Self {
        // SAFETY: the call takes any mode and needs no context; whoever gets here holds a CUDA object, so the library is loaded.
        let before = unsafe { exchange_capture_mode(mode) }.ok();
        Self {
            before,
            not_send: std::marker::PhantomData,
        }
    }
}

impl Drop for ThreadMode {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: as in `enter`.
            let _ = unsafe { exchange_capture_mode(before) };
        }
    }
}
