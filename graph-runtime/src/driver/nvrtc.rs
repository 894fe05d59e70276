//! NVRTC, the compiler of CUDA C++: one `unsafe fn` for each call, as for the driver. A library that is
//! absent, or lacks a function, is an error.
//!
//! Each asks of its caller what NVRTC asks (<https://docs.nvidia.com/cuda/nvrtc/>): programs are live, and
//! strings are valid until the call returns.

use super::library::functions;
use super::search::{Wanted, search};
use cudarc::nvrtc::sys;
use libloading::Library;
use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::ptr;
use std::sync::OnceLock;

pub(crate) use sys::nvrtcProgram as NvrtcProgram;

functions! {
    NAMES;
    find: find, fail: NvrtcError::new, error: NvrtcError, bindings: sys -> sys::nvrtcResult;
    fn nvrtcVersion(major: *mut c_int, minor: *mut c_int);
    fn nvrtcGetNumSupportedArchs(count: *mut c_int);
    fn nvrtcGetSupportedArchs(architectures: *mut c_int);
    fn nvrtcCreateProgram(
        program: *mut NvrtcProgram,
        source: *const c_char,
        name: *const c_char,
        count: c_int,
        headers: *const *const c_char,
        names: *const *const c_char,
    );
    fn nvrtcCompileProgram(program: NvrtcProgram, count: c_int, options: *const *const c_char);
    fn nvrtcGetProgramLogSize(program: NvrtcProgram, size: *mut usize);
    fn nvrtcGetProgramLog(program: NvrtcProgram, text: *mut c_char);
    fn nvrtcGetPTXSize(program: NvrtcProgram, size: *mut usize);
    fn nvrtcGetPTX(program: NvrtcProgram, text: *mut c_char);
    fn nvrtcDestroyProgram(program: *mut NvrtcProgram);
    newer:
}

/// A failed call of NVRTC.
#[derive(Debug)]
pub(crate) struct NvrtcError {
    call: &'static str,
    code: u32,
}

impl NvrtcError {
    fn new(call: &'static str, code: u32) -> Self {
        Self { call, code }
    }
}

impl fmt::Display for NvrtcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The names of `nvrtcResult`, from 1 on.
        const CODES: [&str; 12] = [
            "NVRTC_ERROR_OUT_OF_MEMORY",
            "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
            "NVRTC_ERROR_INVALID_INPUT",
            "NVRTC_ERROR_INVALID_PROGRAM",
            "NVRTC_ERROR_INVALID_OPTION",
            "NVRTC_ERROR_COMPILATION",
            "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
            "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
            "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
            "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
            "NVRTC_ERROR_INTERNAL_ERROR",
            "NVRTC_ERROR_TIME_FILE_WRITE_FAILED",
        ];
        let name = (self.code as usize).checked_sub(1).and_then(|index| CODES.get(index));
        match name {
            Some(name) => write!(f, "{} failed: {name}", self.call),
            None => write!(f, "{} failed: unknown error ({})", self.call, self.code),
        }
    }
}

/// Makes one call. Its error has the call's name.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: this is used only in the `unsafe fn` for this one call, whose caller promised what NVRTC asks of the
        // arguments passed through; out-parameters point to locals.
        unsafe { $function($($argument),*) }
    };
}

/// Whether the library is on this machine. Loads it at the first call. A library that lacks one of the functions is too
/// old (before CUDA 11.2), and counts as absent.
pub(crate) fn is_present() -> bool {
    library().is_ok()
}

/// The names and the folders in which the library was not found, a sentence each.
pub(crate) fn tried() -> &'static [String] {
    library().err().unwrap_or_default()
}

/// The library, which is searched and loaded at the first call, and never unloaded. The error says what was tried.
fn library() -> Result<&'static Library, &'static [String]> {
    static LIBRARY: OnceLock<Result<Library, Vec<String>>> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| search(&NVRTC));
    library.as_ref().map_err(Vec::as_slice)
}

/// The newest version comes first.
const NVRTC: Wanted = Wanted {
    names: if cfg!(windows) {
        &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"]
    } else {
        &["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"]
    },
    file: if cfg!(windows) {
        ("nvrtc64_", ".dll")
    } else {
        ("libnvrtc.so", "")
    },
    wheel: "nvidia/cuda_nvrtc/lib",
    functions: NAMES,
    check: |_| Ok(()),
};

/// Looks a function up in the library; `None` if there is no library, or it has no function of that name.
///
/// # Safety
///
/// The function has type `F`.
unsafe fn find<F: Copy>(name: &str) -> Option<F> {
    let library = library().ok()?;
    // SAFETY: by the caller's promise. The library is never unloaded, so the function may outlive this borrow of it.
    let found = unsafe { library.get::<F>(name.as_bytes()) };
    found.ok().map(|symbol| *symbol)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_names_or_numbers() {
        let text = |code| NvrtcError::new("nvrtcCompileProgram", code).to_string();
        assert_eq!(text(6), "nvrtcCompileProgram failed: NVRTC_ERROR_COMPILATION");
        assert_eq!(sys::nvrtcResult::NVRTC_ERROR_COMPILATION as u32, 6);
        assert_eq!(text(1000), "nvrtcCompileProgram failed: unknown error (1000)");
        assert_eq!(text(0), "nvrtcCompileProgram failed: unknown error (0)");
    }
}
