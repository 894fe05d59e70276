//! Driver calls about events.

use super::error::driver_calls;
use super::{CUevent, CUstream};
use cudarc::driver::sys::CUevent_flags;
use std::ffi::c_uint;

/// Events are not timed.
const FLAGS: c_uint = CUevent_flags::CU_EVENT_DISABLE_TIMING as c_uint;

driver_calls! {
    NAMES;
    /// Without timing.
    pub(crate) fn create() -> event: CUevent = cuEventCreate(event: *mut CUevent = &mut event, flags: c_uint = FLAGS);
    pub(crate) fn destroy(event: CUevent) = cuEventDestroy_v2;
    pub(crate) fn record(event: CUevent, stream: CUstream) = cuEventRecord;
    pub(crate) fn synchronize(event: CUevent) = cuEventSynchronize;
    /// Fails with `CUDA_ERROR_NOT_READY` if the work has not ended.
    pub(crate) fn query(event: CUevent) = cuEventQuery;
}
