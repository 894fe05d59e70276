//! Driver calls about events.

use super::error::driver_calls;
use super::types::{CU_EVENT_DEFAULT, CU_EVENT_DISABLE_TIMING};
use super::{CUevent, CUstream};
use std::ffi::c_uint;

/// The flags of an event, which [`elapsed`] takes or not.
fn flags(is_timed: bool) -> c_uint {
    if is_timed {
        CU_EVENT_DEFAULT
    } else {
        CU_EVENT_DISABLE_TIMING
    }
}

driver_calls! {
    NAMES;
    pub(crate) fn create(is_timed: bool) -> event: CUevent
        = cuEventCreate(event: *mut CUevent = &mut event, flags: c_uint = flags(is_timed));
    pub(crate) fn destroy(event: CUevent) = cuEventDestroy_v2;
    pub(crate) fn record(event: CUevent, stream: CUstream) = cuEventRecord;
    pub(crate) fn synchronize(event: CUevent) = cuEventSynchronize;
    /// Fails with `CUDA_ERROR_NOT_READY` if the work has not ended.
    pub(crate) fn query(event: CUevent) = cuEventQuery;
    /// The milliseconds between two events with timing, which have come.
    pub(crate) fn elapsed(begin: CUevent, end: CUevent) -> milliseconds: f32
        = cuEventElapsedTime(milliseconds: *mut f32 = &mut milliseconds, begin: CUevent, end: CUevent);
}
