//! Driver calls about streams and their capture.

use super::functions::call;
use super::{CUevent, CUgraph, CUstream};
use crate::error::CudaError;
use cudarc::driver::sys::{self, CUstreamCaptureMode, CUstreamCaptureStatus};
use std::ptr;

/// `cuStreamCreate`, non-blocking: the stream and the null stream do not wait for each other
pub(crate) unsafe fn create() -> Result<CUstream, CudaError> {
    let mut stream = ptr::null_mut();
    let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
    call!(cuStreamCreate(&mut stream, flags))?;
    Ok(stream)
}

/// `cuStreamDestroy_v2`
pub(crate) unsafe fn destroy(stream: CUstream) -> Result<(), CudaError> {
    call!(cuStreamDestroy_v2(stream))
}

/// `cuStreamSynchronize`
pub(crate) unsafe fn synchronize(stream: CUstream) -> Result<(), CudaError> {
    call!(cuStreamSynchronize(stream))
}

/// `cuStreamQuery`: whether all work of the stream is done
pub(crate) unsafe fn is_done(stream: CUstream) -> Result<bool, CudaError> {
    const NOT_READY: u32 = 600;
    match call!(cuStreamQuery(stream)) {
        Err(error) if error.code() == NOT_READY => Ok(false),
        done => done.map(|()| true),
    }
}

/// `cuStreamGetId`: a number that no other stream of the program ever has
pub(crate) unsafe fn id(stream: CUstream) -> Result<u64, CudaError> {
    let mut id = 0;
    call!(cuStreamGetId(stream, &mut id))?;
    Ok(id)
}

/// `cuStreamWaitEvent`: work that is queued on the stream from now on waits for the latest recording of the event
pub(crate) unsafe fn wait_event(stream: CUstream, event: CUevent) -> Result<(), CudaError> {
    call!(cuStreamWaitEvent(stream, event, 0))
}

/// Whether a stream is being captured: `CUstreamCaptureStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaptureStatus {
    /// The stream is not being captured.
    None,
    /// The stream is being captured. So is a stream with a status that the bindings do not list.
    Active,
    /// A call has made the capture invalid. It has not been ended, and will give no graph.
    Invalidated,
}

/// `cuStreamIsCapturing`
pub(crate) unsafe fn capture_status(stream: CUstream) -> Result<CaptureStatus, CudaError> {
    const NONE: u32 = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE as u32;
    const INVALIDATED: u32 = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_INVALIDATED as u32;
    let mut status = NONE;
    call!(cuStreamIsCapturing(stream, &mut status))?;
    Ok(match status {
        NONE => CaptureStatus::None,
        INVALIDATED => CaptureStatus::Invalidated,
        _ => CaptureStatus::Active,
    })
}

/// `cuStreamBeginCapture_v2`
pub(crate) unsafe fn begin_capture(stream: CUstream, mode: CUstreamCaptureMode) -> Result<(), CudaError> {
    call!(cuStreamBeginCapture_v2(stream, mode as u32))
}

/// `cuStreamEndCapture`
pub(crate) unsafe fn end_capture(stream: CUstream) -> Result<CUgraph, CudaError> {
    let mut graph = ptr::null_mut();
    call!(cuStreamEndCapture(stream, &mut graph))?;
    Ok(graph)
}
