//! Compiles every file of `tests/ui`: those of `pass` without a message, all others with exactly the messages beside
//! them.
//!
//! `TRYBUILD=overwrite cargo test -p ui-tests --test ui` writes the `.stderr` files anew; read each before checking it
//! in.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};
use trybuild::TestCases;

/// The folder of all families.
const ROOT: &str = "tests/ui";
/// The family that compiles without a message.
const PASS: &str = "pass";
/// The family whose messages need `cargo build`, which instantiates generic code.
const GENERIC: &str = "generic";
/// The rustc whose own words are in the `.stderr` files that have any.
const BLESSED: &str = "rustc 1.95.";

/// The messages of `cargo check`, all in one run of it.
#[test]
fn messages_of_check() {
    let tests = TestCases::new();
    for family in families() {
        compile_fail(&tests, &family);
    }
}

/// Graphs that compile without a message, and messages that only `cargo build` gives, which trybuild runs if a test is
/// a `pass`.
#[test]
fn right_graphs_and_messages_of_build() {
    let tests = TestCases::new();
    tests.pass(format!("{ROOT}/{PASS}/*.rs"));
    compile_fail(&tests, &Path::new(ROOT).join(GENERIC));
}

/// The folders whose messages `cargo check` reports, sorted.
fn families() -> Vec<PathBuf> {
    let mut families = entries(Path::new(ROOT));
    families.retain(|path| path.is_dir() && ![PASS, GENERIC].iter().any(|other| path.ends_with(other)));
    assert!(families.len() > 20, "{families:?}");
    families
}

/// The files of a family whose messages this compiler can be held to.
fn compile_fail(tests: &TestCases, family: &Path) {
    let same_words = is_blessed();
    for file in files(family) {
        if same_words || !has_words_of_rustc(&file.with_extension("stderr")) {
            tests.compile_fail(file);
        } else {
            println!("not compared: {}, which has words of {BLESSED}x", file.display());
        }
    }
}

/// Whether part of a message comes from rustc rather than from the macros. Every version words such parts anew.
fn has_words_of_rustc(stderr: &Path) -> bool {
    fs::read_to_string(stderr).is_ok_and(|text| text.contains("error[E") || text.contains("lint level"))
}

fn is_blessed() -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().expect("rustc runs");
    output.stdout.starts_with(BLESSED.as_bytes())
}

/// The Rust files of a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = entries(folder);
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    assert!(!files.is_empty(), "{} has no tests", folder.display());
    files
}

/// Everything in a folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    paths
}
