//! Finding the file that a block of kernels names.

use crate::report::error;
use graph_plan::{Code, Diagnostic};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The file's path and bytes. It lies beside the crate's manifest, or else beside the Rust source.
pub(super) fn find(path: &str, source_file: Option<&Path>, help: &str) -> Result<(PathBuf, Vec<u8>), Diagnostic> {
    let manifest = env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
    let first = manifest.join(path);
    let beside = source_file.and_then(Path::parent).map(|folder| folder.join(path));
    for candidate in std::iter::once(&first).chain(&beside) {
        match fs::read(candidate) {
            Ok(bytes) => return Ok((candidate.clone(), bytes)),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => {}
            Err(fault) => return Err(error(Code::PtxFile, format!("cannot read `{path}`: {fault}"))),
        }
    }
    let relative = !Path::new(path).is_absolute();
    let place = if relative { ", and beside this source file" } else { "" };
    Err(error(Code::PtxFile, format!("there is no file `{path}`"))
        .note(format!("looked for `{}`{place}", shown(&first).display()))
        .help(help))
}

/// The path as seen from where the compiler runs, which is the workspace.
pub(super) fn shown(path: &Path) -> &Path {
    env::current_dir()
        .ok()
        .and_then(|folder| path.strip_prefix(folder).ok())
        .unwrap_or(path)
}
