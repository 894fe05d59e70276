//! Driver calls about memory outside graphs.

use super::functions::call;
use super::{CUdeviceptr, CUstream};
use crate::error::CudaError;
use cudarc::driver::sys;
use std::ffi::c_void;
use std::ptr;

/// `cuMemAlloc_v2`
pub(crate) unsafe fn alloc(bytes: usize) -> Result<CUdeviceptr, CudaError> {
    let mut address = 0;
    call!(cuMemAlloc_v2(&mut address, bytes))?;
    Ok(address)
}

/// `cuMemFree_v2`
pub(crate) unsafe fn free(address: CUdeviceptr) -> Result<(), CudaError> {
    call!(cuMemFree_v2(address))
}

/// `cuMemHostAlloc`: page-locked for all contexts, not write-combined (which is slow to read)
pub(crate) unsafe fn host_alloc(bytes: usize) -> Result<*mut c_void, CudaError> {
    let mut pointer = ptr::null_mut();
    call!(cuMemHostAlloc(&mut pointer, bytes, sys::CU_MEMHOSTALLOC_PORTABLE))?;
    Ok(pointer)
}

/// `cuMemFreeHost`
pub(crate) unsafe fn host_free(pointer: *mut c_void) -> Result<(), CudaError> {
    call!(cuMemFreeHost(pointer))
}

/// `cuMemHostRegister_v2`: page-locked for all contexts
pub(crate) unsafe fn host_register(pointer: *mut c_void, bytes: usize, read_only: bool) -> Result<(), CudaError> {
    let more = if read_only {
        sys::CU_MEMHOSTREGISTER_READ_ONLY
    } else {
        0
    };
    call!(cuMemHostRegister_v2(
        pointer,
        bytes,
        sys::CU_MEMHOSTREGISTER_PORTABLE | more
    ))
}

/// `cuMemHostUnregister`, of the memory at this address
pub(crate) unsafe fn host_unregister(address: usize) -> Result<(), CudaError> {
    call!(cuMemHostUnregister(ptr::without_provenance_mut(address)))
}

/// `cuMemsetD8Async`
pub(crate) unsafe fn set(address: CUdeviceptr, value: u8, bytes: usize, stream: CUstream) -> Result<(), CudaError> {
    call!(cuMemsetD8Async(address, value, bytes, stream))
}

/// `cuMemcpyHtoDAsync_v2`
pub(crate) unsafe fn copy_to_device(
    to: CUdeviceptr,
    from: *const c_void,
    bytes: usize,
    stream: CUstream,
) -> Result<(), CudaError> {
    call!(cuMemcpyHtoDAsync_v2(to, from, bytes, stream))
}

/// `cuMemcpyDtoHAsync_v2`
pub(crate) unsafe fn copy_to_host(
    to: *mut c_void,
    from: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
) -> Result<(), CudaError> {
    call!(cuMemcpyDtoHAsync_v2(to, from, bytes, stream))
}
