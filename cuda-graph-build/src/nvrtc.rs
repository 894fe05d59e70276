//! NVRTC, NVIDIA's run-time compiler for CUDA C++, called through the C API of a library loaded by path.
//!
//! Reference: <https://docs.nvidia.com/cuda/archive/12.4.1/nvrtc/index.html>.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

use libloading::Library;

use crate::error::{Error, Result};

/// `nvrtcProgram`, an opaque pointer.
type RawProgram = *mut c_void;
/// `nvrtcResult`: 0 is success.
type Code = c_int;

type GetSize = unsafe extern "C" fn(program: RawProgram, size: *mut usize) -> Code;
type GetText = unsafe extern "C" fn(program: RawProgram, text: *mut c_char) -> Code;

macro_rules! functions {
    ($($name:ident = $symbol:literal: $ty:ty;)*) => {
        /// The loaded compiler.
        ///
        /// The calls below are sound because:
        /// 1. The function pointers come from `_library`, which lives as long as this value, and each has the type that
        ///    `nvrtc.h` declares for its name, from NVRTC 9 to 13 alike.
        /// 2. A [`Program`] borrows the compiler, so it cannot outlive the library; its handle was made by
        ///    `create_program` and is destroyed only in `drop`.
        /// 3. Every string passed in is a `CStr` or `CString` that lives until the call returns; NVRTC copies what it
        ///    keeps.
        #[derive(Debug)]
        pub(crate) struct Nvrtc {
            $($name: $ty,)*
            _library: Library,
        }

        impl Nvrtc {
            /// Finds the functions.
            fn of(library: Library) -> Result<Self, libloading::Error> {
                $(
                    // SAFETY: the symbol's type is the one in `nvrtc.h`, point 1 of `Nvrtc`.
                    let $name = *unsafe { library.get::<$ty>($symbol) }?;
                )*
                Ok(Self { $($name,)* _library: library })
            }
        }
    };
}

functions! {
    create_program = c"nvrtcCreateProgram": unsafe extern "C" fn(
        program: *mut RawProgram,
        source: *const c_char,
        name: *const c_char,
        header_count: c_int,
        headers: *const *const c_char,
        include_names: *const *const c_char,
    ) -> Code;
    compile_program = c"nvrtcCompileProgram":
        unsafe extern "C" fn(program: RawProgram, option_count: c_int, options: *const *const c_char) -> Code;
    destroy_program = c"nvrtcDestroyProgram": unsafe extern "C" fn(program: *mut RawProgram) -> Code;
    ptx_size = c"nvrtcGetPTXSize": GetSize;
    ptx = c"nvrtcGetPTX": GetText;
    log_size = c"nvrtcGetProgramLogSize": GetSize;
    log = c"nvrtcGetProgramLog": GetText;
    error_string = c"nvrtcGetErrorString": unsafe extern "C" fn(code: Code) -> *const c_char;
    version = c"nvrtcVersion": unsafe extern "C" fn(major: *mut c_int, minor: *mut c_int) -> Code;
}

impl Nvrtc {
    /// Loads NVRTC from `path`; its `libnvrtc-builtins` must be beside it.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        // SAFETY: `path` names NVIDIA's own library, whose initialisers only set up its own state: it is from a wheel
        // whose SHA-256 was verified, from the folder of a toolkit, or named by the environment of this build, which
        // decides about every library and program that is loaded.
        let library = unsafe { Library::new(path) };
        let library = library.map_err(|error| Error::new(format!("cannot load NVRTC: {error}")))?;
        Self::of(library).map_err(|error| Error::new(format!("{} is no NVRTC: {error}", path.display())))
    }

    /// The version, as `12.4`.
    pub(crate) fn version(&self) -> Result<String> {
        let mut major = 0;
        let mut minor = 0;
        // SAFETY: point 1 of `Nvrtc`; both numbers live until the call returns.
        let code = unsafe { (self.version)(&raw mut major, &raw mut minor) };
        self.outcome("nvrtcVersion", code)?;
        Ok(format!("{major}.{minor}"))
    }

    /// Compiles `source` to PTX, with `headers` by name, which come before those in folders. Messages use `name` as the
    /// file's name. Returns the PTX and warnings, or else the compiler's log.
    pub(crate) fn compile(
        &self,
        name: &str,
        source: &str,
        headers: &[(String, String)],
        options: &[String],
    ) -> Result<Result<(String, String), String>> {
        let program = Program::create(self, name, source, headers)?;
        let compiled = program.compile(options)?;
        let log = program.text(self.log_size, self.log)?;
        let log = about_source(&log);
        Ok(match compiled {
            Ok(()) => Ok((program.text(self.ptx_size, self.ptx)?, log)),
            Err(error) if log.is_empty() => Err(format!("{name}: {error}")),
            Err(_) => Err(log),
        })
    }

    fn outcome(&self, call: &str, code: Code) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: point 1 of `Nvrtc`; `nvrtcGetErrorString` takes any code.
        let message = unsafe { (self.error_string)(code) };
        // SAFETY: NVRTC returns a static, NUL-terminated string for every code.
        let message = unsafe { CStr::from_ptr(message) };
        Err(Error::new(format!("{call}: {}", message.to_string_lossy())))
    }
}

/// The log without the warning that a later version will leave out old GPUs: it is not about the source.
fn about_source(log: &str) -> String {
    const DEPRECATED: &str = "nvrtc: warning: Architectures prior to ";
    let lines = log.lines().filter(|line| !line.starts_with(DEPRECATED));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// One source text being compiled.
struct Program<'nvrtc> {
    nvrtc: &'nvrtc Nvrtc,
    raw: RawProgram,
}

impl<'nvrtc> Program<'nvrtc> {
    fn create(nvrtc: &'nvrtc Nvrtc, name: &str, source: &str, headers: &[(String, String)]) -> Result<Self> {
        let string =
            |file: &str, text: &str| CString::new(text).map_err(|_| Error::new(format!("{file} holds a NUL byte")));
        let (source, name) = (string(name, source)?, string(name, name)?);
        let names: Vec<CString> = headers
            .iter()
            .map(|(name, _)| string(name, name))
            .collect::<Result<_>>()?;
        let texts: Vec<CString> = headers
            .iter()
            .map(|(name, text)| string(name, text))
            .collect::<Result<_>>()?;
        let [name_pointers, text_pointers] =
            [&names, &texts].map(|strings| strings.iter().map(|string| string.as_ptr()).collect::<Vec<_>>());
        let count = c_int::try_from(headers.len()).map_err(|_| Error::new("too many headers"))?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: points 1 and 3 of `Nvrtc`; both arrays hold `count` strings that `names` and `texts` keep alive.
        let code = unsafe {
            (nvrtc.create_program)(
                &raw mut raw,
                source.as_ptr(),
                name.as_ptr(),
                count,
                text_pointers.as_ptr(),
                name_pointers.as_ptr(),
            )
        };
        nvrtc.outcome("nvrtcCreateProgram", code)?;
        Ok(Self { nvrtc, raw })
    }

    /// Compiles the source. The outer result is about the options; the inner one is about the source, on which the log
    /// says more.
    fn compile(&self, options: &[String]) -> Result<Result<()>> {
        let options = options
            .iter()
            .map(|option| CString::new(option.as_str()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| Error::new("an option holds a NUL byte"))?;
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).map_err(|_| Error::new("too many options"))?;
        // SAFETY: points 1 to 3 of `Nvrtc`; `pointers` holds `count` strings that `options` keeps alive.
        let code = unsafe { (self.nvrtc.compile_program)(self.raw, count, pointers.as_ptr()) };
        Ok(self.nvrtc.outcome("nvrtcCompileProgram", code))
    }

    /// Asks `get_size` for a text's size, its closing NUL included, and lets `get_text` fill in that many bytes.
    fn text(&self, get_size: GetSize, get_text: GetText) -> Result<String> {
        let mut size = 0;
        // SAFETY: points 1 and 2 of `Nvrtc`.
        let code = unsafe { get_size(self.raw, &raw mut size) };
        self.nvrtc.outcome("the size of NVRTC's output", code)?;
        let mut bytes = vec![0_u8; size];
        // SAFETY: points 1 and 2 of `Nvrtc`; `bytes` has the size that NVRTC just asked for, for this same text.
        let code = unsafe { get_text(self.raw, bytes.as_mut_ptr().cast()) };
        self.nvrtc.outcome("NVRTC's output", code)?;
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        bytes.truncate(end);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: point 2 of `Nvrtc`; the handle is not used again. A failure leaks it: nothing else can be done.
        let _ = unsafe { (self.nvrtc.destroy_program)(&raw mut self.raw) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_about_the_source() {
        let old = "nvrtc: warning: Architectures prior to '<compute/sm>_75' are deprecated and may be removed\n";
        assert_eq!(about_source(old), "");
        let expected = "x.cu(1): warning: y";
        assert_eq!(about_source(&format!("{old}x.cu(1): warning: y\n\n")), expected);
    }
}
