//! NVRTC, the compiler of CUDA C++: one `unsafe fn` for each call, as for the driver. Before any other call,
//! [`is_present`] must have returned true.
//!
//! Each asks of its caller what NVRTC asks (<https://docs.nvidia.com/cuda/nvrtc/>): programs are live, and
//! strings are valid until the call returns.

use cudarc::nvrtc::sys;
use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::ptr;
use std::sync::OnceLock;

pub(crate) use sys::nvrtcProgram as NvrtcProgram;

/// A failed call of NVRTC.
#[derive(Debug)]
pub(crate) struct NvrtcError {
    call: &'static str,
    result: sys::nvrtcResult,
}

impl fmt::Display for NvrtcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {:?}", self.call, self.result)
    }
}

/// Makes one call. Its error has the call's name.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: this is used only in the `unsafe fn` for this one call, whose caller promised what NVRTC asks of the
        // arguments passed through; out-parameters point to locals.
        match unsafe { sys::$function($($argument),*) } {
            sys::nvrtcResult::NVRTC_SUCCESS => Ok(()),
            result => Err(NvrtcError { call: stringify!($function), result }),
        }
    };
}

/// The functions that are called here. A library that lacks one is too old (before CUDA 11.2), and counts as absent:
/// calling a missing function would panic.
const CALLS: [&str; 10] = [
    "nvrtcVersion",
    "nvrtcGetNumSupportedArchs",
    "nvrtcGetSupportedArchs",
    "nvrtcCreateProgram",
    "nvrtcCompileProgram",
    "nvrtcGetProgramLogSize",
    "nvrtcGetProgramLog",
    "nvrtcGetPTXSize",
    "nvrtcGetPTX",
    "nvrtcDestroyProgram",
];

/// Whether the library is on this machine. Loads it at the first call.
pub(crate) fn is_present() -> bool {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    *PRESENT.get_or_init(|| {
        // SAFETY: loading a library runs its initialisers; those of NVRTC are made for it.
        if !unsafe { sys::is_culib_present() } {
            return false;
        }
        // SAFETY: the library is present, and was just loaded.
        let library = unsafe { sys::culib() };
        CALLS.iter().all(|call| {
            // SAFETY: the symbol is only looked up, never called with this type.
            unsafe { library.get::<unsafe extern "C" fn()>(call.as_bytes()) }.is_ok()
        })
    })
}

/// `nvrtcVersion`: major and minor
pub(crate) unsafe fn version() -> Result<(i32, i32), NvrtcError> {
    let (mut major, mut minor) = (0, 0);
    call!(nvrtcVersion(&mut major, &mut minor))?;
    Ok((major, minor))
}

/// `nvrtcGetNumSupportedArchs`
pub(crate) unsafe fn architecture_count() -> Result<usize, NvrtcError> {
    let mut count: c_int = 0;
    call!(nvrtcGetNumSupportedArchs(&mut count))?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// `nvrtcGetSupportedArchs`: 70, 72, ..; `architectures` has room for [`architecture_count`] numbers
pub(crate) unsafe fn architectures(architectures: &mut [c_int]) -> Result<(), NvrtcError> {
    call!(nvrtcGetSupportedArchs(architectures.as_mut_ptr()))
}

/// `nvrtcCreateProgram`; `headers` are texts, `names` the names by which the source includes them
pub(crate) unsafe fn create(
    source: &CStr,
    name: &CStr,
    headers: &[*const c_char],
    names: &[*const c_char],
) -> Result<NvrtcProgram, NvrtcError> {
    let mut program = ptr::null_mut();
    call!(nvrtcCreateProgram(
        &mut program,
        source.as_ptr(),
        name.as_ptr(),
        headers.len() as c_int,
        headers.as_ptr(),
        names.as_ptr(),
    ))?;
    Ok(program)
}

/// `nvrtcCompileProgram`
pub(crate) unsafe fn compile(program: NvrtcProgram, options: &[*const c_char]) -> Result<(), NvrtcError> {
    call!(nvrtcCompileProgram(program, options.len() as c_int, options.as_ptr()))
}

/// `nvrtcGetProgramLogSize`
pub(crate) unsafe fn log_size(program: NvrtcProgram) -> Result<usize, NvrtcError> {
    let mut size = 0;
    call!(nvrtcGetProgramLogSize(program, &mut size))?;
    Ok(size)
}

/// `nvrtcGetProgramLog`; `text` has [`log_size`] bytes
pub(crate) unsafe fn log(program: NvrtcProgram, text: &mut [u8]) -> Result<(), NvrtcError> {
    call!(nvrtcGetProgramLog(program, text.as_mut_ptr().cast()))
}

/// `nvrtcGetPTXSize`
pub(crate) unsafe fn ptx_size(program: NvrtcProgram) -> Result<usize, NvrtcError> {
    let mut size = 0;
    call!(nvrtcGetPTXSize(program, &mut size))?;
    Ok(size)
}

/// `nvrtcGetPTX`; `text` has [`ptx_size`] bytes
pub(crate) unsafe fn ptx(program: NvrtcProgram, text: &mut [u8]) -> Result<(), NvrtcError> {
    call!(nvrtcGetPTX(program, text.as_mut_ptr().cast()))
}

/// `nvrtcDestroyProgram`
pub(crate) unsafe fn destroy(mut program: NvrtcProgram) -> Result<(), NvrtcError> {
    call!(nvrtcDestroyProgram(&mut program))
}
