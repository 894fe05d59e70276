//! The parts of `.gpu/` that every visit to a GPU machine needs: programs that Cargo built, as one archive, and the
//! files that they read.

use crate::Result;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The most bytes that may be sent to the GPU machine, all files together.
const LIMIT_BYTES: u64 = 60 << 20;

/// An executable that Cargo built.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Artifact {
    /// The name of the package's folder.
    pub(crate) package: String,
    /// Cargo's word: `lib`, `bin`, `test`, `example`, `bench`.
    pub(crate) target_kind: String,
    pub(crate) target: String,
    /// Whether it was built to run its unit tests.
    pub(crate) is_test: bool,
    pub(crate) executable: PathBuf,
}

/// Lets Cargo build, in release mode and stripped, and returns its messages.
///
/// # Errors
/// If the build fails.
pub(crate) fn cargo_build(root: &Path, arguments: &[&str]) -> Result<Vec<Value>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(root)
        .args(["build", "--release", "--message-format=json-render-diagnostics"])
        .args(arguments)
        .env("CARGO_PROFILE_RELEASE_STRIP", "symbols")
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo build failed ({})", output.status).into());
    }
    let parse =
        |line: &str| serde_json::from_str(line).map_err(|error| format!("cargo's message `{line}`: {error}").into());
    String::from_utf8(output.stdout)?.lines().map(parse).collect()
}

/// The executable that a message of Cargo's is about, if it is about one.
///
/// Source: <https://doc.rust-lang.org/cargo/reference/external-tools.html#artifact-messages>.
pub(crate) fn artifact(message: &Value) -> Option<Artifact> {
    if message["reason"] != "compiler-artifact" {
        return None;
    }
    let package = Path::new(message["manifest_path"].as_str()?).parent()?.file_name()?;
    Some(Artifact {
        package: package.to_str()?.to_owned(),
        target_kind: message["target"]["kind"][0].as_str()?.to_owned(),
        target: message["target"]["name"].as_str()?.to_owned(),
        is_test: message["profile"]["test"] == true,
        executable: message["executable"].as_str()?.into(),
    })
}

/// The library for other languages, `lib<target>.so`, that a message of Cargo's is about, if it is about it.
pub(crate) fn library(message: &Value, target: &str) -> Option<PathBuf> {
    if message["reason"] != "compiler-artifact" || message["target"]["name"] != target {
        return None;
    }
    let files = message["filenames"].as_array()?.iter().filter_map(Value::as_str);
    files
        .map(PathBuf::from)
        .find(|file| file.extension().is_some_and(|extension| extension == "so"))
}

/// Empties `folder`, or makes it.
///
/// # Errors
/// If that fails.
pub(crate) fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| format!("cannot empty {}: {error}", folder.display()))?;
    }
    create(folder)
}

/// Makes a folder and those around it.
///
/// # Errors
/// If that fails.
pub(crate) fn create(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| format!("cannot create {}: {error}", folder.display()).into())
}

/// Replaces the folder `bin` in `folder` by one compressed archive (`tar` and `xz` must be installed), since the
/// connection to the GPU machine may be slow.
///
/// # Errors
/// If there is no `tar`, or it fails.
pub(crate) fn compress(folder: &Path) -> Result<()> {
    let status = Command::new("tar")
        .current_dir(folder)
        .args(["--create", "--xz", "--file", "bin.tar.xz", "bin"])
        .env("XZ_OPT", "--lzma2=preset=2,dict=384MiB") // the window holds all programs, which are similar
        .status()
        .map_err(|error| format!("cannot run tar: {error}"))?;
    if !status.success() {
        return Err(format!("tar failed ({status})").into());
    }
    let binaries = folder.join("bin");
    fs::remove_dir_all(&binaries).map_err(|error| format!("cannot remove {}: {error}", binaries.display()).into())
}

/// Copies the files that a package's programs may read while they run: all but Rust code, manifests and hidden files.
/// Kernels are embedded in the programs; their files are small enough to be copied too.
///
/// # Errors
/// If a file cannot be copied.
pub(crate) fn copy_data(from: &Path, to: &Path) -> Result<()> {
    create(to)?;
    for entry in fs::read_dir(from).map_err(|error| format!("cannot list {}: {error}", from.display()))? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let destination = to.join(&name);
        let is_code = ["Cargo.toml", "src", "target", "__pycache__"]
            .iter()
            .any(|code| name == *code)
            || path.extension().is_some_and(|found| found == "rs");
        if is_code || name.to_string_lossy().starts_with('.') {
            continue;
        }
        if !entry.file_type()?.is_dir() {
            copy(&path, &destination)?;
        } else {
            copy_data(&path, &destination)?;
        }
    }
    Ok(())
}

/// Copies a file.
///
/// # Errors
/// If that fails: the message names both.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map_err(|error| format!("cannot copy {} to {}: {error}", from.display(), to.display()))?;
    Ok(())
}

/// Writes a file.
///
/// # Errors
/// If that fails: the message names it.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()).into())
}

/// The size of a folder that is to be sent, in MiB.
///
/// # Errors
/// If it is more than can be sent.
pub(crate) fn mebibytes(folder: &Path) -> Result<f64> {
    let bytes = size_of(folder)?;
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    match bytes > LIMIT_BYTES {
        true => Err(format!(".gpu/ holds {mebibytes:.1} MiB, more than can be sent; build less with --only").into()),
        false => Ok(mebibytes),
    }
}

/// The bytes in all files under `folder`.
fn size_of(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() {
            size_of(&entry.path())?
        } else {
            metadata.len()
        };
    }
    Ok(bytes)
}
