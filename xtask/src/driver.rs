//! The driver in software as CUDA's libraries, and the tests of graph-runtime's CUDA backend with it.

use crate::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The names of CUDA's libraries by which programs load the driver. One file is one library, with one state.
const NAMES: [&str; 4] = ["libcuda.so.1", "libcuda.so", "libcudart.so.12", "libnccl.so.2"];

/// The test programs that run with the driver.
pub(crate) const PROGRAMS: [&str; 12] = [
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
    RANKS,
];

/// The test program that has several devices, so many. It runs once more with NCCL.
const RANKS: &str = "ranks";
const DEVICES: &str = "3";
const BY_NCCL: (&str, &str) = ("CUDA_GRAPH_TEST_TRANSPORT", "nccl");

/// The test programs of graph-runtime that are not among them, each with the reason.
#[cfg(test)]
const OTHERS: [(&str, &str); 1] = [("fault_injection", "it starts processes with the driver itself")];

/// The tests that are left out, each with the reason.
const SKIPPED: &[(&str, &str)] = &[
    (
        "a_kernel_of_a_module_that_the_emulator_does_not_have",
        "a matrix product of one-bit numbers",
    ),
    (
        "copies_of_more_than_four_gib_and_of_more_than_a_pitch",
        "the device has 4 GiB",
    ),
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
    let built = |programs: &[&str]| {
        let mut command = cargo(root);
        // With the features that `cargo test --workspace` compiles, so that nothing is compiled again.
        command.args(["test", "--no-fail-fast", "--workspace"]);
        command.args(programs.iter().flat_map(|program| ["--test", *program]));
        command
    };
    run(built(programs).arg("--no-run"))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let tested = |programs: &[&str], devices: &str, more: &[(&str, &str)]| {
        let mut command = built(programs);
        with(command.arg("--"), &target.join("driver"), &target.join("debug"))?;
        let command = command.args(tests).envs(more.iter().copied());
        run(command.env("CUDA_GRAPH_DRIVER_DEVICES", devices))
    };
    let (several, one): (Vec<&str>, Vec<&str>) = programs.iter().partition(|program| **program == RANKS);
    if !one.is_empty() {
        tested(&one, "1", &[])?;
    }
    if !several.is_empty() {
        tested(&several, DEVICES, &[])?;
        tested(&several, DEVICES, &[BY_NCCL])?;
    }
    Ok(())
}

/// Lets a command, which ends with `--` and runs test programs, run them with the driver: it gets its variables and the
/// options of tests. The driver, which the tests of graph-runtime depend on, was compiled with them into a folder, and
/// is given the names of CUDA's libraries in another one.
///
/// # Errors
/// If the driver is not there.
pub(crate) fn with<'a>(command: &'a mut Command, folder: &Path, compiled: &Path) -> Result<&'a mut Command> {
    fs::create_dir_all(folder)?;
    for name in NAMES {
        let link = folder.join(name);
        let _ = fs::remove_file(&link);
        fs::hard_link(compiled.join("deps/libcuda_graph_driver.so"), &link)?;
    }
    command
        .arg("--include-ignored")
        .args(SKIPPED.iter().flat_map(|(test, _)| ["--skip", *test]))
        .env("LD_LIBRARY_PATH", folder)
        .env("CUDA_GRAPH_TEST_DEVICE", "cuda")
        .env("CUDA_GRAPH_TEST_DRIVER", folder);
    Ok(command)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;
    use std::collections::BTreeSet;

    /// The words of a text that follow one of these and name a call of the driver.
    fn calls(text: &str, before: &[&str]) -> BTreeSet<String> {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let pairs = words.windows(2).filter(|pair| before.contains(&pair[0]));
        let is_call = |name: &&str| {
            name.strip_prefix("cu")
                .is_some_and(|rest| rest.starts_with(char::is_uppercase))
        };
        let names = pairs.map(|pair| pair[1]).filter(is_call);
        names.map(str::to_owned).collect()
    }

    /// Tests that are left out exist, and the page names them.
    #[test]
    fn all_test_programs_run_with_the_driver_but_those_of_the_page() {
        let tests = workspace::root().expect("the workspace").join("graph-runtime/tests");
        let page = fs::read_to_string(tests.join("../../docs/driver.md")).expect("the page");
        let others: Vec<&str> = OTHERS.iter().map(|(program, _)| *program).collect();
        let mut programs: Vec<&str> = [&PROGRAMS[..], &others].concat();
        programs.sort_unstable();
        let mut found = Vec::new();
        let mut sources = String::new();
        for entry in tests.read_dir().expect("a folder") {
            let path = entry.expect("a file").path();
            if path.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
                sources += &fs::read_to_string(&path).expect("a source");
            } else if path.join("main.rs").exists() {
                for entry in path.read_dir().expect("a folder").flatten() {
                    sources += &fs::read_to_string(entry.path()).unwrap_or_default();
                }
            } else {
                continue;
            }
            found.push(path.file_stem().expect("a name").to_string_lossy().into_owned());
        }
        found.sort_unstable();
        assert_eq!(found, programs);
        for name in others {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
        for (test, _) in SKIPPED {
            assert!(sources.contains(&format!("fn {test}()")), "no test `{test}`");
            assert!(page.contains(&format!("| `{test}` |")), "{test}");
        }
    }

    #[test]
    fn the_page_lists_the_calls_that_are_not_there() {
        let root = workspace::root().expect("the workspace");
        let metadata = workspace::metadata_of_host(&root).expect("cargo runs");
        let packages = metadata["packages"].as_array().expect("packages");
        let cudarc = packages
            .iter()
            .find(|package| package["name"] == "cudarc")
            .expect("cudarc");
        let manifest = Path::new(cudarc["manifest_path"].as_str().expect("a path"));
        let bindings = fs::read_to_string(manifest.with_file_name("src/driver/sys/mod.rs")).expect("the bindings");
        let bound = calls(&bindings, &["fn"]);
        let mut there = BTreeSet::new();
        for entry in root.join("cuda-graph-driver/src/calls").read_dir().expect("a folder") {
            let text = fs::read_to_string(entry.expect("a file").path()).expect("a source");
            there.append(&mut calls(&text, &["Nothing", "Context", "NoCapture", "AnyContext"]));
        }
        let page = fs::read_to_string(root.join("docs/driver.md")).expect("the page");
        let (_, table) = page.split_once("| what | calls |").expect("a table");
        let table = table.split("\n\n").next().expect("its rows");
        let listed: Vec<&str> = table.split('`').filter(|word| word.starts_with("cu")).collect();
        let is_listed = |call: &str| {
            let is_it = |word: &&str| match word.strip_suffix('*') {
                Some(beginning) => call.starts_with(beginning),
                None => call == *word,
            };
            listed.iter().any(is_it)
        };
        assert!(
            bound.len() > 500 && there.len() > 200,
            "{} and {}",
            bound.len(),
            there.len()
        );
        let wrong: Vec<&String> = bound
            .iter()
            .filter(|call| is_listed(call) == there.contains(*call))
            .collect();
        assert_eq!(wrong, [""; 0], "missing and not listed, or listed and there");
    }
}
