//! The commands that the pages, the messages and the helps of this repository print.

use std::fs;
use std::path::{Path, PathBuf};

/// The programs that a command in the middle of a text begins with.
const PROGRAMS: [&str; 5] = ["cargo ", "rustup ", "pip ", "bash ", "python3 "];
/// The folders whose Rust code has messages.
const SOURCES: [&str; 6] = [
    "cargo-cuda-graph",
    "cuda-graph-build",
    "examples",
    "graph-macros",
    "graph-runtime",
    "xtask",
];

/// A command, as it is printed.
#[derive(Debug)]
pub(crate) struct Printed {
    pub(crate) file: PathBuf,
    pub(crate) command: String,
    /// Whether it is a line of a block of commands, which a reader runs one after the other.
    pub(crate) is_in_block: bool,
}

/// Returns all commands that the repository in `root` prints, in the order of each file.
pub(crate) fn commands(root: &Path) -> Vec<Printed> {
    let mut commands = Vec::new();
    for file in files(root) {
        let text = fs::read_to_string(&file).unwrap();
        let is_page = file.extension().is_some_and(|extension| extension == "md");
        let is_code = file.extension().is_some_and(|extension| extension == "rs");
        let mut add = |command: &str, is_in_block| {
            let words: Vec<&str> = command.split_whitespace().collect();
            commands.push(Printed {
                file: file.clone(),
                command: words.join(" "),
                is_in_block,
            });
        };
        if is_page {
            // Parts with an odd number are blocks.
            for (number, part) in text.split("```").enumerate() {
                match part.strip_prefix("sh\n") {
                    Some(block) if number % 2 == 1 => {
                        let block = block.replace("\\\n", " ");
                        let lines = block.lines().map(|line| line.split(" #").next().unwrap().trim());
                        lines.filter(|line| !line.is_empty()).for_each(|line| add(line, true));
                    }
                    _ if number % 2 == 0 => spans(part).for_each(|span| add(span, false)),
                    _ => {}
                }
            }
        } else {
            let text = if is_code { literals(&text) } else { text };
            text.lines().flat_map(spans).for_each(|span| add(span, false));
        }
    }
    commands
}

/// The commands in backquotes.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter(|span| is_command(span))
}

/// Whether a text is a command: one of the programs with a word after it, perhaps after variables of the environment.
fn is_command(text: &str) -> bool {
    let mut rest = text.trim_start();
    while let Some((word, after)) = rest.split_once(' ')
        && word.contains('=')
    {
        rest = after;
    }
    PROGRAMS
        .iter()
        .any(|program| rest.replace('\n', " ").starts_with(program))
}

/// Rust code without comments and the breaks of its literals. In place of what messages insert, there are examples.
fn literals(code: &str) -> String {
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut parts = text.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    let text = parts.fold(first, |text, part| text + part.trim_start());
    let text = text.replace("{name}", "ptx").replace("<command>", "ptx");
    let mut parts = text.split("{}");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let example = if text.ends_with(' ') { "x.cu" } else { "" };
        text + example + part
    })
}

/// The pages, the messages of the macros as tests have them, and the Rust code that prints others.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut take = |folder: PathBuf, extensions: &[&str]| collect(&folder, extensions, &mut found);
    take(root.to_owned(), &["md"]);
    for package in root.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
        if package.join("Cargo.toml").exists() {
            take(package, &["md"]);
        }
    }
    take(root.join("examples/data"), &["md"]);
    take(root.join("ui-tests/cases"), &["txt"]);
    for folder in root.join("ui-tests/tests/ui").read_dir().unwrap() {
        take(folder.unwrap().path(), &["stderr"]);
    }
    let mut folders: Vec<PathBuf> = SOURCES.iter().map(|name| root.join(name).join("src")).collect();
    while let Some(folder) = folders.pop() {
        let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
        folders.extend(entries.filter(|path| path.is_dir()));
        take(folder, &["rs"]);
    }
    found.sort();
    found
}

fn collect(folder: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    let files = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    found.extend(files.filter(|file| {
        let extension = file.extension().and_then(|extension| extension.to_str());
        file.is_file() && extension.is_some_and(|extension| extensions.contains(&extension))
    }));
}
