//! The command line.

use std::fs;
use std::path::{Path, PathBuf};

use cuda_graph_build::Compiler;

use crate::Result;

const HELP: &str = "\
usage: cargo cuda-graph <command> [options] [files]

  check FILE..    say what the kernels of .cu and .ptx files read and write, what is
                  refused and why, and print the Rust declarations to paste
  ptx FILE.cu..   compile CUDA sources to the .ptx beside each
  fetch           fetch the compiler, for machines that will have no network

`cargo cuda-graph <command> --help` says more. No command needs a CUDA toolkit.";

const CHECK_HELP: &str = "\
usage: cargo cuda-graph check [options] FILE..

Reads .ptx files, and .cu files after compiling them, and prints for each kernel:
the memory that it reads and writes, its launch limits, why the emulator refuses it
(if it does), and a Rust declaration to paste. Lines that end in `decide` have a type
that the file does not tell.

Exit code: 0 if all kernels can be declared and emulated, 1 if something is refused
or cannot be read, 2 if the command line is wrong.";

const PTX_HELP: &str = "\
usage: cargo cuda-graph ptx [options] FILE.cu..

Compiles each source to the .ptx beside it, for `#[cuda_kernels(\"x.ptx\")]`. Check the
.ptx in: whoever builds the crate then needs no compiler for CUDA. It names lines of
the source, so that messages can.

  --check             write nothing, and fail if a .ptx is not what its .cu compiles to

The first line of a source may have options of its own, which come first:
    // cuda-graph: --gpu-architecture=compute_90 --use_fast_math
    // cuda-graph: --ptx-version=6.0      (the lowest version that the .ptx asks for)
    // cuda-graph: --with-headers         (as the option below)
The next lines may ask for more files, tuned for newer targets, here x.sm_90.ptx:
    // cuda-graph sm_90: --use_fast_math";

const FETCH_HELP: &str = "\
usage: cargo cuda-graph fetch [--with-headers] [--nvrtc VERSION]

Fetches the compiler (12.4, or of `--nvrtc` 12 or 13), and with `--with-headers` all of CUDA's headers, into the cache.
Build scripts that use the crate cuda-graph-build find them there.";

const COMPILER_HELP: &str = "
  --arch ARCH         the oldest GPUs to compile for, such as 80 or compute_90a
                      (default: compute_70)
  --with-headers      fetch CUDA's own headers when a source includes them: fp16,
                      cooperative groups, libcu++ (1 to 3 MB), mma (20 MB), curand (56 MB);
                      headers of the host (stdint.h, cmath, ..) are answered without it
  --nvrtc VERSION     12.4 (the default), 12 (12.9) or 13 (13.5): newer ones know newer GPUs
                      and C++, and write PTX that only newer drivers take
  -I FOLDER           look for headers there too
  --option OPTION     an option of NVRTC, such as --use_fast_math
  --offline           do not use the network

The compiler is NVRTC 12.4 of NVIDIA's wheel on PyPI, pinned by its SHA-256, for Linux
on x86-64 (25 MB). The first run fetches it with pip (any mirror that pip is set up for)
into the folder `wheels` of CUDA_GRAPH_CACHE_DIR, or of the user's cache. If the
environment variable CUDA_GRAPH_NVRTC names a libnvrtc.so, that is used instead.";

/// The task of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Check,
    Ptx,
    Fetch,
}

/// The reason why nothing is done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    /// Help was asked for.
    Help(String),
    /// The command line makes no sense.
    Wrong(String),
}

/// A command line that was understood.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) command: Command,
    pub(crate) files: Vec<PathBuf>,
    /// Whether `ptx` only compares.
    pub(crate) compares: bool,
    has_headers: bool,
    is_offline: bool,
    /// The version of NVRTC, if another than the usual one is wanted.
    nvrtc: Option<String>,
    /// Options for NVRTC.
    options: Vec<String>,
}

impl Arguments {
    /// Reads the words after the program's name. Cargo puts the subcommand's name before the user's words.
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Self, Usage> {
        let mut words = words.peekable();
        words.next_if(|word| word == "cuda-graph");
        let command = match words.next().as_deref() {
            Some("check") => Command::Check,
            Some("ptx") => Command::Ptx,
            Some("fetch") => Command::Fetch,
            None | Some("help" | "--help" | "-h") => return Err(Usage::Help(HELP.to_owned())),
            Some(other) => return Err(Usage::Wrong(format!("there is no command `{other}`\n\n{HELP}"))),
        };
        let mut arguments = Self {
            command,
            files: Vec::new(),
            compares: false,
            has_headers: false,
            is_offline: false,
            nvrtc: None,
            options: Vec::new(),
        };
        let mut only_files = false;
        while let Some(word) = words.next() {
            match word.as_str() {
                _ if only_files || !word.starts_with('-') => arguments.files.push(word.into()),
                "--" => only_files = true,
                "--help" | "-h" => return Err(Usage::Help(command.help())),
                _ => arguments.option(&word, &mut words)?,
            }
        }
        match (command, arguments.files.is_empty()) {
            (Command::Fetch, false) => Err(command.wrong("it takes no files")),
            (Command::Check | Command::Ptx, true) => Err(command.wrong("name the files")),
            (Command::Fetch, true) | (Command::Check | Command::Ptx, false) => Ok(arguments),
        }
    }

    /// Takes an option, and its value from the words after it.
    fn option(&mut self, word: &str, rest: &mut impl Iterator<Item = String>) -> Result<(), Usage> {
        let (name, mut value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => match word.strip_prefix("-I") {
                Some(folder) if !folder.is_empty() => ("-I", Some(folder.to_owned())),
                _ => (word, None),
            },
        };
        let command = self.command;
        let mut value = || {
            let value = value.take().or_else(|| rest.next());
            value.ok_or_else(|| command.wrong(format!("`{name}` needs a value")))
        };
        match (command, name) {
            (Command::Ptx, "--check") => self.compares = true,
            (_, "--with-headers") => self.has_headers = true,
            (Command::Check | Command::Ptx, "--offline") => self.is_offline = true,
            (Command::Check | Command::Ptx, "--arch") => {
                let value = value()?;
                let digits = value.trim_start_matches("compute_").trim_start_matches("sm_");
                if !digits.starts_with(|first: char| first.is_ascii_digit()) {
                    return Err(command.wrong(format!(
                        "`--arch {value}`: expected a number, such as 80, or compute_90a"
                    )));
                }
                self.options.push(format!("--gpu-architecture=compute_{digits}"));
            }
            (_, "--nvrtc") => self.nvrtc = Some(value()?),
            (Command::Check | Command::Ptx, "-I") => self.options.push(format!("--include-path={}", value()?)),
            (Command::Check | Command::Ptx, "--option") => self.options.push(value()?),
            (Command::Check | Command::Ptx | Command::Fetch, _) => {
                return Err(command.wrong(format!("there is no option `{word}`")));
            }
        }
        Ok(())
    }

    /// The compiler that the options ask for. Names in messages and line tables are relative to the folder of the
    /// nearest `Cargo.toml`, so that the same PTX is made wherever the command is started.
    pub(crate) fn compiler(&self) -> Result<Compiler> {
        let mut compiler = Compiler::new()?;
        if let Some(version) = &self.nvrtc {
            compiler = compiler.toolkit(version)?;
        }
        if !self.is_offline {
            compiler = compiler.fetch();
        }
        if !self.has_headers {
            compiler = compiler.without_headers();
        }
        if let Some(folder) = self.files.first().and_then(|file| manifest_folder(file)) {
            compiler = compiler.relative_to(folder);
        }
        Ok(self.options.iter().fold(compiler, Compiler::option))
    }

    /// Fails if a file is not there, or is of no kind in `extensions`. This is known before anything is fetched.
    pub(crate) fn existing(&self, extensions: &[&str]) -> Result<()> {
        let problems: Vec<String> = self.files.iter().filter_map(|file| problem(file, extensions)).collect();
        match problems.is_empty() {
            true => Ok(()),
            false => Err(problems.join("\nerror: ").into()),
        }
    }
}

impl Command {
    fn name(self) -> &'static str {
        match self {
            Command::Check => "check",
            Command::Ptx => "ptx",
            Command::Fetch => "fetch",
        }
    }

    fn help(self) -> String {
        match self {
            Command::Check => format!("{CHECK_HELP}\n\nOptions for .cu files:\n{COMPILER_HELP}"),
            Command::Ptx => format!("{PTX_HELP}\n{COMPILER_HELP}"),
            Command::Fetch => FETCH_HELP.to_owned(),
        }
    }

    fn wrong(self, message: impl std::fmt::Display) -> Usage {
        let name = self.name();
        Usage::Wrong(format!(
            "{message}\nhelp: `cargo cuda-graph {name} --help` says how to call it"
        ))
    }
}

/// The folder of the nearest `Cargo.toml` around a file.
pub(crate) fn manifest_folder(file: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(file).ok()?;
    let folder = absolute
        .ancestors()
        .skip(1)
        .find(|folder| folder.join("Cargo.toml").is_file());
    folder.map(Path::to_owned)
}

/// The reason why a file cannot be read.
fn problem(file: &Path, extensions: &[&str]) -> Option<String> {
    let extension = file.extension().and_then(|extension| extension.to_str());
    let is_known = extension.is_some_and(|extension| extensions.contains(&extension));
    let shown = file.display();
    let expected = extensions.join(" nor .");
    match fs::metadata(file) {
        Ok(found) if found.is_dir() => Some(format!("{shown} is a folder: name the files in it")),
        Ok(_) if !is_known && extensions.len() > 1 => Some(format!("{shown} is neither .{expected}")),
        Ok(_) if !is_known => Some(format!("{shown} is no .{expected}")),
        Ok(_) => None,
        Err(error) => {
            let near = neighbours(file, extensions);
            Some(format!("cannot read {shown}: {error}{near}"))
        }
    }
}

/// A note with the files beside a file that is missing.
fn neighbours(file: &Path, extensions: &[&str]) -> String {
    const MAX_SHOWN: usize = 8;
    let folder = match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let Ok(entries) = fs::read_dir(folder) else {
        return format!("\nnote: there is no folder {}", folder.display());
    };
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let wanted = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| extensions.contains(&extension))
    };
    let mut names: Vec<String> = files
        .filter(wanted)
        .filter_map(|path| Some(path.file_name()?.display().to_string()))
        .collect();
    names.sort();
    let more = if names.len() > MAX_SHOWN { ", .." } else { "" };
    names.truncate(MAX_SHOWN);
    match names.is_empty() {
        true => format!("\nnote: {} has no such files", folder.display()),
        false => format!("\nnote: {} has {}{more}", folder.display(), names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Arguments, Usage> {
        Arguments::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn cargo_and_people_call_it() {
        assert_eq!(parsed("cuda-graph ptx a.cu"), parsed("ptx a.cu"));
        let arguments =
            parsed("ptx a.cu --nvrtc 13 --arch sm_80 --check -Iinc -I more --option=--use_fast_math -- -b.cu").unwrap();
        assert_eq!(arguments.files, [PathBuf::from("a.cu"), PathBuf::from("-b.cu")]);
        assert!(arguments.compares && !arguments.has_headers && arguments.nvrtc.as_deref() == Some("13"));
        assert_eq!(
            arguments.options,
            [
                "--gpu-architecture=compute_80",
                "--include-path=inc",
                "--include-path=more",
                "--use_fast_math"
            ]
        );
    }

    #[test]
    fn help_is_no_mistake_and_mistakes_name_the_help() {
        for line in [
            "",
            "help",
            "--help",
            "cuda-graph",
            "check --help",
            "ptx a.cu -h",
            "fetch --help",
        ] {
            assert!(matches!(parsed(line), Err(Usage::Help(_))), "{line}");
        }
        for (line, expected) in [
            ("build", "there is no command `build`"),
            ("ptx", "name the files"),
            ("ptx --arch", "`--arch` needs a value"),
            ("ptx --arch new a.cu", "`--arch new`"),
            ("ptx --fast a.cu", "there is no option `--fast`"),
            ("check --check a.cu", "there is no option `--check`"),
            ("fetch a.cu", "it takes no files"),
        ] {
            let Err(Usage::Wrong(message)) = parsed(line) else {
                panic!("{line}")
            };
            assert!(message.contains(expected), "{line}: {message}");
            assert!(message.contains("--help"), "{line}: {message}");
        }
    }
}
