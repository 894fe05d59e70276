//! NVRTC, the compiler of CUDA C++: one `unsafe fn` for each call, as for the driver. A library that is
//! absent, or lacks a function, is an error.
//!
//! Each asks of its caller what NVRTC asks (<https://docs.nvidia.com/cuda/nvrtc/>): programs are live, and
//! strings are valid until the call returns.

use super::calls::calls;
use super::search::{Wanted, search};
use libloading::Library;
use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::sync::OnceLock;

pub(crate) use super::types::nvrtcProgram as NvrtcProgram;

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

calls! {
    {find, NvrtcError::new, NvrtcError, nvrtc} NAMES;
    /// Writes the minor version. The result is the major version.
    fn get_version(minor: &mut c_int) -> major: c_int
        = nvrtcVersion(major: *mut c_int = &mut major, minor: *mut c_int);
    pub(crate) fn architecture_count() -> count: u32
        = nvrtcGetNumSupportedArchs(count: *mut u32 as *mut c_int = &mut count);
    /// Writes 70, 72, ..; `architectures` has room for [`architecture_count`] numbers.
    pub(crate) fn architectures(architectures: &mut [c_int])
        = nvrtcGetSupportedArchs(architectures: *mut c_int = architectures.as_mut_ptr());
    /// `headers` are texts, `names` the names by which the source includes them.
    pub(crate) fn create(source: &CStr, name: &CStr, headers: &[*const c_char], names: &[*const c_char])
        -> program: NvrtcProgram
        = nvrtcCreateProgram(
            program: *mut NvrtcProgram = &mut program,
            source: *const c_char = source.as_ptr(),
            name: *const c_char = name.as_ptr(),
            count: c_int = headers.len() as c_int,
            headers: *const *const c_char = headers.as_ptr(),
            names: *const *const c_char = names.as_ptr(),
        );
    pub(crate) fn compile(program: NvrtcProgram, options: &[*const c_char])
        = nvrtcCompileProgram(
            program: NvrtcProgram, count: c_int = options.len() as c_int,
            options: *const *const c_char = options.as_ptr(),
        );
    pub(crate) fn log_size(program: NvrtcProgram) -> size: usize
        = nvrtcGetProgramLogSize(program: NvrtcProgram, size: *mut usize = &mut size);
    /// `text` has [`log_size`] bytes.
    pub(crate) fn log(program: NvrtcProgram, text: &mut [u8])
        = nvrtcGetProgramLog(program: NvrtcProgram, text: *mut c_char = text.as_mut_ptr().cast());
    pub(crate) fn ptx_size(program: NvrtcProgram) -> size: usize
        = nvrtcGetPTXSize(program: NvrtcProgram, size: *mut usize = &mut size);
    /// `text` has [`ptx_size`] bytes.
    pub(crate) fn ptx(program: NvrtcProgram, text: &mut [u8])
        = nvrtcGetPTX(program: NvrtcProgram, text: *mut c_char = text.as_mut_ptr().cast());
    pub(crate) fn destroy(program: NvrtcProgram)
        = nvrtcDestroyProgram(program: *mut NvrtcProgram = &mut { program });
}

/// Returns the major and the minor version.
pub(crate) fn version() -> Result<(c_int, c_int), NvrtcError> {
    let mut minor = 0;
    // SAFETY: the call asks nothing of its caller.
    let major = unsafe { get_version(&mut minor) }?;
    Ok((major, minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_names_or_numbers() {
        let text = |code| NvrtcError::new("nvrtcCompileProgram", code).to_string();
        assert_eq!(text(6), "nvrtcCompileProgram failed: NVRTC_ERROR_COMPILATION");
        #[cfg(feature = "cudarc")]
        assert_eq!(cudarc::nvrtc::sys::nvrtcResult::NVRTC_ERROR_COMPILATION as u32, 6);
        assert_eq!(text(1000), "nvrtcCompileProgram failed: unknown error (1000)");
        assert_eq!(text(0), "nvrtcCompileProgram failed: unknown error (0)");
    }
}
