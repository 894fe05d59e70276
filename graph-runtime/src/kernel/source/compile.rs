//! Compiles CUDA C++ to PTX, by NVRTC.

use super::CudaSource;
use crate::driver::{self, NvrtcError, NvrtcProgram};
use std::env;
use std::ffi::{CString, NulError, c_char};
use std::fmt;
use std::path::{Path, PathBuf};
use tracing::{debug, trace};

/// The target that PTX is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Architecture {
    /// A device of this compute capability: 90 for 9.0.
    Device(u32),
    /// The emulator, which runs PTX for any architecture.
    Emulator,
}

/// The compute capability of the oldest supported GPUs (Volta). The emulator gets PTX for it, if the compiler still
/// knows it.
const MIN_ARCHITECTURE: u32 = 70;

/// Writes the text that stands in the cache's key.
impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Architecture::Device(capability) => write!(f, "compute_{capability}"),
            Architecture::Emulator => f.write_str("emulator"),
        }
    }
}

impl Architecture {
    /// The virtual architecture to ask for, if the compiler knows `known`: the newest that the device can run. A device
    /// runs PTX for itself and for older devices.
    fn of(self, known: &[u32]) -> u32 {
        let newest = |limit: u32| known.iter().copied().filter(|&one| one <= limit).max();
        match self {
            // If the device is too old for the compiler, the compiler says so.
            Architecture::Device(capability) => newest(capability).unwrap_or(capability),
            Architecture::Emulator => newest(MIN_ARCHITECTURE)
                .or(known.iter().copied().min())
                .unwrap_or(MIN_ARCHITECTURE),
        }
    }
}

/// The version of NVRTC on this machine: `12.4`. `None` if there is none.
pub(super) fn version() -> Option<String> {
    if !driver::nvrtc::is_present() {
        return None;
    }
    let version = driver::nvrtc::version();
    version.ok().map(|(major, minor)| format!("{major}.{minor}"))
}

/// Compiles a source to PTX. NVRTC must be present. The error is NVRTC's log.
pub(super) fn compile(source: &CudaSource, architecture: Architecture) -> Result<String, String> {
    let options = options(source.options, architecture, &known(), toolkit().as_deref());
    trace!(target: "graph_runtime", path = source.path, ?options, "nvrtcCompileProgram");
    let program = NvrtcSource::new(source)?;
    let compiled = program.compile(&options)?;
    let log = program.log().unwrap_or_default();
    match compiled {
        Ok(()) => {
            if !log.is_empty() {
                debug!(target: "graph_runtime", path = source.path, "{log}");
            }
            let ptx = program.ptx().map_err(|error| error.to_string())?;
            Ok(with_own_paths(ptx, source.path))
        }
        Err(error) if log.is_empty() => Err(error.to_string()),
        Err(error) => Err(format!("{error}\n{log}")),
    }
}

/// The PTX with the paths of files as the author wrote them: NVRTC puts the folder of the process before them.
fn with_own_paths(ptx: String, path: &str) -> String {
    let is_file = |line: &&str| line.trim_start().starts_with(".file");
    let folder = ptx.lines().filter(is_file).find_map(|line| {
        let (_, absolute) = line.split_once('"')?;
        let folder = absolute.trim_end().strip_suffix('"')?.strip_suffix(path)?;
        folder.ends_with('/').then(|| format!("\"{folder}"))
    });
    let Some(folder) = folder else {
        return ptx;
    };
    let lines = ptx.split_inclusive('\n');
    lines
        .map(|line| match is_file(&line) {
            true => line.replacen(&folder, "\"", 1),
            false => line.to_owned(),
        })
        .collect()
}

/// The options of one compilation: the author's, and our own unless the author has given them.
fn options(own: &[&str], architecture: Architecture, known: &[u32], toolkit: Option<&Path>) -> Vec<String> {
    let mut options = Vec::new();
    let names_architecture = |option: &&str| option.starts_with("-arch") || option.starts_with("--gpu-architecture");
    if !own.iter().any(names_architecture) {
        options.push(format!("--gpu-architecture=compute_{}", architecture.of(known)));
    }
    // Messages then name lines of the source; the code is the same.
    let names_lines = |option: &&str| {
        ["-lineinfo", "--generate-line-info", "-G", "--device-debug"]
            .iter()
            .any(|name| option.starts_with(name))
    };
    if !own.iter().any(names_lines) {
        options.push("--generate-line-info".to_owned());
    }
    options.extend(own.iter().map(|&option| option.to_owned()));
    options.extend(toolkit.map(|folder| format!("--include-path={}", folder.display())));
    options
}

/// The virtual architectures that NVRTC knows: 70, 72, ..
fn known() -> Vec<u32> {
    // SAFETY: the library is loaded: `compile` is called only then.
    let count = unsafe { driver::nvrtc::architecture_count() }.unwrap_or(0) as usize;
    let mut known = vec![0; count];
    // SAFETY: as above; there is room for `count`.
    match unsafe { driver::nvrtc::architectures(&mut known) } {
        Ok(()) => known.into_iter().map(|one| one as u32).collect(),
        Err(_) => Vec::new(),
    }
}

/// The folder with the CUDA toolkit's headers, such as `cuda_fp16.h`, which are not part of NVRTC.
fn toolkit() -> Option<PathBuf> {
    let named = ["CUDA_PATH", "CUDA_HOME", "CUDA_ROOT"]
        .into_iter()
        .filter_map(env::var_os);
    let mut folders = named.chain(["/usr/local/cuda".into()]);
    folders.find_map(|folder| {
        let headers = PathBuf::from(folder).join("include");
        headers.join("cuda.h").is_file().then_some(headers)
    })
}

/// A program of NVRTC's. Blocks below refer to these facts:
///
/// 1. `raw` was made by `nvrtc::create` and is destroyed only in `drop`.
/// 2. NVRTC may look at the strings for as long as the program lives, so they live in `_strings`.
struct NvrtcSource {
    raw: NvrtcProgram,
    _strings: Vec<CString>,
}

impl NvrtcSource {
    fn new(source: &CudaSource) -> Result<Self, String> {
        let string = |text: &str| {
            let failed = |_: NulError| "the text contains a zero byte".to_owned();
            CString::new(text).map_err(failed)
        };
        let (text, name) = (string(source.text)?, string(source.path)?);
        let headers: Vec<&(&str, &str)> = source.headers.iter().collect();
        let names: Vec<CString> = headers
            .iter()
            .map(|header| string(header.0))
            .collect::<Result<_, _>>()?;
        let texts: Vec<CString> = headers
            .iter()
            .map(|header| string(header.1))
            .collect::<Result<_, _>>()?;
        let (name_pointers, text_pointers) = (pointers(&names), pointers(&texts));
        // SAFETY: the library is loaded: `compile` is called only then. The strings live as long as the program (fact
        // 2).
        let raw = unsafe { driver::nvrtc::create(&text, &name, &text_pointers, &name_pointers) };
        let raw = raw.map_err(|error| error.to_string())?;
        let strings = [text, name].into_iter().chain(names).chain(texts).collect();
        Ok(Self { raw, _strings: strings })
    }

    /// Compiles. The outer error is about the options; the inner one is about the source, and the log explains it.
    fn compile(&self, options: &[String]) -> Result<Result<(), NvrtcError>, String> {
        let strings: Result<Vec<CString>, NulError> =
            options.iter().map(|option| CString::new(option.as_str())).collect();
        let strings = strings.map_err(|_| "an option contains a zero byte".to_owned())?;
        // SAFETY: fact 1; the options live until the call returns.
        Ok(unsafe { driver::nvrtc::compile(self.raw, &pointers(&strings)) })
    }

    fn log(&self) -> Result<String, NvrtcError> {
        // SAFETY: fact 1.
        let mut text = vec![0; unsafe { driver::nvrtc::log_size(self.raw) }?];
        // SAFETY: fact 1; the text has the size that NVRTC has just asked for.
        unsafe { driver::nvrtc::log(self.raw, &mut text) }?;
        Ok(until_zero(&text).trim().to_owned())
    }

    fn ptx(&self) -> Result<String, NvrtcError> {
        // SAFETY: fact 1.
        let mut text = vec![0; unsafe { driver::nvrtc::ptx_size(self.raw) }?];
        // SAFETY: fact 1; the text has the size that NVRTC has just asked for.
        unsafe { driver::nvrtc::ptx(self.raw, &mut text) }?;
        Ok(until_zero(&text))
    }
}

impl Drop for NvrtcSource {
    fn drop(&mut self) {
        // SAFETY: fact 1. If this fails, the program is leaked; nothing better can be done.
        let _ = unsafe { driver::nvrtc::destroy(self.raw) };
    }
}

fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).collect()
}

/// The text before the zero byte that ends it in C.
fn until_zero(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_gets_the_newest_architecture_that_it_and_the_compiler_know() {
        let known = [70, 75, 80, 90];
        assert_eq!(Architecture::Device(90).of(&known), 90);
        assert_eq!(Architecture::Device(100).of(&known), 90);
        assert_eq!(Architecture::Device(86).of(&known), 80);
        assert_eq!(Architecture::Device(60).of(&known), 60, "for NVRTC to refuse");
        assert_eq!(Architecture::Emulator.of(&known), 70);
        assert_eq!(Architecture::Emulator.of(&[75, 80]), 75);
        assert_eq!(Architecture::Emulator.of(&[]), 70);
    }

    #[test]
    fn files_have_the_authors_paths() {
        let ptx = ".entry k() { ret; }\n\t.file\t1 \"/home/me/src/x.cu\"\n\t.file\t2 \"/home/me/src/x.h\"\n";
        let expected = ".entry k() { ret; }\n\t.file\t1 \"src/x.cu\"\n\t.file\t2 \"src/x.h\"\n";
        assert_eq!(with_own_paths(ptx.to_owned(), "src/x.cu"), expected);
        assert_eq!(with_own_paths(expected.to_owned(), "src/x.cu"), expected);
    }

    #[test]
    fn the_authors_options_come_first() {
        let device = Architecture::Device(80);
        let plain = options(&["--use_fast_math"], device, &[80], Some(Path::new("/cuda/include")));
        let expected = [
            "--gpu-architecture=compute_80",
            "--generate-line-info",
            "--use_fast_math",
            "--include-path=/cuda/include",
        ];
        assert_eq!(plain, expected);
        for own in ["--gpu-architecture=compute_90a", "-arch=compute_90a"] {
            assert_eq!(options(&[own], device, &[80], None), ["--generate-line-info", own]);
        }
        for own in ["-lineinfo", "-G"] {
            let options = options(&[own], device, &[80], None);
            assert_eq!(options, ["--gpu-architecture=compute_80", own]);
        }
    }
}
