//! Driver calls about graphs, besides those that `graph_api` has rows for.

use super::error::driver_calls;
use super::{CUgraph, CUgraphNode, CUstream};
use crate::error::CudaError;
use std::ptr;

pub(crate) use super::types::{
    CUDA_KERNEL_NODE_PARAMS as KernelNodeParams, CUDA_MEMSET_NODE_PARAMS as MemsetNodeParams,
};

driver_calls! {
    NAMES;
    /// Writes at most `count` nodes, and the number of nodes.
    fn get_nodes(graph: CUgraph, nodes: *mut CUgraphNode, count: &mut usize)
        = cuGraphGetNodes(graph: CUgraph, nodes: *mut CUgraphNode, count: *mut usize);
    /// A number: a driver may know types that the bindings do not.
    pub(crate) fn node_type(node: CUgraphNode) -> kind: u32
        = cuGraphNodeGetType(node: CUgraphNode, kind: *mut u32 as *mut sys::CUgraphNodeType = &mut kind);
}

/// Lists the nodes of a graph.
///
/// # Safety
///
/// The graph lives.
pub(crate) unsafe fn nodes(graph: CUgraph) -> Result<Vec<CUgraphNode>, CudaError> {
    let mut count = 0;
    // SAFETY: by the caller's promise; without a list, the number alone is written.
    unsafe { get_nodes(graph, ptr::null_mut(), &mut count) }?;
    if count == 0 {
        return Ok(Vec::new()); // CUDA refuses a list with room for no nodes
    }
    let mut nodes = vec![ptr::null_mut(); count];
    // SAFETY: by the caller's promise; the list has room for `count` nodes.
    unsafe { get_nodes(graph, nodes.as_mut_ptr(), &mut count) }?;
    nodes.truncate(count);
    Ok(nodes)
}

/// The failure of a call that makes or updates an executable graph.
#[derive(Debug)]
pub(crate) struct ExecutableError {
    /// The call's own error.
    pub(crate) error: CudaError,
    /// The node at fault, of the new graph; null if CUDA does not name one.
    pub(crate) node: CUgraphNode,
    /// CUDA's finer reason, the number of a `CUgraphInstantiateResult` or a `CUgraphExecUpdateResult`.
    pub(crate) reason: u32,
}

impl ExecutableError {
    /// Whether the graph differs in a way that no update covers, so that it must be instantiated instead.
    pub(crate) fn is_refusal(&self) -> bool {
        const NOT_SUPPORTED: u32 = 801;
        const GRAPH_EXEC_UPDATE_FAILURE: u32 = 910;
        matches!(self.error.code(), NOT_SUPPORTED | GRAPH_EXEC_UPDATE_FAILURE)
    }
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
    pub(super) fn failed(&self, error: CudaError) -> ExecutableError {
        ExecutableError {
            error,
            node: self.error_node,
            reason: self.reason,
        }
    }
}

#[cfg(all(test, feature = "cudarc"))]
const _: () = {
    use cudarc::driver::sys;
    use std::mem::{offset_of, size_of};
    assert!(size_of::<InstantiateParams>() == size_of::<sys::CUDA_GRAPH_INSTANTIATE_PARAMS>());
    let reason = offset_of!(sys::CUDA_GRAPH_INSTANTIATE_PARAMS, result_out);
    assert!(offset_of!(InstantiateParams, reason) == reason);
    let node = offset_of!(sys::CUDA_GRAPH_INSTANTIATE_PARAMS, hErrNode_out);
    assert!(offset_of!(InstantiateParams, error_node) == node);
};

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
    pub(super) fn failed(&self, error: CudaError) -> ExecutableError {
        ExecutableError {
            error,
            node: self.node,
            reason: self.reason,
        }
    }
}

#[cfg(all(test, feature = "cudarc"))]
const _: () = {
    use cudarc::driver::sys;
    use std::mem::{offset_of, size_of};
    assert!(size_of::<UpdateInfo>() == size_of::<sys::CUgraphExecUpdateResultInfo>());
    let node = offset_of!(sys::CUgraphExecUpdateResultInfo, errorNode);
    assert!(offset_of!(UpdateInfo, node) == node);
};

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
