//! Driver calls about CUDA arrays.

use super::CUstream;
use super::functions::call;
use crate::error::CudaError;
use cudarc::driver::sys;
use std::ptr;

pub(crate) use sys::{CUDA_ARRAY3D_DESCRIPTOR as ArrayDescriptor, CUDA_MEMCPY3D as CopyParams, CUarray};

/// `cuArray3DCreate_v2`
pub(crate) unsafe fn create(descriptor: &ArrayDescriptor) -> Result<CUarray, CudaError> {
    let mut array = ptr::null_mut();
    call!(cuArray3DCreate_v2(&mut array, descriptor))?;
    Ok(array)
}

/// `cuArrayDestroy`
pub(crate) unsafe fn destroy(array: CUarray) -> Result<(), CudaError> {
    call!(cuArrayDestroy(array))
}

/// `cuMemcpy3DAsync_v2`
pub(crate) unsafe fn copy(params: &CopyParams, stream: CUstream) -> Result<(), CudaError> {
    call!(cuMemcpy3DAsync_v2(params, stream))
}
