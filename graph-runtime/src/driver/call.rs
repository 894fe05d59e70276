//! Makes driver calls, and turns their errors into words.

use crate::error::CudaError;
use cudarc::driver::sys;
use std::ffi::CStr;
use std::ptr;

/// Makes one driver call. Its error has the call's name.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: this is used only in the `unsafe fn` for this one call, whose caller promised what CUDA asks of the
        // arguments passed through; out-parameters point to locals.
        $crate::driver::call::check(stringify!($function), unsafe {
            ::cudarc::driver::sys::$function($($argument),*)
        })
    };
}
pub(super) use call;

/// Turns the code that a call returned into a `Result`.
#[inline]
pub(super) fn check(call: &'static str, result: sys::CUresult) -> Result<(), CudaError> {
    if result == sys::CUresult::CUDA_SUCCESS {
        Ok(())
    } else {
        Err(error(call, result))
    }
}

/// The error of a failed call, with CUDA's own name for it.
#[cold]
pub(crate) fn error(call: &'static str, result: sys::CUresult) -> CudaError {
    let mut name = ptr::null();
    // SAFETY: `name` is valid for the write, and the library is loaded, or there would be no result.
    let named = unsafe { sys::cuGetErrorName(result, &mut name) } == sys::CUresult::CUDA_SUCCESS && !name.is_null();
    let name = if named {
        // SAFETY: on success CUDA points to a NUL-terminated string in the library, which is never unloaded.
        unsafe { CStr::from_ptr(name) }.to_str().unwrap_or("unknown error")
    } else {
        "unknown error"
    };
    CudaError {
        call,
        name,
        code: result as u32,
    }
}
