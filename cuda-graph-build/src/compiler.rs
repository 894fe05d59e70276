//! NVRTC with its options: from a CUDA source to PTX.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use graph_ptx::host_headers;
use graph_ptx::origin::{Origin, OriginFile};

use crate::error::{Error, Result};
use crate::headers::{TOOLKITS, Toolkit};
use crate::host::{LeftOut, Sources};
use crate::includes;
use crate::installed;
use crate::nvrtc::Nvrtc;
use crate::text;
use crate::wheel;

/// The environment variable that names the library to use.
pub(crate) const LIBRARY_VARIABLE: &str = "CUDA_GRAPH_NVRTC";

/// A compiler for CUDA sources: which NVRTC, which options, which headers. NVRTC is loaded by the first compilation.
///
/// ```no_run
/// fn main() -> cuda_graph_build::Result<()> {
///     cuda_graph_build::Compiler::new()?
///         .option("--gpu-architecture=compute_80")
///         .build("kernels/matmul.cu")
/// }
/// ```
#[derive(Debug)]
pub struct Compiler {
    /// The folder of wheels.
    wheels: PathBuf,
    /// Whether wheels that are missing are fetched.
    fetches: bool,
    /// Whether CUDA's own headers are taken from wheels.
    has_headers: bool,
    /// Whether the PTX names lines of the source.
    has_lines: bool,
    /// The compiler and the headers to fetch.
    toolkit: &'static Toolkit,
    /// The file to use as NVRTC.
    library: Option<PathBuf>,
    /// The folder that names in messages and line tables are relative to.
    root: Option<PathBuf>,
    /// The command that makes PTX again, without the path of the source, if it is not `cargo cuda-graph ptx`.
    again: Option<String>,
    options: Vec<String>,
    /// The folders of CUDA's headers that sources have needed.
    includes: Vec<PathBuf>,
    nvrtc: Option<Nvrtc>,
}

/// The result of a compilation.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The PTX.
    pub ptx: String,
    /// The compiler's warnings; empty if there are none.
    pub warnings: String,
    /// The functions of the host that were left out.
    pub(crate) left_out: Vec<LeftOut>,
    /// The source, headers and options that the PTX was made of.
    origin: Origin,
}

impl Compiled {
    /// The PTX with the lines that say what it was made of.
    pub(crate) fn with_origin(&self) -> String {
        format!("{}{}", self.ptx, self.origin)
    }
}

impl Compiler {
    /// Returns a compiler for PTX of the oldest supported GPUs (`compute_70`), with CUDA's own headers as far as they
    /// are in the cache. It does not use the network.
    ///
    /// # Errors
    /// If the environment names no folder for the cache.
    pub fn new() -> Result<Self> {
        Ok(Self::in_folder(wheel::cache()?))
    }

    /// As [`Compiler::new`], with the wheels in `folder`.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self {
            wheels: folder.into(),
            fetches: false,
            has_headers: true,
            has_lines: true,
            toolkit: &TOOLKITS[0],
            library: env::var_os(LIBRARY_VARIABLE)
                .filter(|path| !path.is_empty())
                .map(PathBuf::from),
            root: None,
            again: None,
            options: Vec::new(),
            includes: Vec::new(),
            nvrtc: None,
        }
    }

    /// Fetches the wheels that are missing from PyPI when they are needed: the compiler, and those with CUDA's headers.
    pub fn fetch(mut self) -> Self {
        self.fetches = true;
        self
    }

    /// Leaves out CUDA's own headers (`cuda_fp16.h`, `cooperative_groups.h`, `curand_kernel.h` and so on).
    pub fn without_headers(mut self) -> Self {
        self.has_headers = false;
        self
    }

    /// Leaves out of the PTX to which line of the source each instruction belongs. Messages about kernels then name
    /// lines of the PTX, and its text stays as it is if lines of the source only move.
    pub fn without_lines(mut self) -> Self {
        self.has_lines = false;
        self
    }

    /// Adds an option of NVRTC, such as `--use_fast_math`. The options on a source's first lines come before these.
    pub fn option(mut self, option: impl Into<String>) -> Self {
        self.options.push(option.into());
        self
    }

    /// Chooses the version of NVRTC and of CUDA's headers that are fetched: `12.4`, which is used without this; `12`,
    /// the last one of CUDA 12; or `13`, a newer one. Later versions write PTX that only later drivers take.
    ///
    /// # Errors
    /// If it is none of these.
    pub fn toolkit(mut self, version: &str) -> Result<Self> {
        let known = TOOLKITS.iter().find(|toolkit| toolkit.name == version);
        let names = TOOLKITS
            .iter()
            .map(|toolkit| toolkit.name)
            .collect::<Vec<_>>()
            .join(", ");
        self.toolkit =
            known.ok_or_else(|| Error::new(format!("there is no NVRTC `{version}`: choose one of {names}")))?;
        Ok(self)
    }

    /// Names files in messages and line tables relative to `folder`, rather than to the current folder.
    pub fn relative_to(mut self, folder: impl Into<PathBuf>) -> Self {
        self.root = Some(folder.into());
        self
    }

    /// Names the command that makes the PTX again, without the path of the source. Messages about PTX whose source has
    /// changed since name it.
    pub fn again(mut self, command: impl Into<String>) -> Self {
        self.again = Some(command.into());
        self
    }

    /// As [`Compiler::relative_to`], unless a folder was given.
    pub(crate) fn relative_to_if_unset(&mut self, folder: &Path) -> &mut Self {
        self.root.get_or_insert_with(|| folder.to_owned());
        self
    }

    /// Compiles a CUDA source to PTX, for all devices.
    ///
    /// # Errors
    /// If the file cannot be read, if there is no NVRTC, or if the source has mistakes. Then the message is
    /// NVRTC's log.
    pub fn compile(&mut self, source: &Path) -> Result<Compiled> {
        self.compile_for(source, &self.read(source)?, None)
    }

    /// Compiles a CUDA source to all PTX that it asks for. Returns the extension of each file: `ptx`, `sm_90.ptx`.
    pub(crate) fn compile_all(&mut self, source: &Path) -> Result<Vec<(String, Compiled)>> {
        let text = self.read(source)?;
        let mut compiled = vec![("ptx".to_owned(), self.compile_for(source, &text, None)?)];
        for target in text::targets(&text) {
            let number = target.strip_prefix("sm_").unwrap_or_default();
            if !number.starts_with(|first: char| first.is_ascii_digit()) || !number.chars().all(char::is_alphanumeric) {
                let name = self.name_of(source);
                let message = format!("{name}: `{target}` is no target\nhelp: write `// cuda-graph sm_90: <options>`");
                return Err(Error::new(message));
            }
            compiled.push((format!("{target}.ptx"), self.compile_for(source, &text, Some(target))?));
        }
        Ok(compiled)
    }

    fn compile_for(&mut self, source: &Path, text: &str, target: Option<&str>) -> Result<Compiled> {
        self.compile_as(source, text, target, None)
    }

    /// Compiles a source with the options for a target, but for another `architecture` if there is one, as `90a`.
    pub(crate) fn compile_as(
        &mut self,
        source: &Path,
        text: &str,
        target: Option<&str>,
        architecture: Option<&str>,
    ) -> Result<Compiled> {
        let name = self.name_of(source);
        let current = env::current_dir().unwrap_or_default();
        let beside = source.parent().map(|folder| current.join(folder));
        let has_headers = self.has_headers || text::wants_headers(text);
        let mut sources: Option<(Sources, Vec<OriginFile>)> = None;
        loop {
            let mut options = text::options(text, target, &self.options, self.toolkit.oldest);
            if let Some(architecture) = architecture {
                text::set_architecture(&mut options, architecture);
            }
            if self.has_lines {
                text::add_lines(&mut options, text::options_for(text, target));
            }
            let by = self.made_by(&options)?;
            let (sources, files) = sources.get_or_insert_with(|| {
                let headers = includes::headers(source, text, &options);
                let files = includes::files(source, text, &headers);
                (Sources::new(&name, text, headers), files)
            });
            let folders = beside.iter().chain(sources.folders()).chain(&self.includes);
            options.extend(folders.map(|folder| format!("--include-path={}", folder.display())));
            let compiled = self
                .nvrtc()?
                .compile(&name, sources.text(), sources.given(), &options)?;
            let (ptx, log) = match compiled {
                Ok(compiled) => compiled,
                Err(log) if self.add_header(&log, has_headers, sources)? || sources.leave_out(&log) => continue,
                Err(log) => return Err(self.explained(&log, has_headers, sources)),
            };
            let root = self.root.as_ref().unwrap_or(&current);
            let folders = [&current, root].into_iter().chain(&self.includes);
            let folders: Vec<String> = folders.map(|folder| folder.display().to_string()).collect();
            return Ok(Compiled {
                ptx: text::tidied(&ptx, text::options_for(text, target), &folders),
                warnings: text::without_warnings_in(&log, &self.includes),
                left_out: sources.left_out().to_vec(),
                origin: Origin {
                    files: files.clone(),
                    by,
                    again: self.command(),
                },
            });
        }
    }

    /// The options to compile a source with, for all devices.
    pub(crate) fn options_of(&self, text: &str) -> Vec<String> {
        text::options(text, None, &self.options, self.toolkit.oldest)
    }

    /// The compiler with its version and its options.
    fn made_by(&mut self, options: &[String]) -> Result<String> {
        let version = self.nvrtc()?.version()?;
        Ok(format!("NVRTC {version} with {}", options.join(" ")))
    }

    /// Returns the command that makes PTX as this compiler does, without the path of the source.
    pub fn command(&self) -> String {
        let own = || {
            let mut words = vec![format!("cargo cuda-graph ptx{}", self.version_option())];
            words.extend(self.has_headers.then(|| "--with-headers".to_owned()));
            words.extend(
                self.options
                    .iter()
                    .map(|option| text::quoted(&format!("--option={option}"))),
            );
            words.join(" ")
        };
        self.again.clone().unwrap_or_else(own)
    }

    /// Puts the compiler, and all headers, into the folder of wheels, unless they are there already. Later compilations
    /// need no network.
    ///
    /// # Errors
    /// If a wheel cannot be fetched.
    pub fn fetch_all(&mut self) -> Result<()> {
        let (wheel, file) = &self.toolkit.nvrtc;
        wheel.file(&self.wheels, file)?;
        for headers in self.toolkit.all_headers().filter(|_| self.has_headers) {
            headers.fetched(&self.wheels)?;
        }
        Ok(())
    }

    /// The name of a source in messages.
    pub(crate) fn name_of(&self, source: &Path) -> String {
        let current = env::current_dir().unwrap_or_default();
        let absolute = current.join(source);
        let root = self.root.as_ref().unwrap_or(&current);
        let name = absolute.strip_prefix(root).unwrap_or(source);
        name.display().to_string()
    }

    /// Adds the header that a log says is missing, or the folders for it. Returns whether another compilation may
    /// succeed.
    fn add_header(&mut self, log: &str, has_headers: bool, sources: &mut Sources) -> Result<bool> {
        let Some((_, name)) = host_headers::missing(log) else {
            return Ok(false);
        };
        if let Some(text) = host_headers::text(name) {
            return Ok(sources.give(name, &text));
        }
        if !has_headers {
            return Ok(false);
        }
        let before = self.includes.len();
        for headers in self.toolkit.needed_for(name) {
            let folder = if self.fetches {
                Some(headers.fetched(&self.wheels)?)
            } else {
                headers.present(&self.wheels)
            };
            let new = folder.filter(|folder| !self.includes.contains(folder));
            self.includes.extend(new);
        }
        Ok(self.includes.len() > before)
    }

    /// The error of a source that does not compile.
    fn explained(&self, log: &str, has_headers: bool, sources: &Sources) -> Error {
        const FOR_KERNELS: &str = "include only headers for kernels, such as `<cub/block/block_reduce.cuh>` in place of \
                                   `<cub/cub.cuh>`";
        let log = log.trim_end();
        let is_ours = |file: &str| self.includes.iter().any(|folder| Path::new(file).starts_with(folder));
        let Some((file, name)) = host_headers::missing(log) else {
            let help = match text::first_error(log).filter(|file| is_ours(file)) {
                Some(file) => format!(
                    "\nhelp: NVRTC compiles code of the device alone, and {file} has code of the host: {FOR_KERNELS}"
                ),
                None => sources.help(log),
            };
            return Error::new(format!("{log}{help}"));
        };
        let help = match self.toolkit.headers_with(name) {
            Some(headers) if !has_headers => format!(
                "`{name}` is one of CUDA's headers: `--with-headers` fetches {}; so does the first line `// cuda-graph: \
                 --with-headers` of the source",
                headers.project()
            ),
            Some(headers) if !self.fetches && headers.present(&self.wheels).is_none() => format!(
                "`{name}` is one of CUDA's headers: `cargo cuda-graph fetch --with-headers{}` fetches {}",
                self.version_option(),
                headers.project()
            ),
            Some(headers) => format!("{} has no `{name}`", headers.project()),
            None if is_ours(file) => format!(
                "one of CUDA's headers includes `{name}`, a header of the host, which NVRTC does not have: {FOR_KERNELS}"
            ),
            None => format!(
                "NVRTC compiles code of the device alone and has no headers of the host: add the folder of `{name}` by \
                 `-I`, or write `#ifndef __CUDACC_RTC__` before the line that includes it and `#endif` after it"
            ),
        };
        Error::new(format!("{log}\nhelp: {help}"))
    }

    /// The text of a source.
    pub(crate) fn read(&self, source: &Path) -> Result<String> {
        fs::read_to_string(source).map_err(|error| Error::new(format!("cannot read {}: {error}", source.display())))
    }

    /// The option of the command that chooses this toolkit, after a space; nothing if it is the usual one.
    fn version_option(&self) -> String {
        let is_usual = self.toolkit.name == TOOLKITS[0].name;
        if is_usual {
            String::new()
        } else {
            format!(" --nvrtc={}", self.toolkit.name)
        }
    }

    fn nvrtc(&mut self) -> Result<&Nvrtc> {
        let loaded = match self.nvrtc.take() {
            Some(loaded) => loaded,
            None => Nvrtc::load(&self.library()?)?,
        };
        Ok(self.nvrtc.insert(loaded))
    }

    /// The file of NVRTC.
    fn library(&self) -> Result<PathBuf> {
        if let Some(library) = &self.library {
            return Ok(library.clone());
        }
        let (wheel, file) = &self.toolkit.nvrtc;
        if let Some(present) = wheel.present(&self.wheels, file) {
            return Ok(present);
        }
        let folders = installed::folders();
        let installed = installed::nvrtc(&folders);
        if self.fetches {
            return wheel.file(&self.wheels, file).map_err(|error| match installed {
                Some(path) => {
                    let path = path.display();
                    Error::new(format!(
                        "{error}\nhelp: NVRTC is installed here: set `{LIBRARY_VARIABLE}={path}` to use it"
                    ))
                }
                None => Error::new(format!(
                    "{error}\nhelp: or name NVRTC of an installed CUDA toolkit: `{LIBRARY_VARIABLE}=/path/libnvrtc.so`"
                )),
            });
        }
        installed.ok_or_else(|| {
            let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
            Error::new(format!(
                "there is no NVRTC, NVIDIA's compiler, on this machine\n\
                 note: `{LIBRARY_VARIABLE}` is not set, {} has no wheel of it, and it is not in {}\n\
                 help: `cargo cuda-graph fetch{}` fetches it (with pip; `cargo install --path cargo-cuda-graph`, in a clone of \
                 the repository of graph-runtime, installs the command)",
                self.wheels.display(),
                folders.join(", "),
                self.version_option()
            ))
        })
    }
}
