//! Driver calls about modules and their functions.

use super::functions::call;
use super::{CUdeviceptr, CUfunction, CUfunction_attribute, CUmodule};
use crate::error::CudaError;
use cudarc::driver::sys::CUjit_option;
use std::ffi::{CStr, c_void};
use std::ptr;

/// `cuModuleLoadData`
pub(crate) unsafe fn load(image: &CStr) -> Result<CUmodule, CudaError> {
    let mut module = ptr::null_mut();
    call!(cuModuleLoadData(&mut module, image.as_ptr().cast()))?;
    Ok(module)
}

/// `cuModuleLoadDataEx`; an error comes with the messages of the driver's PTX compiler
pub(crate) unsafe fn load_explained(image: &CStr) -> Result<CUmodule, (CudaError, String)> {
    let mut module = ptr::null_mut();
    let mut log = vec![0_u8; 8192];
    let mut options = [
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER as u32,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES as u32,
    ];
    let mut values = [
        log.as_mut_ptr().cast::<c_void>(),
        ptr::without_provenance_mut(log.len()),
    ];
    let loaded = call!(cuModuleLoadDataEx(
        &mut module,
        image.as_ptr().cast(),
        options.len() as u32,
        options.as_mut_ptr(),
        values.as_mut_ptr(),
    ));
    match loaded {
        Ok(()) => Ok(module),
        Err(error) => {
            let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
            Err((error, String::from_utf8_lossy(&log[..end]).trim().to_owned()))
        }
    }
}

/// `cuModuleUnload`
pub(crate) unsafe fn unload(module: CUmodule) -> Result<(), CudaError> {
    call!(cuModuleUnload(module))
}

/// `cuModuleGetFunction`
pub(crate) unsafe fn function(module: CUmodule, name: &CStr) -> Result<CUfunction, CudaError> {
    let mut function = ptr::null_mut();
    call!(cuModuleGetFunction(&mut function, module, name.as_ptr()))?;
    Ok(function)
}

/// `cuModuleGetGlobal`: the address and the size in bytes of a variable
pub(crate) unsafe fn variable(module: CUmodule, name: &CStr) -> Result<(CUdeviceptr, usize), CudaError> {
    let (mut address, mut bytes) = (0, 0);
    call!(cuModuleGetGlobal_v2(&mut address, &mut bytes, module, name.as_ptr()))?;
    Ok((address, bytes))
}

/// `cuFuncGetAttribute`
pub(crate) unsafe fn function_attribute(
    function: CUfunction,
    attribute: CUfunction_attribute,
) -> Result<i32, CudaError> {
    let mut value = 0;
    call!(cuFuncGetAttribute(&mut value, attribute, function))?;
    Ok(value)
}

/// `cuFuncGetParamInfo` for every parameter: their sizes in bytes; `None` if the driver is older than CUDA 12.4, which
/// brought this call
pub(crate) unsafe fn function_parameters(function: CUfunction) -> Option<Vec<usize>> {
    const INVALID_VALUE: u32 = 1;
    let mut sizes = Vec::new();
    loop {
        let (mut offset, mut size) = (0, 0);
        match call!(cuFuncGetParamInfo(function, sizes.len(), &mut offset, &mut size)) {
            Ok(()) => sizes.push(size),
            Err(error) if error.code == INVALID_VALUE => return Some(sizes), // there are no more
            Err(_) => return None,
        }
    }
}

/// `cuFuncSetAttribute`
pub(crate) unsafe fn set_function_attribute(
    function: CUfunction,
    attribute: CUfunction_attribute,
    value: i32,
) -> Result<(), CudaError> {
    call!(cuFuncSetAttribute(function, attribute, value))
}
