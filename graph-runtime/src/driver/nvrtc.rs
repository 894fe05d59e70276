//! NVRTC, the compiler of CUDA C++: one `unsafe fn` for each call, as for the driver. If [`is_present`] returns false,
//! all calls fail.
//!
//! Each asks of its caller what NVRTC asks (<https://docs.nvidia.com/cuda/nvrtc/>): programs are live, and
//! strings are valid until the call returns.

mod library;

use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::ptr;

pub(crate) use library::NvrtcProgram;

/// A failed call of NVRTC.
#[derive(Debug)]
pub(crate) struct NvrtcError {
    call: &'static str,
    /// NVRTC's own name for the error.
    name: String,
}

impl fmt::Display for NvrtcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {}", self.call, self.name)
    }
}

/// Makes one call. Its error has the call's name.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        match library::functions() {
            // SAFETY: this is used only in the `unsafe fn` for this one call, whose caller promised what NVRTC asks of
            // the arguments passed through; out-parameters point to locals.
            Ok(functions) => check(stringify!($function), unsafe { (functions.$function)($($argument),*) }),
            Err(_) => Err(NvrtcError { call: stringify!($function), name: "there is no NVRTC".to_owned() }),
        }
    };
}

/// Turns the code that a call returned into a `Result`.
fn check(call: &'static str, code: c_int) -> Result<(), NvrtcError> {
    if code == 0 {
        return Ok(());
    }
    let name = library::functions().ok().and_then(|functions| {
        // SAFETY: the call takes any code, and returns null or a text that ends with zero and is never freed.
        let name = unsafe { (functions.nvrtcGetErrorString)(code) };
        // SAFETY: as above.
        (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    });
    Err(NvrtcError {
        call,
        name: name.unwrap_or_else(|| format!("error {code}")),
    })
}

/// Whether the library is on this machine. Loads it at the first call.
pub(crate) fn is_present() -> bool {
    library::functions().is_ok()
}

/// The names and the folders in which the library was not found, a sentence each.
pub(crate) fn tried() -> &'static [String] {
    library::functions().err().unwrap_or_default()
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
