//! Driver calls about how kernel nodes are launched.

use super::functions::call;
use super::{CUfunction, CUgraphNode};
use crate::error::CudaError;
use cudarc::driver::sys::{CUkernelNodeAttrID, CUkernelNodeAttrValue};

/// An attribute of a kernel node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NodeAttribute {
    /// The priority. CUDA takes any number, and replaces it by the nearest valid one.
    Priority(i32),
    /// The clusters that the node's blocks run in.
    Cluster([u32; 3]),
    /// All of the node's blocks run at the same time.
    Cooperative,
}

impl NodeAttribute {
    /// The attribute and its value for CUDA: those of the driver are those of the runtime.
    pub(super) fn parts(self) -> (CUkernelNodeAttrID, CUkernelNodeAttrValue) {
        let mut value = CUkernelNodeAttrValue { pad: [0; 64] };
        let attribute = match self {
            Self::Priority(priority) => {
                value.priority = priority;
                CUkernelNodeAttrID::CU_LAUNCH_ATTRIBUTE_PRIORITY
            }
            Self::Cluster([x, y, z]) => {
                value.clusterDim.x = x;
                value.clusterDim.y = y;
                value.clusterDim.z = z;
                CUkernelNodeAttrID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            }
            Self::Cooperative => {
                value.cooperative = 1;
                CUkernelNodeAttrID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE
            }
        };
        (attribute, value)
    }
}

/// `cuGraphKernelNodeSetAttribute`
pub(crate) unsafe fn set(node: CUgraphNode, attribute: NodeAttribute) -> Result<(), CudaError> {
    let (attribute, value) = attribute.parts();
    call!(cuGraphKernelNodeSetAttribute(node, attribute, &value))
}

/// `cuCtxGetStreamPriorityRange`: the greatest priority, which is the least number, and the least
pub(crate) unsafe fn priority_range() -> Result<(i32, i32), CudaError> {
    let (mut least, mut greatest) = (0, 0);
    call!(cuCtxGetStreamPriorityRange(&mut least, &mut greatest))?;
    Ok((greatest, least))
}

/// `cuOccupancyMaxActiveBlocksPerMultiprocessor`
pub(crate) unsafe fn active_blocks(function: CUfunction, threads: u64, shared: u32) -> Result<u32, CudaError> {
    let mut blocks = 0;
    call!(cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &mut blocks,
        function,
        threads as i32,
        shared as usize
    ))?;
    Ok(blocks as u32)
}
