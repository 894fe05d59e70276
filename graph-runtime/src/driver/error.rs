//! From the code of a failed driver call to an error with CUDA's name for the code.

use super::library::find;
use crate::error::CudaError;
use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::OnceLock;

/// The error of a failed call, with CUDA's own name for its code. A driver may know codes that no header lists: those
/// have no name.
#[cold]
pub(crate) fn error(call: &'static str, code: u32) -> CudaError {
    let name = name(code).unwrap_or("unknown error");
    CudaError::new(call, name, code)
}

/// `cuGetErrorName`: CUDA's name for a code. It is in no list of calls, since the errors of those need it.
fn name(code: u32) -> Option<&'static str> {
    type GetErrorName = unsafe extern "C" fn(u32, *mut *const c_char) -> u32;
    static FOUND: OnceLock<Option<GetErrorName>> = OnceLock::new();
    const NAME: &str = "cuGetErrorName";
    if code == 600 {
        return Some("CUDA_ERROR_NOT_READY"); // said again and again to those who wait
    }
    // SAFETY: the type is that of CUDA's header, with an integer for its enum.
    let get = (*FOUND.get_or_init(|| unsafe { find(NAME) }))?;
    let mut name = ptr::null();
    // SAFETY: `name` is valid for the write; CUDA takes any number.
    let mut call = || unsafe { get(code, &mut name) };
    #[cfg(feature = "fault-injection")]
    let mut call = || super::faults::call(NAME, &mut call);
    if call() != 0 || name.is_null() {
        return None;
    }
    // SAFETY: on success CUDA points to a NUL-terminated string in the library, which is never unloaded.
    unsafe { CStr::from_ptr(name) }.to_str().ok()
}

/// Declares calls of the driver, and the list of their names: see [`calls`](super::calls::calls).
macro_rules! driver_calls {
    ($($rows:tt)*) => {
        $crate::driver::calls::calls! {
            {$crate::driver::library::find, $crate::driver::error::error, $crate::error::CudaError, driver} $($rows)*
        }
    };
}
pub(super) use driver_calls;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_nobody_knows_are_errors_with_their_number() {
        let error = error("cuGraphLaunch", 123_456);
        assert_eq!(error.to_string(), "cuGraphLaunch failed: unknown error (123456)");
    }
}
