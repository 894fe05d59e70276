//! Driver calls about events, and about nodes for them.

use super::functions::call;
use super::{CUevent, CUgraph, CUgraphNode, CUstream};
use crate::error::CudaError;
use cudarc::driver::sys;
use std::ptr;

/// `cuEventCreate`, without timing
pub(crate) unsafe fn create() -> Result<CUevent, CudaError> {
    let mut event = ptr::null_mut();
    let flags = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
    call!(cuEventCreate(&mut event, flags))?;
    Ok(event)
}

/// `cuEventDestroy_v2`
pub(crate) unsafe fn destroy(event: CUevent) -> Result<(), CudaError> {
    call!(cuEventDestroy_v2(event))
}

/// `cuEventRecord`
pub(crate) unsafe fn record(event: CUevent, stream: CUstream) -> Result<(), CudaError> {
    call!(cuEventRecord(event, stream))
}

/// `cuEventSynchronize`
pub(crate) unsafe fn synchronize(event: CUevent) -> Result<(), CudaError> {
    call!(cuEventSynchronize(event))
}

/// `cuEventQuery`: fails with `CUDA_ERROR_NOT_READY` if the work has not ended
pub(crate) unsafe fn query(event: CUevent) -> Result<(), CudaError> {
    call!(cuEventQuery(event))
}

/// `cuGraphAddEventRecordNode`
pub(crate) unsafe fn add_record_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    event: CUevent,
) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    call!(cuGraphAddEventRecordNode(
        &mut node,
        graph,
        after.as_ptr(),
        after.len(),
        event
    ))?;
    Ok(node)
}

/// `cuGraphAddEventWaitNode`
pub(crate) unsafe fn add_wait_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    event: CUevent,
) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    call!(cuGraphAddEventWaitNode(
        &mut node,
        graph,
        after.as_ptr(),
        after.len(),
        event
    ))?;
    Ok(node)
}
