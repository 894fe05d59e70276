//! Driver calls about streams and their capture.

use super::error::driver_calls;
use super::types::{
    CU_STREAM_CAPTURE_STATUS_INVALIDATED, CU_STREAM_CAPTURE_STATUS_NONE, CU_STREAM_NON_BLOCKING, CUstreamCaptureMode,
};
use super::{CUevent, CUgraph, CUstream};
use crate::error::CudaError;
use std::ffi::{c_uint, c_ulonglong};

/// `cuStreamQuery`: whether all work of the stream is done
pub(crate) unsafe fn is_done(stream: CUstream) -> Result<bool, CudaError> {
    const NOT_READY: u32 = 600;
    // SAFETY: by the caller's promise.
    match unsafe { query(stream) } {
        Err(error) if error.code() == NOT_READY => Ok(false),
        done => done.map(|()| true),
    }
}

/// Streams and the null stream do not wait for each other.
const FLAGS: c_uint = CU_STREAM_NON_BLOCKING;

driver_calls! {
    NAMES;
    /// Non-blocking: the stream and the null stream do not wait for each other.
    pub(crate) fn create() -> stream: CUstream
        = cuStreamCreate(stream: *mut CUstream = &mut stream, flags: c_uint = FLAGS);
    pub(crate) fn destroy(stream: CUstream) = cuStreamDestroy_v2;
    pub(crate) fn synchronize(stream: CUstream) = cuStreamSynchronize;
    fn query(stream: CUstream) = cuStreamQuery;
    /// A number that no other stream of the program ever has.
    pub(crate) fn id(stream: CUstream) -> id: u64 = cuStreamGetId(stream: CUstream, id: *mut c_ulonglong = &mut id);
    /// Work that is queued on the stream from now on waits for the latest recording of the event.
    pub(crate) fn wait_event(stream: CUstream, event: CUevent)
        = cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint = 0);
    fn get_capture_status(stream: CUstream) -> status: u32
        = cuStreamIsCapturing(stream: CUstream, status: *mut u32 as *mut sys::CUstreamCaptureStatus = &mut status);
    pub(crate) fn begin_capture(stream: CUstream, mode: CUstreamCaptureMode)
        = cuStreamBeginCapture_v2(stream: CUstream, mode: u32 as sys::CUstreamCaptureMode = mode as u32);
    pub(crate) fn end_capture(stream: CUstream) -> graph: CUgraph
        = cuStreamEndCapture(stream: CUstream, graph: *mut CUgraph = &mut graph);
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
    // SAFETY: by the caller's promise.
    Ok(match unsafe { get_capture_status(stream) }? {
        CU_STREAM_CAPTURE_STATUS_NONE => CaptureStatus::None,
        CU_STREAM_CAPTURE_STATUS_INVALIDATED => CaptureStatus::Invalidated,
        _ => CaptureStatus::Active,
    })
}
