//! The driver in software as CUDA's libraries, and the tests of graph-runtime's CUDA backend with it.

use crate::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The names of CUDA's libraries by which programs load the driver. One file is one library, with one state.
const NAMES: [&str; 3] = ["libcuda.so.1", "libcuda.so", "libcudart.so.12"];

/// The test programs that run with the driver.
const PROGRAMS: [&str; 11] = [
    "statements",
    "memory",
    "control",
    "captures",
    "launching",
    "safety",
    "random",
    "driver",
    "sticky",
    "faults",
    "corpus",
];

/// The tests that are left out, each with the reason.
const SKIPPED: &[(&str, &str)] = &[
    (
        "raw_nodes_are_between_their_neighbours",
        "batches of memory operations are not there",
    ),
    (
        "a_kernel_of_a_module_that_the_emulator_does_not_have",
        "a matrix product of one-bit numbers",
    ),
    ("copies_of_more_than_four_gib", "the device has 4 GiB"),
];

/// Builds the driver into `target/driver`, and runs test programs with it, by default all of [`PROGRAMS`]. What follows
/// `--` is for the tests.
///
/// # Errors
/// If something does not compile, or a test fails.
pub(crate) fn test(root: &Path, words: &[&str]) -> Result<()> {
    let at = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    let (programs, tests) = (&words[..at], words.get(at + 1..).unwrap_or_default());
    let programs = if programs.is_empty() { &PROGRAMS[..] } else { programs };
    let built = || {
        let mut command = cargo(root);
        // With the features that `cargo test --workspace` compiles, so that nothing is compiled again.
        command.args(["test", "--no-fail-fast", "--workspace"]);
        command.args(programs.iter().flat_map(|program| ["--test", *program]));
        command
    };
    run(built().arg("--no-run"))?;
    let folder = link(root)?;
    let mut command = built();
    command
        .args(["--", "--include-ignored"])
        .args(SKIPPED.iter().flat_map(|(test, _)| ["--skip", *test]))
        .args(tests);
    command
        .env("LD_LIBRARY_PATH", &folder)
        .env("CUDA_GRAPH_TEST_DEVICE", "cuda");
    command.env("CUDA_GRAPH_TEST_DRIVER", &folder);
    run(&mut command)
}

/// Gives the driver, which the tests of graph-runtime depend on, the names of CUDA's libraries in a folder of its own,
/// which is returned.
fn link(root: &Path) -> Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let (folder, library) = (target.join("driver"), target.join("debug/deps/libcuda_graph_driver.so"));
    fs::create_dir_all(&folder)?;
    for name in NAMES {
        let link = folder.join(name);
        let _ = fs::remove_file(&link);
        fs::hard_link(&library, &link)?;
    }
    Ok(folder)
}

fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

fn run(command: &mut Command) -> Result<()> {
    match command.status()?.success() {
        true => Ok(()),
        false => Err(format!("{command:?} failed").into()),
    }
}
