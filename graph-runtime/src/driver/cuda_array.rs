//! Driver calls about CUDA arrays.

use super::CUstream;
use super::copy::CopyParams;
use super::error::driver_calls;

pub(crate) use super::types::{CUDA_ARRAY3D_DESCRIPTOR as ArrayDescriptor, CUarray};

driver_calls! {
    NAMES;
    pub(crate) fn create(descriptor: &ArrayDescriptor) -> array: CUarray
        = cuArray3DCreate_v2(
            array: *mut CUarray = &mut array, descriptor: *const ArrayDescriptor as *const sys::CUDA_ARRAY3D_DESCRIPTOR,
        );
    pub(crate) fn destroy(array: CUarray) = cuArrayDestroy;
    pub(crate) fn copy(params: &CopyParams, stream: CUstream)
        = cuMemcpy3DAsync_v2(params: *const CopyParams as *const sys::CUDA_MEMCPY3D, stream: CUstream);
}
