//! Driver calls about the library, devices and contexts.

use super::functions::call;
use super::{CUcontext, CUdevice, CUdevice_attribute};
use crate::error::CudaError;
use std::ffi::CStr;
use std::ptr;

pub(crate) use super::functions::is_present;

/// `cuInit`
pub(crate) unsafe fn init() -> Result<(), CudaError> {
    call!(cuInit(0))
}

/// `cuDriverGetVersion`: 1000 x major + 10 x minor
pub(crate) unsafe fn driver_version() -> Result<u32, CudaError> {
    let mut version = 0;
    call!(cuDriverGetVersion(&mut version))?;
    Ok(version as u32)
}

/// `cuDeviceGetCount`
pub(crate) unsafe fn device_count() -> Result<usize, CudaError> {
    let mut count = 0;
    call!(cuDeviceGetCount(&mut count))?;
    Ok(count as usize)
}

/// `cuDeviceGetName`
pub(crate) unsafe fn device_name(device: CUdevice) -> Result<String, CudaError> {
    let mut name = [0_u8; 256];
    call!(cuDeviceGetName(name.as_mut_ptr().cast(), name.len() as i32 - 1, device))?;
    let name = CStr::from_bytes_until_nul(&name).unwrap_or(c"CUDA device");
    Ok(name.to_string_lossy().into_owned())
}

/// `cuDeviceGetAttribute`
pub(crate) unsafe fn device_attribute(device: CUdevice, attribute: CUdevice_attribute) -> Result<i32, CudaError> {
    let mut value = 0;
    call!(cuDeviceGetAttribute(&mut value, attribute, device))?;
    Ok(value)
}

/// `cuDeviceTotalMem_v2`: in bytes
pub(crate) unsafe fn total_memory(device: CUdevice) -> Result<usize, CudaError> {
    let mut bytes = 0;
    call!(cuDeviceTotalMem_v2(&mut bytes, device))?;
    Ok(bytes)
}

/// `cuCtxGetCurrent`
pub(crate) unsafe fn current() -> Result<CUcontext, CudaError> {
    let mut context = ptr::null_mut();
    call!(cuCtxGetCurrent(&mut context))?;
    Ok(context)
}

/// `cuCtxSetCurrent`
pub(crate) unsafe fn set_current(context: CUcontext) -> Result<(), CudaError> {
    call!(cuCtxSetCurrent(context))
}

/// `cuCtxSynchronize`
pub(crate) unsafe fn synchronize() -> Result<(), CudaError> {
    call!(cuCtxSynchronize())
}
