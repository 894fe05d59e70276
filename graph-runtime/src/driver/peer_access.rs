//! Driver calls about the memory of other devices, and of other processes.

use super::error::driver_calls;
use super::types::CUipcMemHandle;
use super::{CUcontext, CUdevice, CUdeviceptr};
use std::ffi::{c_int, c_uint};

/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`
const LAZY_ENABLE_PEER_ACCESS: c_uint = 1;

driver_calls! {
    NAMES;
    /// Whether a device can reach the memory of another one: 0 or 1.
    pub(crate) fn can_access(device: CUdevice, peer: CUdevice) -> can: c_int
        = cuDeviceCanAccessPeer(can: *mut c_int = &mut can, device: CUdevice, peer: CUdevice);
    /// Kernels of the current context reach the memory of this one from now on.
    pub(crate) fn enable(peer: CUcontext) = cuCtxEnablePeerAccess(peer: CUcontext, flags: c_uint = 0);
    /// The handle by which another process opens the allocation that begins at an address.
    pub(crate) fn share(address: CUdeviceptr) -> handle: CUipcMemHandle
        = cuIpcGetMemHandle(
            handle: *mut CUipcMemHandle as *mut sys::CUipcMemHandle = &mut handle, address: CUdeviceptr,
        );
    /// Opens an allocation of another process for kernels of the current context. Returns its address there.
    pub(crate) fn open(handle: CUipcMemHandle) -> address: CUdeviceptr
        = cuIpcOpenMemHandle_v2(
            address: *mut CUdeviceptr = &mut address, handle: CUipcMemHandle as sys::CUipcMemHandle,
            flags: c_uint = LAZY_ENABLE_PEER_ACCESS,
        );
    /// Closes what [`open`] has opened.
    pub(crate) fn close(address: CUdeviceptr) = cuIpcCloseMemHandle;
}
