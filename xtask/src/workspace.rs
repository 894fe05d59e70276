//! The workspace: its folder, its files, and its crates, as Cargo lists them.

use crate::Result;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder that holds the workspace's `Cargo.toml`: the parent of this crate's.
///
/// Cargo sets `CARGO_MANIFEST_DIR` for what it runs; the value from compile time serves when the binary is started
/// by hand.
pub(crate) fn root() -> Result<PathBuf> {
    let manifest_dir =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    match manifest_dir.parent() {
        Some(root) if root.join("Cargo.toml").is_file() => Ok(root.to_owned()),
        _ => Err(format!(
            "no workspace around {}; run this through `cargo xtask`",
            manifest_dir.display()
        )
        .into()),
    }
}

/// `path` as the user knows it, seen from the workspace's root.
pub(crate) fn relative<'a>(root: &Path, path: &'a Path) -> std::path::Display<'a> {
    path.strip_prefix(root).unwrap_or(path).display()
}

/// The files of the workspace in `root` that `is_wanted`, sorted, without build outputs and hidden folders.
///
/// # Errors
/// If a folder cannot be read.
pub(crate) fn files(root: &Path, is_wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name());
            if entry.file_type()?.is_dir() {
                let is_skipped = ["target", "wip", "__pycache__"].iter().any(|skipped| name == *skipped);
                if !is_skipped && !name.to_string_lossy().starts_with('.') {
                    folders.push(path);
                }
            } else if is_wanted(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A crate of the workspace.
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// The root files of its library and its programs; not of its tests.
    pub(crate) roots: Vec<PathBuf>,
    /// The folder of its library, if that is not compiled for unit tests: `test = false`.
    pub(crate) without_unit_tests: Option<PathBuf>,
    /// The crates that it depends on, other than for tests.
    pub(crate) dependencies: Vec<String>,
}

/// The crates of the workspace in `root`, in the order of its `Cargo.toml`.
///
/// # Errors
/// If `cargo metadata` fails.
pub(crate) fn members(root: &Path) -> Result<Vec<Member>> {
    let metadata = metadata(root, &["--no-deps"])?;
    Ok(array(&metadata["packages"]).iter().map(member).collect())
}

/// The output of `cargo metadata` with these arguments, as JSON.
///
/// # Errors
/// If it fails.
pub(crate) fn metadata(root: &Path, arguments: &[&str]) -> Result<Value> {
    let always = ["metadata", "--offline", "--format-version=1"];
    Ok(serde_json::from_str(&cargo(root, &[&always, arguments].concat())?)?)
}

/// As [`metadata`], with the dependencies that this machine needs: only these are here without a network.
///
/// # Errors
/// If cargo cannot resolve the dependencies.
pub(crate) fn metadata_of_host(root: &Path) -> Result<Value> {
    let about = cargo(root, &["-vV"])?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    let platform = format!("--filter-platform={}", host.ok_or("`cargo -vV` names no host")?);
    metadata(root, &["--locked", &platform])
}

/// The output of cargo with these arguments.
///
/// # Errors
/// If it fails.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(arguments).current_dir(root).output()?;
    if !output.status.success() {
        return Err(format!("cargo {}: {}", arguments[0], String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn member(package: &Value) -> Member {
    let is_code = |target: &&Value| {
        array(&target["kind"])
            .iter()
            .any(|kind| ["lib", "proc-macro", "bin"].iter().any(|code| kind == code))
    };
    let is_normal = |dependency: &&Value| dependency["kind"].is_null();
    Member {
        name: text(&package["name"]),
        folder: Path::new(&text(&package["manifest_path"]))
            .parent()
            .map(Path::to_owned)
            .unwrap_or_default(),
        roots: array(&package["targets"])
            .iter()
            .filter(is_code)
            .map(|target| text(&target["src_path"]).into())
            .collect(),
        without_unit_tests: array(&package["targets"])
            .iter()
            .find(|target| target["test"] == false && text(&target["src_path"]).ends_with("lib.rs"))
            .and_then(|library| Path::new(&text(&library["src_path"])).parent().map(Path::to_owned)),
        dependencies: array(&package["dependencies"])
            .iter()
            .filter(is_normal)
            .map(|it| text(&it["name"]))
            .collect(),
    }
}

pub(crate) fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
