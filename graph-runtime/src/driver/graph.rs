//! Driver calls about graphs.

use super::copy::Copy3d;
use super::functions::call;
use super::{CUcontext, CUgraph, CUgraphExec, CUgraphNode, CUstream};
use crate::error::CudaError;
use cudarc::driver::sys;
use std::ffi::CStr;
use std::ptr;

pub(crate) use sys::{CUDA_KERNEL_NODE_PARAMS as KernelNodeParams, CUDA_MEMSET_NODE_PARAMS as MemsetNodeParams};

/// `cuGraphCreate`
pub(crate) unsafe fn create() -> Result<CUgraph, CudaError> {
    let mut graph = ptr::null_mut();
    call!(cuGraphCreate(&mut graph, 0))?;
    Ok(graph)
}

/// `cuGraphDestroy`
pub(crate) unsafe fn destroy(graph: CUgraph) -> Result<(), CudaError> {
    call!(cuGraphDestroy(graph))
}

/// `cuGraphAddKernelNode_v2`
pub(crate) unsafe fn add_kernel_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    params: &KernelNodeParams,
) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    call!(cuGraphAddKernelNode_v2(
        &mut node,
        graph,
        after.as_ptr(),
        after.len(),
        params
    ))?;
    Ok(node)
}

/// `cuGraphAddMemcpyNode`
pub(crate) unsafe fn add_memcpy_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    copy: &Copy3d,
    context: CUcontext,
) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    call!(cuGraphAddMemcpyNode(
        &mut node,
        graph,
        after.as_ptr(),
        after.len(),
        &copy.of_driver(),
        context
    ))?;
    Ok(node)
}

/// `cuGraphAddMemsetNode`
pub(crate) unsafe fn add_memset_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    params: &MemsetNodeParams,
    context: CUcontext,
) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    call!(cuGraphAddMemsetNode(
        &mut node,
        graph,
        after.as_ptr(),
        after.len(),
        params,
        context
    ))?;
    Ok(node)
}

/// `cuGraphAddEmptyNode`
pub(crate) unsafe fn add_empty_node(graph: CUgraph, after: &[CUgraphNode]) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    call!(cuGraphAddEmptyNode(&mut node, graph, after.as_ptr(), after.len()))?;
    Ok(node)
}

/// The failure of `cuGraphInstantiateWithParams`.
#[derive(Debug)]
pub(crate) struct InstantiateError {
    /// The call's own error.
    pub(crate) error: CudaError,
    /// The node at fault, or null if CUDA does not name one.
    pub(crate) node: CUgraphNode,
    /// CUDA's finer reason, the number of a `CUgraphInstantiateResult`.
    pub(crate) reason: u32,
}

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`, with an integer for the enum that the driver writes
#[repr(C)]
pub(super) struct InstantiateParams {
    flags: u64,
    upload_stream: CUstream,
    error_node: CUgraphNode,
    reason: u32,
}

impl InstantiateParams {
    pub(super) fn new(flags: u64) -> Self {
        Self {
            flags,
            upload_stream: ptr::null_mut(),
            error_node: ptr::null_mut(),
            reason: 0,
        }
    }

    /// The failure of the call that has these parameters.
    pub(super) fn failed(&self, error: CudaError) -> InstantiateError {
        InstantiateError {
            error,
            node: self.error_node,
            reason: self.reason,
        }
    }
}

const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(size_of::<InstantiateParams>() == size_of::<sys::CUDA_GRAPH_INSTANTIATE_PARAMS>());
    let reason = offset_of!(sys::CUDA_GRAPH_INSTANTIATE_PARAMS, result_out);
    assert!(offset_of!(InstantiateParams, reason) == reason);
    let node = offset_of!(sys::CUDA_GRAPH_INSTANTIATE_PARAMS, hErrNode_out);
    assert!(offset_of!(InstantiateParams, error_node) == node);
};

/// `cuGraphInstantiateWithParams`
pub(crate) unsafe fn instantiate(graph: CUgraph, flags: u64) -> Result<CUgraphExec, InstantiateError> {
    let mut exec = ptr::null_mut();
    let mut params = InstantiateParams::new(flags);
    let arguments = (&raw mut params).cast();
    match call!(cuGraphInstantiateWithParams(&mut exec, graph, arguments)) {
        Ok(()) => Ok(exec),
        Err(error) => Err(params.failed(error)),
    }
}

/// The error of updating a whole executable graph.
pub(crate) struct UpdateError {
    /// The call's own error.
    pub(crate) error: CudaError,
    /// The node at fault, of the graph that was to replace the old one; null if CUDA does not name one.
    pub(crate) node: CUgraphNode,
    /// CUDA's finer reason, the number of a `CUgraphExecUpdateResult`.
    pub(crate) reason: u32,
}

impl UpdateError {
    /// Whether the graph differs in a way that no update covers, so that it must be instantiated instead.
    pub(crate) fn is_refusal(&self) -> bool {
        const NOT_SUPPORTED: u32 = 801;
        const GRAPH_EXEC_UPDATE_FAILURE: u32 = 910;
        matches!(self.error.code(), NOT_SUPPORTED | GRAPH_EXEC_UPDATE_FAILURE)
    }
}

/// `CUgraphExecUpdateResultInfo`, with an integer for the enum that the driver writes
#[repr(C)]
pub(super) struct UpdateInfo {
    reason: u32,
    node: CUgraphNode,
    from: CUgraphNode,
}

impl UpdateInfo {
    pub(super) fn new() -> Self {
        Self {
            reason: 0,
            node: ptr::null_mut(),
            from: ptr::null_mut(),
        }
    }

    /// The failure of the call that wrote this.
    pub(super) fn failed(&self, error: CudaError) -> UpdateError {
        UpdateError {
            error,
            node: self.node,
            reason: self.reason,
        }
    }
}

const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(size_of::<UpdateInfo>() == size_of::<sys::CUgraphExecUpdateResultInfo>());
    let node = offset_of!(sys::CUgraphExecUpdateResultInfo, errorNode);
    assert!(offset_of!(UpdateInfo, node) == node);
};

/// `cuGraphExecUpdate_v2`: later launches of `exec` run the nodes of `graph`, which has the same shape
pub(crate) unsafe fn update(exec: CUgraphExec, graph: CUgraph) -> Result<(), UpdateError> {
    let mut info = UpdateInfo::new();
    let out = (&raw mut info).cast();
    call!(cuGraphExecUpdate_v2(exec, graph, out)).map_err(|error| info.failed(error))
}

/// `cuGraphExecDestroy`
pub(crate) unsafe fn destroy_executable(exec: CUgraphExec) -> Result<(), CudaError> {
    call!(cuGraphExecDestroy(exec))
}

/// `cuGraphDebugDotPrint`
pub(crate) unsafe fn print(graph: CUgraph, path: &CStr, flags: u32) -> Result<(), CudaError> {
    call!(cuGraphDebugDotPrint(graph, path.as_ptr(), flags))
}

/// `cuGraphUpload`
pub(crate) unsafe fn upload(exec: CUgraphExec, stream: CUstream) -> Result<(), CudaError> {
    call!(cuGraphUpload(exec, stream))
}

/// `cuGraphLaunch`
#[inline]
pub(crate) unsafe fn launch(exec: CUgraphExec, stream: CUstream) -> Result<(), CudaError> {
    call!(cuGraphLaunch(exec, stream))
}

/// `cuGraphExecKernelNodeSetParams_v2`
#[inline]
pub(crate) unsafe fn set_kernel_node(
    exec: CUgraphExec,
    node: CUgraphNode,
    params: &KernelNodeParams,
) -> Result<(), CudaError> {
    call!(cuGraphExecKernelNodeSetParams_v2(exec, node, params))
}

/// `cuGraphExecMemsetNodeSetParams`
pub(crate) unsafe fn set_memset_node(
    exec: CUgraphExec,
    node: CUgraphNode,
    params: &MemsetNodeParams,
    context: CUcontext,
) -> Result<(), CudaError> {
    call!(cuGraphExecMemsetNodeSetParams(exec, node, params, context))
}

/// `cuGraphExecMemcpyNodeSetParams`
pub(crate) unsafe fn set_memcpy_node(
    exec: CUgraphExec,
    node: CUgraphNode,
    copy: &Copy3d,
    context: CUcontext,
) -> Result<(), CudaError> {
    call!(cuGraphExecMemcpyNodeSetParams(exec, node, &copy.of_driver(), context))
}

/// `cuGraphMemsetNodeSetParams`: changes the graph itself, not an executable one
pub(crate) unsafe fn move_memset_node(node: CUgraphNode, params: &MemsetNodeParams) -> Result<(), CudaError> {
    call!(cuGraphMemsetNodeSetParams(node, params))
}

/// `cuGraphMemcpyNodeSetParams`: changes the graph itself, not an executable one
pub(crate) unsafe fn move_memcpy_node(node: CUgraphNode, copy: &Copy3d) -> Result<(), CudaError> {
    call!(cuGraphMemcpyNodeSetParams(node, &copy.of_driver()))
}

/// `cuGraphNodeSetEnabled`
pub(crate) unsafe fn set_node_enabled(exec: CUgraphExec, node: CUgraphNode, enabled: bool) -> Result<(), CudaError> {
    call!(cuGraphNodeSetEnabled(exec, node, u32::from(enabled)))
}

/// `CU_GRAPH_NODE_TYPE_KERNEL`
pub(crate) const KERNEL: u32 = 0;
/// `CU_GRAPH_NODE_TYPE_MEMCPY`
pub(crate) const MEMCPY: u32 = 1;
/// `CU_GRAPH_NODE_TYPE_MEMSET`
pub(crate) const MEMSET: u32 = 2;
/// `CU_GRAPH_NODE_TYPE_HOST`
pub(crate) const HOST: u32 = 3;
/// `CU_GRAPH_NODE_TYPE_GRAPH`
pub(crate) const CHILD_GRAPH: u32 = 4;
/// `CU_GRAPH_NODE_TYPE_EMPTY`
pub(crate) const EMPTY: u32 = 5;
/// `CU_GRAPH_NODE_TYPE_WAIT_EVENT`
pub(crate) const WAIT_EVENT: u32 = 6;
/// `CU_GRAPH_NODE_TYPE_EVENT_RECORD`
pub(crate) const EVENT_RECORD: u32 = 7;
/// `CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL`
pub(crate) const SEMAPHORE_SIGNAL: u32 = 8;
/// `CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT`
pub(crate) const SEMAPHORE_WAIT: u32 = 9;
/// `CU_GRAPH_NODE_TYPE_MEM_ALLOC`
pub(crate) const MEMORY_ALLOC: u32 = 10;
/// `CU_GRAPH_NODE_TYPE_MEM_FREE`
pub(crate) const MEMORY_FREE: u32 = 11;
/// `CU_GRAPH_NODE_TYPE_BATCH_MEM_OP`
pub(crate) const BATCH_MEMORY_OPERATION: u32 = 12;
/// `CU_GRAPH_NODE_TYPE_CONDITIONAL`
pub(crate) const CONDITIONAL: u32 = 13;

/// `cuGraphGetNodes`
pub(crate) unsafe fn nodes(graph: CUgraph) -> Result<Vec<CUgraphNode>, CudaError> {
    let mut count = 0;
    call!(cuGraphGetNodes(graph, ptr::null_mut(), &mut count))?;
    if count == 0 {
        return Ok(Vec::new()); // CUDA refuses a list with room for no nodes
    }
    let mut nodes = vec![ptr::null_mut(); count];
    call!(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count))?;
    nodes.truncate(count);
    Ok(nodes)
}

/// `cuGraphNodeGetType`, as a number: a driver may know types that the bindings do not
pub(crate) unsafe fn node_type(node: CUgraphNode) -> Result<u32, CudaError> {
    let mut kind = 0_u32;
    call!(cuGraphNodeGetType(node, &mut kind))?;
    Ok(kind)
}

/// `cuGraphChildGraphNodeGetGraph`
pub(crate) unsafe fn child(node: CUgraphNode) -> Result<CUgraph, CudaError> {
    let mut graph = ptr::null_mut();
    call!(cuGraphChildGraphNodeGetGraph(node, &mut graph))?;
    Ok(graph)
}

/// `cuGraphAddChildGraphNode`: the node has a copy of `child`
pub(crate) unsafe fn add_child_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    child: CUgraph,
) -> Result<CUgraphNode, CudaError> {
    let mut node = ptr::null_mut();
    call!(cuGraphAddChildGraphNode(
        &mut node,
        graph,
        after.as_ptr(),
        after.len(),
        child
    ))?;
    Ok(node)
}
