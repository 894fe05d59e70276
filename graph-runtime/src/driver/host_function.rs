//! Driver calls about host functions, in nodes and on streams.

use super::error::driver_calls;
use super::{CUstream, MISSING};
use crate::error::CudaError;
use std::ffi::{c_uint, c_void};

/// A function that CUDA calls.
pub(crate) type HostFunction = unsafe extern "C" fn(*mut c_void);

/// `CUDA_HOST_NODE_PARAMS` and `struct cudaHostNodeParams`
#[repr(C)]
pub(crate) struct HostNode {
    pub(crate) function: HostFunction,
    pub(crate) data: *mut c_void,
}

#[cfg(all(test, feature = "cudarc"))]
const _: () = {
    use cudarc::driver::sys;
    use std::mem::{offset_of, size_of};
    assert!(size_of::<HostNode>() == size_of::<sys::CUDA_HOST_NODE_PARAMS>());
    assert!(offset_of!(HostNode, data) == offset_of!(sys::CUDA_HOST_NODE_PARAMS, userData));
};

driver_calls! {
    NAMES;
    fn launch_spinning(stream: CUstream, function: HostFunction, data: *mut c_void)
        = cuLaunchHostFunc_v2(
            stream: CUstream, function: HostFunction, data: *mut c_void, sync_mode: c_uint = SPIN_WAIT,
        ), newer;
    fn launch_sleeping(stream: CUstream, function: Option<HostFunction>, data: *mut c_void) = cuLaunchHostFunc;
}

/// `CU_HOST_TASK_SPINWAIT`
const SPIN_WAIT: c_uint = 1;

/// `cuLaunchHostFunc_v2`, where the driver has it (CUDA 13.2): its thread spins for the function's turn. Else
/// `cuLaunchHostFunc`, whose thread sleeps.
///
/// # Safety
///
/// The arguments are as CUDA asks.
pub(crate) unsafe fn launch(stream: CUstream, function: HostFunction, data: *mut c_void) -> Result<(), CudaError> {
    // SAFETY: by the caller's promise.
    match unsafe { launch_spinning(stream, function, data) } {
        // SAFETY: as above.
        Err(error) if error.code() == MISSING => unsafe { launch_sleeping(stream, Some(function), data) },
        launched => launched,
    }
}
