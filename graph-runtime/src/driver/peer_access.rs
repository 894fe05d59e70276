//! Driver calls about the memory of other devices.

use super::error::driver_calls;
use super::{CUcontext, CUdevice};
use std::ffi::{c_int, c_uint};

driver_calls! {
    NAMES;
    /// Whether a device can reach the memory of another one: 0 or 1.
    pub(crate) fn can_access(device: CUdevice, peer: CUdevice) -> can: c_int
        = cuDeviceCanAccessPeer(can: *mut c_int = &mut can, device: CUdevice, peer: CUdevice);
    /// Kernels of the current context reach the memory of this one from now on.
    pub(crate) fn enable(peer: CUcontext) = cuCtxEnablePeerAccess(peer: CUcontext, flags: c_uint = 0);
}
