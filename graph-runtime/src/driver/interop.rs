//! Driver calls that only graphs of the runtime library need: libraries, whose kernels the runtime takes, and the
//! primary context, in which it works.

use super::error::driver_calls;
use super::{CUcontext, CUdevice, CUfunction, CUkernel, CUlibrary, CUmodule, primary_context};
use crate::error::CudaError;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

driver_calls! {
    NAMES;
    /// Writes whether there is a primary context, as a number.
    fn get_primary_state(device: CUdevice, active: &mut c_int)
        = cuDevicePrimaryCtxGetState(device: CUdevice, flags: *mut c_uint = &mut 0, active: *mut c_int);
    /// Without options.
    fn load_library(image: &[u8]) -> library: CUlibrary
        = cuLibraryLoadData(
            library: *mut CUlibrary = &mut library,
            code: *const c_void = image.as_ptr().cast(),
            options: *mut u32 as *mut sys::CUjit_option = ptr::null_mut(),
            values: *mut *mut c_void = ptr::null_mut(),
            count: c_uint = 0,
            library_options: *mut u32 as *mut sys::CUlibraryOption = ptr::null_mut(),
            library_values: *mut *mut c_void = ptr::null_mut(),
            library_count: c_uint = 0,
        );
    fn get_module(library: CUlibrary) -> module: CUmodule
        = cuLibraryGetModule(module: *mut CUmodule = &mut module, library: CUlibrary);
    pub(crate) fn unload(library: CUlibrary) = cuLibraryUnload;
    fn get_kernel(library: CUlibrary, name: &CStr) -> kernel: CUkernel
        = cuLibraryGetKernel(
            kernel: *mut CUkernel = &mut kernel, library: CUlibrary, name: *const c_char = name.as_ptr(),
        );
    fn get_function(kernel: CUkernel) -> function: CUfunction
        = cuKernelGetFunction(function: *mut CUfunction = &mut function, kernel: CUkernel);
}

/// Whether the context is the primary one of the device: `cuDevicePrimaryCtxGetState`, and `cuDevicePrimaryCtxRetain`
/// of one that there is.
///
/// # Safety
///
/// There is such a device.
pub(crate) unsafe fn is_primary(context: CUcontext, device: CUdevice) -> Result<bool, CudaError> {
    let mut active = 0;
    // SAFETY: by the caller's promise.
    unsafe { get_primary_state(device, &mut active) }?;
    if active == 0 {
        return Ok(false);
    }
    // SAFETY: by the caller's promise.
    let primary = unsafe { primary_context::retain(device) }?;
    // SAFETY: it was retained above.
    unsafe { primary_context::release(device) }?;
    Ok(primary == context)
}

/// `cuLibraryLoadData`, and `cuLibraryGetModule`, which loads it into the current context at once, so that PTX that the
/// driver does not take is an error here.
///
/// # Safety
///
/// A context is current.
pub(crate) unsafe fn load(image: &[u8]) -> Result<(CUlibrary, CUmodule), CudaError> {
    // SAFETY: by the caller's promise; the image is a string that outlives the call.
    let library = unsafe { load_library(image) }?;
    // SAFETY: by the caller's promise; the library was loaded above.
    match unsafe { get_module(library) } {
        Ok(module) => Ok((library, module)),
        Err(error) => {
            // SAFETY: it was loaded above, and nobody else knows of it.
            let _ = unsafe { unload(library) };
            Err(error)
        }
    }
}

/// `cuLibraryGetKernel`, and `cuKernelGetFunction` for the current context.
///
/// # Safety
///
/// The library is loaded, and a context is current.
pub(crate) unsafe fn kernel(library: CUlibrary, name: &CStr) -> Result<(CUkernel, CUfunction), CudaError> {
    // SAFETY: by the caller's promise.
    let kernel = unsafe { get_kernel(library, name) }?;
    // SAFETY: by the caller's promise; the kernel is one of the library.
    let function = unsafe { get_function(kernel) }?;
    Ok((kernel, function))
}
