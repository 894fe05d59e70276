//! Driver calls about CUDA arrays.

use super::CUstream;
use super::functions::call;
use crate::error::CudaError;
use cudarc::driver::sys;
use std::ffi::c_void;
use std::ptr;

pub(crate) use sys::{
    CUDA_ARRAY3D_DESCRIPTOR as ArrayDescriptor, CUDA_MEMCPY3D as CopyParams, CUarray, CUmemorytype as MemoryType};

/// One side of a copy.
#[derive(Clone, Copy)]
pub(crate) enum CopySide {
    Host(*mut c_void),
    Device(u64),
    Array(CUarray),
}

/// The parameters of a copy of `extent`: the bytes of a row, the rows, and the planes or layers. In memory with
/// addresses, rows and planes begin `pitch` and `height` rows after each other.
pub(crate) fn copy_params(
    (from, from_pitch): (CopySide, usize),
    (to, to_pitch): (CopySide, usize),
    [width, height, depth]: [usize; 3],
) -> CopyParams {
    let parts = |side| match side {
        CopySide::Host(pointer) => (MemoryType::CU_MEMORYTYPE_HOST, pointer, 0, ptr::null_mut()),
        CopySide::Device(address) => (MemoryType::CU_MEMORYTYPE_DEVICE, ptr::null_mut(), address, ptr::null_mut()),
        CopySide::Array(array) => (MemoryType::CU_MEMORYTYPE_ARRAY, ptr::null_mut(), 0, array),
    };
    let ((source, source_host, source_device, source_array), (target, target_host, target_device, target_array)) =
        (parts(from), parts(to));
    CopyParams {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: source,
        srcHost: source_host,
        srcDevice: source_device,
        srcArray: source_array,
        reserved0: ptr::null_mut(),
        srcPitch: from_pitch,
        srcHeight: height,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: target,
        dstHost: target_host,
        dstDevice: target_device,
        dstArray: target_array,
        reserved1: ptr::null_mut(),
        dstPitch: to_pitch,
        dstHeight: height,
        WidthInBytes: width,
        Height: height,
        Depth: depth,
    }
}

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
