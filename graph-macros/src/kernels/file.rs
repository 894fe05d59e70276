//! Finds the file that a block of kernels names.

use crate::report::error;
use graph_plan::{Code, Diagnostic};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// A path relative to the folder of the crate's manifest.
pub(super) fn in_crate(path: &str) -> PathBuf {
    let manifest = env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
    manifest.join(path)
}

/// Returns the file's path and bytes. `path` is relative to the folder of the crate's manifest, or else to the folder
/// of the Rust source.
pub(super) fn find(path: &str, source_file: Option<&Path>, help: &str) -> Result<(PathBuf, Vec<u8>), Diagnostic> {
    let first = in_crate(path);
    let beside = source_file.and_then(Path::parent).map(|folder| folder.join(path));
    let candidates: Vec<PathBuf> = std::iter::once(first).chain(beside).collect();
    for candidate in &candidates {
        match fs::read(candidate) {
            Ok(bytes) => return Ok((candidate.clone(), bytes)),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => {}
            Err(fault) => return Err(error(Code::PtxFile, format!("cannot read `{path}`: {fault}"))),
        }
    }
    let place = if candidates.len() > 1 {
        ", and beside this source file"
    } else {
        ""
    };
    let mut diagnostic = error(Code::PtxFile, format!("there is no file `{path}`"))
        .note(format!("looked for `{}`{place}", shown(&candidates[0]).display()));
    let mut folders: Vec<&Path> = candidates.iter().filter_map(|candidate| candidate.parent()).collect();
    folders.dedup();
    for folder in folders {
        diagnostic = diagnostic.note(looked_in(folder, path));
    }
    Err(diagnostic.help(help))
}

/// A note with the files of a folder that have the extension of `path`.
fn looked_in(folder: &Path, path: &str) -> String {
    const MAX_SHOWN: usize = 8;
    let shown = match shown(folder) {
        here if here.as_os_str().is_empty() => Path::new("."),
        folder => folder,
    };
    let kind = Path::new(path).extension().unwrap_or_default();
    let Ok(entries) = fs::read_dir(folder) else {
        return format!("there is no folder `{}`", shown.display());
    };
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut names: Vec<String> = files
        .filter(|file| file.extension() == Some(kind))
        .filter_map(|file| Some(format!("`{}`", file.file_name()?.display())))
        .collect();
    names.sort();
    let count = names.len();
    let found = match count {
        0 => format!("no `.{}` file", kind.display()),
        _ => names[..count.min(MAX_SHOWN)].join(", ") + if count > MAX_SHOWN { ", .." } else { "" },
    };
    format!("the folder `{}` has {found}", shown.display())
}

/// The path relative to the folder in which the compiler runs, which is the workspace.
pub(super) fn shown(path: &Path) -> &Path {
    env::current_dir()
        .ok()
        .and_then(|folder| path.strip_prefix(folder).ok())
        .unwrap_or(path)
}
