//! Driver calls that count the users of a device's primary context.

use super::error::driver_calls;
use super::{CUcontext, CUdevice};

driver_calls! {
    NAMES;
    pub(crate) fn retain(device: CUdevice) -> context: CUcontext
        = cuDevicePrimaryCtxRetain(context: *mut CUcontext = &mut context, device: CUdevice);
    pub(crate) fn release(device: CUdevice) = cuDevicePrimaryCtxRelease_v2;
}
