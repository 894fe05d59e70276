//! `cargo xtask`: what a maintainer does now and then. Nothing here is needed to build, test or use the workspace.
//!
//! * `ptx` ([`ptx`]): compile every `.cu` to the `.ptx` beside it, or check that they agree.
//! * `ptxas` ([`ptx`]): assemble every `.ptx`, to know that a GPU will take it.
//! * `gpu` ([`gpu`]): build what a machine with a GPU, and without Rust, needs to run tests, examples and benchmarks.
//!
//! [`wheels`] fetches NVIDIA's tools from PyPI, [`nvrtc`] calls the compiler among them.

mod gpu;
mod nvrtc;
mod ptx;
mod wheels;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What every command returns: errors here are only ever shown, so a message is all that is kept of them.
type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

const USAGE: &str = "\
usage: cargo xtask <command>

  ptx [--check]      compile every .cu to the .ptx beside it with NVRTC 12.4;
                     with --check write nothing and fail where a .ptx differs
  ptxas              assemble every .ptx with ptxas 12.4, for its own .target
  gpu [--only KIND]  build what a machine with a GPU needs into .gpu/;
                     KIND is tests, delays, examples, sanitizer or bench

They fetch their pinned NVIDIA wheels from PyPI into .wheels/ the first time (Linux x86-64 and Python needed).";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[&str]) -> Result<()> {
    let root = workspace_root()?;
    match arguments {
        ["ptx"] => ptx::regenerate(&root),
        ["ptx", "--check"] => ptx::check(&root),
        ["ptxas"] => ptx::assemble(&root),
        ["gpu"] => gpu::build(&root, None),
        ["gpu", "--only", kind] => gpu::build(&root, Some(kind.parse()?)),
        [] | ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(format!("unknown arguments `{}`\n\n{USAGE}", arguments.join(" ")).into()),
    }
}

/// The folder that holds the workspace's `Cargo.toml`: the parent of this crate's.
///
/// Cargo sets `CARGO_MANIFEST_DIR` for what it runs; the value from compile time serves when the binary is started
/// by hand.
fn workspace_root() -> Result<PathBuf> {
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
fn relative<'a>(root: &Path, path: &'a Path) -> std::path::Display<'a> {
    path.strip_prefix(root).unwrap_or(path).display()
}
