//! Driver calls about memory outside graphs.

use super::error::driver_calls;
use super::types::{
    CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTREGISTER_PORTABLE, CU_MEMHOSTREGISTER_READ_ONLY, CU_POINTER_ATTRIBUTE_CONTEXT,
};
use super::{CUcontext, CUdeviceptr, CUstream};
use std::ffi::{c_uchar, c_uint, c_void};
use std::ptr;

driver_calls! {
    NAMES;
    pub(crate) fn alloc(bytes: usize) -> address: CUdeviceptr
        = cuMemAlloc_v2(address: *mut CUdeviceptr = &mut address, bytes: usize);
    pub(crate) fn free(address: CUdeviceptr) = cuMemFree_v2;
    /// The memory is page-locked for all contexts, and not write-combined, which is slow to read.
    pub(crate) fn host_alloc(bytes: usize) -> pointer: *mut c_void
        = cuMemHostAlloc(
            pointer: *mut *mut c_void = &mut pointer, bytes: usize, flags: c_uint = CU_MEMHOSTALLOC_PORTABLE,
        );
    pub(crate) fn host_free(pointer: *mut c_void) = cuMemFreeHost;
    /// The context of the memory at an address.
    pub(crate) fn context_of(address: CUdeviceptr) -> context: CUcontext
        = cuPointerGetAttribute(
            context: *mut c_void = (&raw mut context).cast(),
            attribute: c_uint as sys::CUpointer_attribute = CU_POINTER_ATTRIBUTE_CONTEXT,
            address: CUdeviceptr,
        );
    /// The memory is page-locked for all contexts.
    pub(crate) fn host_register(pointer: *mut c_void, bytes: usize, read_only: bool)
        = cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, flags: c_uint = register_flags(read_only));
    /// The memory at this address is not page-locked any more.
    pub(crate) fn host_unregister(address: usize)
        = cuMemHostUnregister(pointer: *mut c_void = ptr::without_provenance_mut(address));
    pub(crate) fn set(address: CUdeviceptr, value: u8, bytes: usize, stream: CUstream)
        = cuMemsetD8Async(address: CUdeviceptr, value: c_uchar, bytes: usize, stream: CUstream);
    pub(crate) fn copy_to_device(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream)
        = cuMemcpyHtoDAsync_v2;
    pub(crate) fn copy_to_host(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream)
        = cuMemcpyDtoHAsync_v2;
}

fn register_flags(read_only: bool) -> c_uint {
    let more = if read_only { CU_MEMHOSTREGISTER_READ_ONLY } else { 0 };
    CU_MEMHOSTREGISTER_PORTABLE | more
}
