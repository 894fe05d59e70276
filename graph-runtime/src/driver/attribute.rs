//! Driver calls about how kernel nodes are launched.

use super::functions::call;
use super::{CUfunction, CUgraphNode};
use crate::error::CudaError;
use cudarc::driver::sys::{CUkernelNodeAttrID, CUkernelNodeAttrValue};

fn empty() -> CUkernelNodeAttrValue {
    CUkernelNodeAttrValue { pad: [0; 64] }
}

/// `cuGraphKernelNodeSetAttribute`: the node's priority. CUDA takes any number, and replaces it by the nearest valid
/// one
pub(crate) unsafe fn set_priority(node: CUgraphNode, priority: i32) -> Result<(), CudaError> {
    let mut value = empty();
    value.priority = priority;
    let attribute = CUkernelNodeAttrID::CU_LAUNCH_ATTRIBUTE_PRIORITY;
    call!(cuGraphKernelNodeSetAttribute(node, attribute, &value))
}

/// `cuGraphKernelNodeSetAttribute`: the clusters that the node's blocks run in
pub(crate) unsafe fn set_cluster(node: CUgraphNode, [x, y, z]: [u32; 3]) -> Result<(), CudaError> {
    let mut value = empty();
    value.clusterDim.x = x;
    value.clusterDim.y = y;
    value.clusterDim.z = z;
    let attribute = CUkernelNodeAttrID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    call!(cuGraphKernelNodeSetAttribute(node, attribute, &value))
}

/// `cuGraphKernelNodeSetAttribute`: all of the node's blocks run at the same time
pub(crate) unsafe fn set_cooperative(node: CUgraphNode) -> Result<(), CudaError> {
    let mut value = empty();
    value.cooperative = 1;
    let attribute = CUkernelNodeAttrID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
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
