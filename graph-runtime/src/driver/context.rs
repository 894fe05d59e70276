//! Driver calls about the library, devices and contexts.

use super::error::driver_calls;
use super::{CUcontext, CUdevice, CUdevice_attribute};
use crate::error::CudaError;
use std::ffi::{CStr, c_char, c_int, c_uint};

pub(crate) use super::library::is_present;

driver_calls! {
    NAMES;
    pub(crate) fn init() = cuInit(flags: c_uint = 0);
    /// 1000 x major + 10 x minor.
    pub(crate) fn driver_version() -> version: u32 = cuDriverGetVersion(version: *mut u32 as *mut c_int = &mut version);
    pub(crate) fn device_count() -> count: u32 = cuDeviceGetCount(count: *mut u32 as *mut c_int = &mut count);
    /// The device of the current context.
    pub(crate) fn current_device() -> device: CUdevice = cuCtxGetDevice(device: *mut CUdevice = &mut device);
    /// Writes a text that ends in 0.
    fn get_device_name(name: &mut [u8], device: CUdevice)
        = cuDeviceGetName(
            text: *mut c_char = name.as_mut_ptr().cast(), length: c_int = name.len() as c_int, device: CUdevice,
        );
    pub(crate) fn device_attribute(device: CUdevice, attribute: CUdevice_attribute) -> value: c_int
        = cuDeviceGetAttribute(
            value: *mut c_int = &mut value, attribute: CUdevice_attribute as sys::CUdevice_attribute,
            device: CUdevice,
        );
    /// In bytes.
    pub(crate) fn total_memory(device: CUdevice) -> bytes: usize
        = cuDeviceTotalMem_v2(bytes: *mut usize = &mut bytes, device: CUdevice);
    pub(crate) fn current() -> context: CUcontext = cuCtxGetCurrent(context: *mut CUcontext = &mut context);
    pub(crate) fn set_current(context: CUcontext) = cuCtxSetCurrent;
    pub(crate) fn synchronize() = cuCtxSynchronize;
}

/// Returns the name of a device.
///
/// # Safety
///
/// There is such a device.
pub(crate) unsafe fn device_name(device: CUdevice) -> Result<String, CudaError> {
    let mut name = [0; 256];
    // SAFETY: by the caller's promise.
    unsafe { get_device_name(&mut name[..255], device) }?;
    let name = CStr::from_bytes_until_nul(&name).unwrap_or(c"CUDA device");
    Ok(name.to_string_lossy().into_owned())
}
