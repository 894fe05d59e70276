//! What rustc says: every file of `tests/ui` has exactly the messages beside it, from `cargo check`.
//!
//! The folders are codes of diagnostics, or codes of rustc where a message has none of ours; `rustc` has those with
//! neither. Several mistakes share a file where rustc finds all of them. What the macros say alone is in `cases/`: a
//! case is here if rustc's own words are in its message, or to show what rustc underlines, at least once for each code.
//!
//! `TRYBUILD=overwrite cargo test -p ui-tests --test ui` writes the `.stderr` files anew; read each before checking it
//! in.

#[path = "package/rustc.rs"]
mod rustc;

use graph_runtime::Code;
use rustc::is_blessed;
use std::fs;
use std::path::{Path, PathBuf};
use trybuild::TestCases;

/// The folder of all codes.
const ROOT: &str = "tests/ui";
/// The fewest messages that the files have.
const LEAST: usize = 350;

/// All files in one run of `cargo check`.
#[test]
fn messages_of_check() {
    let tests = TestCases::new();
    let same_words = is_blessed();
    for file in files() {
        if same_words || !has_words_of_rustc(&file.with_extension("stderr")) {
            tests.compile_fail(file);
        } else {
            println!("not compared: {}, which has words of another rustc", file.display());
        }
    }
}

#[test]
fn each_code_has_a_file() {
    for code in Code::ALL {
        let folder = Path::new(ROOT).join(code.as_str());
        assert!(folder.is_dir(), "{} is missing", folder.display());
    }
    let files = files();
    let messages = files.iter().map(|file| {
        let text = fs::read_to_string(file.with_extension("stderr")).expect("messages beside each file");
        text.lines().filter(|line| line.starts_with("error")).count()
    });
    let messages: usize = messages.sum();
    assert!(messages >= LEAST, "only {messages} messages were found");
}

/// Whether part of a message comes from rustc rather than from the macros. Every version words such parts anew.
fn has_words_of_rustc(stderr: &Path) -> bool {
    fs::read_to_string(stderr).is_ok_and(|text| text.contains("error[E") || text.contains("lint level"))
}

/// The Rust files of all folders, sorted.
fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in entries(Path::new(ROOT)) {
        let is_rust = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
        let inside: Vec<PathBuf> = entries(&folder).into_iter().filter(is_rust).collect();
        assert!(!inside.is_empty(), "{} has no tests", folder.display());
        files.extend(inside);
    }
    files
}

/// Everything in a folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    paths
}
