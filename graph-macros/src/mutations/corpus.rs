//! The macro calls in the workspace's files.

use super::tree::{Tree, tokens, trees};
use crate::calls;
use proc_macro2::TokenStream;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// The input of a macro call.
#[derive(Clone)]
pub(super) enum Call {
    /// `cuda_graph! { input }`
    Graph(Vec<Tree>),
    /// `#[cuda_kernels(attribute)] item`
    Kernels { attribute: Vec<Tree>, item: Vec<Tree> },
}

impl Call {
    /// The lists of tokens that it consists of.
    pub(super) fn lists(&mut self) -> Vec<&mut Vec<Tree>> {
        match self {
            Call::Graph(input) => vec![input],
            Call::Kernels { attribute, item } => vec![attribute, item],
        }
    }
}

impl From<calls::Call> for Call {
    fn from(call: calls::Call) -> Self {
        match call {
            calls::Call::Graph(input) => Call::Graph(trees(input)),
            calls::Call::Kernels { attribute, item } => Call::Kernels {
                attribute: trees(attribute),
                item: trees(item),
            },
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Call::Graph(input) => write!(out, "cuda_graph! {{ {} }}", tokens(input)),
            Call::Kernels { attribute, item } => {
                write!(out, "#[cuda_kernels({})] {}", tokens(attribute), tokens(item))
            }
        }
    }
}

/// All calls, in an order that stays the same as long as the files do.
pub(super) fn calls() -> Vec<Call> {
    let root = calls::root();
    let mut files = Vec::new();
    for folder in [
        "ui-tests",
        "docs",
        "examples",
        "graph-runtime",
        "graph-macros",
        "README.md",
    ] {
        collect(&root.join(folder), &mut files);
    }
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let texts = match kind(&file) {
            "md" => samples(&text),
            "txt" => text.split("\n----\n").map(program).collect(),
            _ => vec![text],
        };
        for text in texts {
            if let Ok(stream) = text.parse::<TokenStream>() {
                let calls = calls::calls(stream, file.parent().unwrap_or(&root));
                found.extend(calls.into_iter().map(Call::from));
            }
        }
    }
    found
}

/// The Rust files, Markdown pages and tables of cases in a folder.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name() != "target") {
            collect(&entry.path(), files);
        }
    } else if ["rs", "md", "txt"].contains(&kind(path)) {
        files.push(path.to_owned());
    }
}

/// The extension of a file.
fn kind(path: &Path) -> &str {
    path.extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default()
}

/// The program at the end of this part of a table of cases: what follows the last heading.
fn program(part: &str) -> String {
    let (_, case) = part.rsplit_once("## ").unwrap_or_default();
    case.lines().skip(1).map(|line| line.to_owned() + "\n").collect()
}

/// The fenced blocks of a Markdown page.
fn samples(page: &str) -> Vec<String> {
    let blocks = page.split("\n```").skip(1).step_by(2);
    blocks
        .map(|block| {
            block
                .lines()
                .skip(1)
                .map(|line| line.trim_start_matches("# ").to_owned() + "\n")
                .collect()
        })
        .collect()
}
