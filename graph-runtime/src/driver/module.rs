//! Driver calls about modules and their functions.

use super::error::driver_calls;
use super::types::{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
use super::{CUdeviceptr, CUfunction, CUfunction_attribute, CUmodule};
use crate::error::CudaError;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

driver_calls! {
    NAMES;
    pub(crate) fn load(image: &[u8]) -> module: CUmodule
        = cuModuleLoadData(module: *mut CUmodule = &mut module, image: *const c_void = image.as_ptr().cast());
    fn load_with(image: &[u8], options: &mut [u32], values: &mut [*mut c_void]) -> module: CUmodule
        = cuModuleLoadDataEx(
            module: *mut CUmodule = &mut module, image: *const c_void = image.as_ptr().cast(),
            count: c_uint = options.len() as c_uint, options: *mut u32 as *mut sys::CUjit_option = options.as_mut_ptr(),
            values: *mut *mut c_void = values.as_mut_ptr(),
        );
    pub(crate) fn unload(module: CUmodule) = cuModuleUnload;
    pub(crate) fn function(module: CUmodule, name: &CStr) -> function: CUfunction
        = cuModuleGetFunction(
            function: *mut CUfunction = &mut function, module: CUmodule, name: *const c_char = name.as_ptr(),
        );
    /// Writes the size in bytes.
    fn get_variable(module: CUmodule, name: &CStr, bytes: &mut usize) -> address: CUdeviceptr
        = cuModuleGetGlobal_v2(
            address: *mut CUdeviceptr = &mut address, bytes: *mut usize, module: CUmodule,
            name: *const c_char = name.as_ptr(),
        );
    pub(crate) fn function_attribute(function: CUfunction, attribute: CUfunction_attribute) -> value: c_int
        = cuFuncGetAttribute(
            value: *mut c_int = &mut value, attribute: CUfunction_attribute as sys::CUfunction_attribute,
            function: CUfunction,
        );
    pub(crate) fn set_function_attribute(function: CUfunction, attribute: CUfunction_attribute, value: c_int)
        = cuFuncSetAttribute(
            function: CUfunction, attribute: CUfunction_attribute as sys::CUfunction_attribute, value: c_int,
        );
    /// Writes the offset of a parameter. The result is its size in bytes.
    fn get_parameter(function: CUfunction, index: usize, offset: &mut usize) -> size: usize
        = cuFuncGetParamInfo(
            function: CUfunction, index: usize, offset: *mut usize, size: *mut usize = &mut size,
        ), newer;
}

/// `cuModuleLoadDataEx`; an error comes with the messages of the driver's PTX compiler.
///
/// # Safety
///
/// A context is current. The image is PTX with a zero at its end, or a cubin.
pub(crate) unsafe fn load_explained(image: &[u8]) -> Result<CUmodule, (CudaError, String)> {
    let mut log = vec![0_u8; 8192];
    let mut options = [CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values = [
        log.as_mut_ptr().cast::<c_void>(),
        ptr::without_provenance_mut(log.len()),
    ];
    // SAFETY: by the caller's promise; the values are those of the options, and the log has the size that they say.
    unsafe { load_with(image, &mut options, &mut values) }.map_err(|error| {
        let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
        (error, String::from_utf8_lossy(&log[..end]).trim().to_owned())
    })
}

/// Returns the address and the size in bytes of a variable.
///
/// # Safety
///
/// The module is loaded, and its context is current.
pub(crate) unsafe fn variable(module: CUmodule, name: &CStr) -> Result<(CUdeviceptr, usize), CudaError> {
    let mut bytes = 0;
    // SAFETY: by the caller's promise.
    let address = unsafe { get_variable(module, name, &mut bytes) }?;
    Ok((address, bytes))
}

/// `cuFuncGetParamInfo` for every parameter: their sizes in bytes; `None` if the driver is older than CUDA 12.4, which
/// brought this call.
///
/// # Safety
///
/// The function's module is loaded.
pub(crate) unsafe fn function_parameters(function: CUfunction) -> Option<Vec<usize>> {
    const INVALID_VALUE: u32 = 1;
    let mut sizes = Vec::new();
    loop {
        // SAFETY: by the caller's promise.
        match unsafe { get_parameter(function, sizes.len(), &mut 0) } {
            Ok(size) => sizes.push(size),
            Err(error) if error.code == INVALID_VALUE => return Some(sizes), // there are no more
            Err(_) => return None,
        }
    }
}
