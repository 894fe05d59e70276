//! Driver calls about host functions, in nodes and on streams.

use super::functions::call;
use super::{CUgraph, CUgraphExec, CUgraphNode, CUstream, MISSING};
use crate::error::CudaError;
use cudarc::driver::sys::CUDA_HOST_NODE_PARAMS;
use std::ffi::c_void;
use std::ptr;

/// `cuGraphAddHostNode`
pub(crate) unsafe fn add_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    let params = CUDA_HOST_NODE_PARAMS {
        fn_: Some(function),
        userData: data,
    };
    call!(cuGraphAddHostNode(
        &mut node,
        graph,
        after.as_ptr(),
        after.len(),
        &params
    ))?;
    Ok(node)
}

/// `cuGraphExecHostNodeSetParams`
pub(crate) unsafe fn set_node(
    exec: CUgraphExec,
    node: CUgraphNode,
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
) -> Result<(), CudaError> {
    let params = CUDA_HOST_NODE_PARAMS {
        fn_: Some(function),
        userData: data,
    };
    call!(cuGraphExecHostNodeSetParams(exec, node, &params))
}

/// `cuLaunchHostFunc_v2`, where the driver has it (CUDA 13.2): its thread spins for the function's turn. Else
/// `cuLaunchHostFunc`, whose thread sleeps.
pub(crate) unsafe fn launch(
    stream: CUstream,
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
) -> Result<(), CudaError> {
    const SPINWAIT: u32 = 1; // `CU_HOST_TASK_SPINWAIT`
    match call!(cuLaunchHostFunc_v2(stream, function, data, SPINWAIT)) {
        Err(error) if error.code() == MISSING => call!(cuLaunchHostFunc(stream, Some(function), data)),
        launched => launched,
    }
}
