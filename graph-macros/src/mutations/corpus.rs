//! The macro calls in the workspace's files.

use super::tree::{Tree, tokens, trees};
use proc_macro2::{Delimiter, Literal, TokenStream, TokenTree};
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
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
        let texts = match file.extension().is_some_and(|extension| extension == "md") {
            true => samples(&text),
            false => vec![text],
        };
        for text in texts {
            if let Ok(stream) = text.parse::<TokenStream>() {
                find(&trees(stream), file.parent().unwrap_or(&root), &mut found);
            }
        }
    }
    found
}

/// The Rust files and Markdown pages in a folder.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name() != "target") {
            collect(&entry.path(), files);
        }
    } else if path
        .extension()
        .is_some_and(|extension| extension == "rs" || extension == "md")
    {
        files.push(path.to_owned());
    }
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

/// Adds the macro calls among the tokens, and in groups of them.
fn find(tokens: &[Tree], folder: &Path, found: &mut Vec<Call>) {
    for (index, tree) in tokens.iter().enumerate() {
        let Tree::Group(_, inside) = tree else { continue };
        let before = &tokens[..index];
        if matches!(before, [.., name, mark] if name.is("cuda_graph") && mark.is("!")) {
            found.push(Call::Graph(inside.clone()));
        } else if before.last().is_some_and(|hash| hash.is("#"))
            && let [name, arguments @ ..] = &inside[..]
            && name.is("cuda_kernels")
            && let Some(end) = tokens[index..].iter().position(Tree::is_block)
        {
            let attribute = match arguments {
                [Tree::Group(_, attribute)] => absolute(attribute, folder),
                _ => arguments.to_vec(),
            };
            let item = tokens[index + 1..=index + end].to_vec();
            found.push(Call::Kernels { attribute, item });
        }
        find(inside, folder, found);
    }
}

/// The attribute with the path of an existing file made absolute: it is relative to a crate's folder.
fn absolute(attribute: &[Tree], folder: &Path) -> Vec<Tree> {
    let existing = |literal: &Literal| {
        let text = literal.to_string();
        let path = text.trim_matches('"').trim_start_matches("../");
        let folders = folder.ancestors();
        let found = folders.map(|folder| folder.join(path)).find(|file| file.is_file())?;
        Some(Literal::string(&found.display().to_string()))
    };
    let tree = |tree: &Tree| match tree {
        Tree::Token(TokenTree::Literal(literal)) => match existing(literal) {
            Some(path) => Tree::Token(TokenTree::Literal(path)),
            None => tree.clone(),
        },
        other => other.clone(),
    };
    attribute.iter().map(tree).collect()
}

impl Tree {
    /// Whether it is a token of this text.
    fn is(&self, text: &str) -> bool {
        matches!(self, Tree::Token(token) if token.to_string() == text)
    }

    fn is_block(&self) -> bool {
        matches!(self, Tree::Group(Delimiter::Brace, _))
    }
}
