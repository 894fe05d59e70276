//! Driver calls that count the users of a device's primary context.

use super::error::driver_calls;
use super::{CUcontext, CUdevice};
#[cfg(not(feature = "cudarc"))]
use std::ffi::c_int;

driver_calls! {
    NAMES;
    #[cfg(not(feature = "cudarc"))]
    pub(crate) fn device(ordinal: c_int) -> device: CUdevice
        = cuDeviceGet(device: *mut CUdevice = &mut device, ordinal: c_int);
    pub(crate) fn retain(device: CUdevice) -> context: CUcontext
        = cuDevicePrimaryCtxRetain(context: *mut CUcontext = &mut context, device: CUdevice);
    pub(crate) fn release(device: CUdevice) = cuDevicePrimaryCtxRelease_v2;
}
