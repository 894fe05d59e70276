//! Finds the file that a block of kernels names.

use crate::report::error;
use graph_plan::{Code, Diagnostic};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// A path relative to the folder of the crate's manifest.
pub(super) fn in_crate(path: &str) -> PathBuf {
    let manifest = env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
    manifest.join(path)
}

/// Returns the file's path and bytes. `path` is relative to the folder of the crate's manifest, or else to the folder
/// of the Rust source, or else to the folder of what the crate's build script has written. `entries` are the kernels
/// that it should have.
pub(super) fn find(
    path: &str,
    source_file: Option<&Path>,
    entries: &[&str],
    help: &str,
) -> Result<(PathBuf, Vec<u8>), Diagnostic> {
    let candidates = Candidates::new(path, source_file, |name| env::var_os(name));
    for candidate in candidates.all() {
        match fs::read(candidate) {
            Ok(bytes) => return Ok((candidate.clone(), bytes)),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => {}
            Err(fault) => return Err(error(Code::PtxFile, format!("cannot read `{path}`: {fault}"))),
        }
    }
    Err(candidates.missing(path, entries).help(help))
}

/// The places where a file is looked for, in this order.
#[derive(Debug)]
struct Candidates {
    /// Below the folder of the crate's manifest.
    manifest: PathBuf,
    /// Beside the Rust source.
    beside: Option<PathBuf>,
    /// Among the outputs of the build script, if there is one.
    script: Option<PathBuf>,
}

impl Candidates {
    fn new(path: &str, source_file: Option<&Path>, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let below = |folder: OsString| PathBuf::from(folder).join(path);
        Self {
            manifest: variable("CARGO_MANIFEST_DIR").map_or_else(|| path.into(), below),
            beside: source_file.and_then(Path::parent).map(|folder| folder.join(path)),
            script: variable("OUT_DIR").map(below),
        }
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.manifest).chain(&self.beside).chain(&self.script)
    }

    /// The mistake that the file is in none of them.
    fn missing(&self, path: &str, entries: &[&str]) -> Diagnostic {
        let mut places = format!("`{}`", shown(&self.manifest).display());
        if self.beside.is_some() {
            places.push_str(", and beside this source file");
        }
        if self.script.is_some() {
            places.push_str(", and among the outputs of the build script");
        }
        let mut diagnostic =
            error(Code::PtxFile, format!("there is no file `{path}`")).note(format!("looked for {places}"));
        // The folder of a build script's outputs has a name that tells nobody anything.
        let files = std::iter::once(&self.manifest).chain(&self.beside);
        let mut folders: Vec<&Path> = files.filter_map(|file| file.parent()).collect();
        folders.dedup();
        for folder in folders {
            diagnostic = diagnostic.note(looked_in(folder, path, entries));
        }
        diagnostic
    }
}

/// A note with the files of a folder that have the extension of `path`, and those that have all `entries`.
fn looked_in(folder: &Path, path: &str, entries: &[&str]) -> String {
    const MAX_SHOWN: usize = 8;
    let shown = match shown(folder) {
        here if here.as_os_str().is_empty() => Path::new("."),
        folder => folder,
    };
    let kind = Path::new(path).extension().unwrap_or_default();
    let Ok(content) = fs::read_dir(folder) else {
        return format!("there is no folder `{}`", shown.display());
    };
    let mut files: Vec<PathBuf> = content.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension() == Some(kind));
    files.sort();
    let listed = |files: &[&PathBuf]| {
        let names = files
            .iter()
            .filter_map(|file| Some(format!("`{}`", file.file_name()?.display())));
        let names: Vec<String> = names.take(MAX_SHOWN).collect();
        names.join(", ") + if files.len() > MAX_SHOWN { ", .." } else { "" }
    };
    let has_all = |file: &&PathBuf| {
        let text = fs::read_to_string(file).unwrap_or_default();
        !entries.is_empty() && entries.iter().all(|entry| has_entry(&text, entry))
    };
    let fitting: Vec<&PathBuf> = files.iter().filter(has_all).collect();
    let found = match files.is_empty() {
        true => format!("no `.{}` file", kind.display()),
        false => listed(&files.iter().collect::<Vec<_>>()),
    };
    let fitting = match (entries, fitting.is_empty()) {
        (_, true) => String::new(),
        ([entry], false) => format!("; the kernel `{entry}` is in {}", listed(&fitting)),
        (_, false) => format!("; all kernels of this block are in {}", listed(&fitting)),
    };
    format!("the folder `{}` has {found}{fitting}", shown.display())
}

/// Whether PTX has the `.entry`, as far as its text tells.
fn has_entry(ptx: &str, entry: &str) -> bool {
    let is_other = |after: &str| after.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
    let mut entries = ptx.split(".entry").skip(1).map(str::trim_start);
    entries.any(|found| found.strip_prefix(entry).is_some_and(|after| !is_other(after)))
}

/// The path relative to the folder in which the compiler runs, which is the workspace.
pub(super) fn shown(path: &Path) -> &Path {
    env::current_dir()
        .ok()
        .and_then(|folder| path.strip_prefix(folder).ok())
        .unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_of_a_build_script_are_found_last() {
        let variable = |name: &str| (name == "OUT_DIR").then(|| env::temp_dir().into_os_string());
        let path = format!("cuda-graph-macros-{}.ptx", std::process::id());
        let candidates = Candidates::new(&path, Some(Path::new("src/lib.rs")), variable);
        let places: Vec<&PathBuf> = candidates.all().collect();
        assert_eq!(
            places,
            [
                &PathBuf::from(&path),
                &Path::new("src").join(&path),
                &env::temp_dir().join(&path)
            ]
        );
        let message = candidates.missing(&path, &[]).to_string();
        assert!(message.contains("among the outputs of the build script"), "{message}");
        assert!(!message.contains(&env::temp_dir().display().to_string()), "{message}");
    }
}
