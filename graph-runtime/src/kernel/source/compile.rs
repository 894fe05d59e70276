//! Compiles CUDA C++ to PTX, by NVRTC.

use super::SourceText;
use crate::driver::{self, NvrtcError, NvrtcProgram};
use graph_ptx::host_headers;
use std::borrow::Cow;
use std::env;
use std::ffi::{CString, NulError, c_char};
use std::fmt;
use std::path::PathBuf;
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

/// A header by the name by which sources include it, and its text.
type Header<'a> = (Cow<'a, str>, Cow<'a, str>);

/// Compiles a source to PTX. NVRTC must be present. For headers of the host, it gets the texts of
/// [`host_headers`]. The error is NVRTC's log.
pub(super) fn compile(source: &SourceText<'_>, architecture: Architecture) -> Result<String, String> {
    let toolkit = toolkit();
    let options = options(source.options, architecture, &known(), &toolkit);
    let own = source.headers.iter();
    let mut headers: Vec<Header<'_>> = own.map(|(name, text)| ((*name).into(), (*text).into())).collect();
    headers.extend(host_header(host_headers::ALWAYS, &headers));
    loop {
        trace!(target: "graph_runtime", path = source.path, ?options, "nvrtcCompileProgram");
        let program = NvrtcSource::new(source, &headers)?;
        let compiled = program.compile(&options)?;
        let log = program.log().unwrap_or_default();
        let Err(error) = compiled else {
            if !log.is_empty() {
                debug!(target: "graph_runtime", path = source.path, "{log}");
            }
            let ptx = program.ptx().map_err(|error| error.to_string())?;
            return Ok(with_own_paths(ptx, source.path));
        };
        let missing = host_headers::missing(&log);
        match missing.and_then(|(_, name)| host_header(name, &headers)) {
            Some(header) => headers.push(header),
            None if log.is_empty() => return Err(error.to_string()),
            None => return Err(format!("{error}\n{log}{}", help(&log, &toolkit))),
        }
    }
}

/// The text for a header of the host that NVRTC does not have yet, if there is one.
fn host_header<'a>(name: &str, known: &[Header<'_>]) -> Option<Header<'a>> {
    let is_new = known.iter().all(|(known, _)| known != name);
    let text = host_headers::text(name).filter(|_| is_new)?;
    Some((name.to_owned().into(), text))
}

/// The advice about a log that says what NVRTC does not have, or does not compile.
fn help(log: &str, toolkit: &[PathBuf]) -> String {
    if let Some((_, name)) = host_headers::missing(log) {
        let looked: Vec<String> = toolkit.iter().map(|folder| format!("`{}`", folder.display())).collect();
        let looked = if looked.is_empty() {
            "there is no CUDA toolkit in `CUDA_PATH`, `CUDA_HOME` or `/usr/local/cuda`".to_owned()
        } else {
            format!("it is not in {}", looked.join(" and "))
        };
        return format!(
            "\nnote: {looked}\n\
             help: if `{name}` is one of CUDA's headers, set `CUDA_PATH` to a toolkit that has it; if it is another, name its \
             folder by the option `-I`"
        );
    }
    if log.lines().any(host_headers::is_about_host) {
        return "\nhelp: NVRTC compiles code of the device alone: write `#ifndef __CUDACC_RTC__` before code of the host and \
                `#endif` after it, or `__device__` if kernels use it; `cargo cuda-graph ptx` leaves it out"
            .to_owned();
    }
    String::new()
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
fn options(own: &[&str], architecture: Architecture, known: &[u32], toolkit: &[PathBuf]) -> Vec<String> {
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
    let folders = toolkit.iter();
    options.extend(folders.map(|folder| format!("--include-path={}", folder.display())));
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

/// The folders with the CUDA toolkit's headers, such as `cuda_fp16.h`, which are not part of NVRTC: those of the
/// toolkit and, from CUDA 13 on, those of its C++ libraries. Empty if there is no toolkit.
fn toolkit() -> Vec<PathBuf> {
    let named = ["CUDA_PATH", "CUDA_HOME", "CUDA_ROOT"]
        .into_iter()
        .filter_map(env::var_os);
    let mut folders = named.chain(["/usr/local/cuda".into()]);
    let found = folders.find_map(|folder| {
        let headers = PathBuf::from(folder).join("include");
        headers.join("cuda.h").is_file().then_some(headers)
    });
    let libraries = found.as_ref().map(|headers| headers.join("cccl"));
    let libraries = libraries.filter(|folder| folder.is_dir());
    found.into_iter().chain(libraries).collect()
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
    fn new(source: &SourceText<'_>, headers: &[Header<'_>]) -> Result<Self, String> {
        let string = |text: &str| {
            let failed = |_: NulError| "the text contains a zero byte".to_owned();
            CString::new(text).map_err(failed)
        };
        let (text, name) = (string(source.text)?, string(source.path)?);
        let names = headers.iter().map(|(name, _)| string(name));
        let names: Vec<CString> = names.collect::<Result<_, _>>()?;
        let texts = headers.iter().map(|(_, text)| string(text));
        let texts: Vec<CString> = texts.collect::<Result<_, _>>()?;
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
        let plain = options(&["--use_fast_math"], device, &[80], &["/cuda/include".into()]);
        let expected = [
            "--gpu-architecture=compute_80",
            "--generate-line-info",
            "--use_fast_math",
            "--include-path=/cuda/include",
        ];
        assert_eq!(plain, expected);
        for own in ["--gpu-architecture=compute_90a", "-arch=compute_90a"] {
            assert_eq!(options(&[own], device, &[80], &[]), ["--generate-line-info", own]);
        }
        for own in ["-lineinfo", "-G"] {
            let options = options(&[own], device, &[80], &[]);
            assert_eq!(options, ["--gpu-architecture=compute_80", own]);
        }
    }
}
