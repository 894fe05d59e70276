//! Driver calls about conditional nodes, which came with CUDA 12.3. The driver, and cudarc's bindings, may be older.
//! So the types are declared here.

use super::functions::call;
use super::{CUcontext, CUgraph, CUgraphNode};
use crate::error::CudaError;
use std::ptr;

/// `CUgraphConditionalHandle`
pub(crate) type ConditionalHandle = u64;

/// `CUgraphConditionalNodeType`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum ConditionalType {
    If = 0,
    While = 1,
    Switch = 2,
}

/// `CU_GRAPH_NODE_TYPE_CONDITIONAL`
const CONDITIONAL: u32 = 13;

/// `CUgraphNodeParams` of a conditional node: 256 bytes.
#[repr(C)]
pub(super) struct NodeParams {
    kind: u32,
    reserved0: [u32; 3],
    conditional: ConditionalNodeParams,
    rest: [u64; 25],
    reserved2: u64,
}

impl NodeParams {
    /// The parameters of a conditional node with `size` bodies.
    pub(super) fn new(handle: ConditionalHandle, kind: ConditionalType, size: usize, context: CUcontext) -> Self {
        Self {
            kind: CONDITIONAL,
            reserved0: [0; 3],
            conditional: ConditionalNodeParams {
                handle,
                kind,
                size: size as u32,
                graphs: ptr::null_mut(),
                context,
            },
            rest: [0; 25],
            reserved2: 0,
        }
    }

    /// The bodies of the node that was added.
    ///
    /// # Safety
    ///
    /// A call that adds a node has succeeded with these parameters, and the node lives.
    pub(super) unsafe fn bodies(&self) -> Vec<CUgraph> {
        let ConditionalNodeParams { graphs, size, .. } = self.conditional;
        // SAFETY: on success CUDA points to `size` graphs, which stay there as long as the node; they are copied at
        // once.
        unsafe { std::slice::from_raw_parts(graphs, size as usize) }.to_vec()
    }
}

/// `CUDA_CONDITIONAL_NODE_PARAMS`
#[repr(C)]
struct ConditionalNodeParams {
    handle: ConditionalHandle,
    kind: ConditionalType,
    size: u32,
    graphs: *mut CUgraph,
    context: CUcontext,
}

/// `cuGraphConditionalHandleCreate`, without a default value: a kernel must set it before its node runs
pub(crate) unsafe fn create_handle(graph: CUgraph, context: CUcontext) -> Result<ConditionalHandle, CudaError> {
    let mut handle = 0;
    call!(cuGraphConditionalHandleCreate(&mut handle, graph, context, 0, 0))?;
    Ok(handle)
}

/// `cuGraphAddNode_v2` of a conditional node with `size` bodies, which it returns: graphs that belong to the node
pub(crate) unsafe fn add_node(
    graph: CUgraph,
    after: &[CUgraphNode],
    handle: ConditionalHandle,
    kind: ConditionalType,
    size: usize,
    context: CUcontext,
) -> Result<(CUgraphNode, Vec<CUgraph>), CudaError> {
    let mut params = NodeParams::new(handle, kind, size, context);
    let mut node = ptr::null_mut();
    let (dependencies, count) = (after.as_ptr(), after.len());
    call!(cuGraphAddNode_v2(
        &mut node,
        graph,
        dependencies,
        ptr::null(), // no edge data: plain edges
        count,
        (&raw mut params).cast()
    ))?;
    // SAFETY: the call has succeeded.
    Ok((node, unsafe { params.bodies() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    #[test]
    fn parameters_lie_where_cuda_reads_them() {
        assert_eq!(size_of::<NodeParams>(), 256);
        assert_eq!(offset_of!(NodeParams, conditional), 16);
        assert_eq!(offset_of!(NodeParams, reserved2), 248);
        assert_eq!(offset_of!(ConditionalNodeParams, graphs), 16);
        assert_eq!(size_of::<ConditionalNodeParams>(), 32);
    }
}
