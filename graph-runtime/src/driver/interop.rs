//! Driver calls that only graphs of the runtime library need: libraries, whose kernels the runtime takes, and the
//! primary context, in which it works.
#![expect(clippy::too_many_arguments, reason = "`cuLibraryLoadData` has eight")]

use super::functions::{error, find};
use super::library::functions;
use super::{CUcontext, CUdevice, CUfunction, CUkernel, CUlibrary, CUmodule};
use crate::error::CudaError;
use cudarc::driver::sys;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

functions! {
    #[cfg(feature = "fault-injection")]
    NAMES;
    find: find, fail: error, error: CudaError, bindings: sys -> sys::CUresult;
    fn cuDevicePrimaryCtxGetState(device: CUdevice, flags: *mut c_uint, active: *mut c_int);
    fn cuDevicePrimaryCtxRelease_v2(device: CUdevice);
    fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice);
    fn cuKernelGetFunction(function: *mut CUfunction, kernel: CUkernel);
    fn cuLibraryGetKernel(kernel: *mut CUkernel, library: CUlibrary, name: *const c_char);
    fn cuLibraryGetModule(module: *mut CUmodule, library: CUlibrary);
    fn cuLibraryLoadData(
        library: *mut CUlibrary,
        code: *const c_void,
        options: *mut u32 as *mut sys::CUjit_option,
        values: *mut *mut c_void,
        count: c_uint,
        library_options: *mut u32 as *mut sys::CUlibraryOption,
        library_values: *mut *mut c_void,
        library_count: c_uint,
    );
    fn cuLibraryUnload(library: CUlibrary);
    newer:
}

/// Makes one driver call. Its error has the call's name.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: this is used only in the `unsafe fn` for this one call, whose caller promised what CUDA asks of the
        // arguments passed through; out-parameters point to locals.
        unsafe { $function($($argument),*) }
    };
}

/// Whether the context is the primary one of the device: `cuDevicePrimaryCtxGetState`, and `cuDevicePrimaryCtxRetain`
/// of one that there is
pub(crate) unsafe fn is_primary(context: CUcontext, device: CUdevice) -> Result<bool, CudaError> {
    let (mut flags, mut active) = (0, 0);
    call!(cuDevicePrimaryCtxGetState(device, &mut flags, &mut active))?;
    if active == 0 {
        return Ok(false);
    }
    let mut primary = ptr::null_mut();
    call!(cuDevicePrimaryCtxRetain(&mut primary, device))?;
    call!(cuDevicePrimaryCtxRelease_v2(device))?;
    Ok(primary == context)
}

/// `cuLibraryLoadData`, and `cuLibraryGetModule`, which loads it into the current context at once, so that PTX that the
/// driver does not take is an error here
pub(crate) unsafe fn load(image: &CStr) -> Result<(CUlibrary, CUmodule), CudaError> {
    let mut library = ptr::null_mut();
    let none = ptr::null_mut;
    call!(cuLibraryLoadData(
        &mut library,
        image.as_ptr().cast(),
        ptr::null_mut(),
        none(),
        0,
        ptr::null_mut(),
        none(),
        0
    ))?;
    let mut module = ptr::null_mut();
    match call!(cuLibraryGetModule(&mut module, library)) {
        Ok(()) => Ok((library, module)),
        Err(error) => {
            // SAFETY: it was loaded above, and nobody else knows of it.
            let _ = unsafe { unload(library) };
            Err(error)
        }
    }
}

/// `cuLibraryUnload`
pub(crate) unsafe fn unload(library: CUlibrary) -> Result<(), CudaError> {
    call!(cuLibraryUnload(library))
}

/// `cuLibraryGetKernel`, and `cuKernelGetFunction` for the current context
pub(crate) unsafe fn kernel(library: CUlibrary, name: &CStr) -> Result<(CUkernel, CUfunction), CudaError> {
    let (mut kernel, mut function) = (ptr::null_mut(), ptr::null_mut());
    call!(cuLibraryGetKernel(&mut kernel, library, name.as_ptr()))?;
    call!(cuKernelGetFunction(&mut function, kernel))?;
    Ok((kernel, function))
}
