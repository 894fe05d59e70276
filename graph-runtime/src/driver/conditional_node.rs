//! The parameters of conditional nodes, which came with CUDA 12.3. cudarc's bindings may be older, so the types are
//! declared here.

use super::{CUcontext, CUgraph};
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

    /// The parameters of the runtime: `struct cudaGraphNodeParams` has no context.
    #[cfg(feature = "cudart")]
    pub(super) fn without_context(&mut self) -> &mut Self {
        self.conditional.context = ptr::null_mut();
        self
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
