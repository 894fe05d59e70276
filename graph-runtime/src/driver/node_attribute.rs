//! Driver calls about how kernel nodes are launched.

use super::CUfunction;
use super::error::driver_calls;
use super::types::{CUkernelNodeAttrID, CUkernelNodeAttrValue};
use crate::error::CudaError;
use std::ffi::c_int;

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
    /// The attribute's name for CUDA: the driver's and the runtime's are the same.
    pub(super) fn name(self) -> CUkernelNodeAttrID {
        match self {
            Self::Priority(_) => CUkernelNodeAttrID::CU_LAUNCH_ATTRIBUTE_PRIORITY,
            Self::Cluster(_) => CUkernelNodeAttrID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            Self::Cooperative => CUkernelNodeAttrID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
        }
    }

    /// The attribute's value for CUDA.
    pub(super) fn value(self) -> CUkernelNodeAttrValue {
        let mut value = CUkernelNodeAttrValue { pad: [0; 8] };
        match self {
            Self::Priority(priority) => value.priority = priority,
            Self::Cluster(cluster) => value.cluster = cluster,
            Self::Cooperative => value.cooperative = 1,
        }
        value
    }
}

driver_calls! {
    NAMES;
    /// Writes the least priority, and the greatest, which is the least number.
    fn get_priority_range(least: &mut c_int, greatest: &mut c_int)
        = cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int);
    pub(crate) fn active_blocks(function: CUfunction, threads: c_int, shared: usize) -> blocks: u32
        = cuOccupancyMaxActiveBlocksPerMultiprocessor(
            blocks: *mut u32 as *mut c_int = &mut blocks, function: CUfunction, threads: c_int, shared: usize,
        );
}

/// Returns the greatest priority of streams, which is the least number, and the least.
///
/// # Safety
///
/// A context is current.
pub(crate) unsafe fn priority_range() -> Result<(c_int, c_int), CudaError> {
    let mut least = 0;
    let mut greatest = 0;
    // SAFETY: by the caller's promise.
    unsafe { get_priority_range(&mut least, &mut greatest) }?;
    Ok((greatest, least))
}
