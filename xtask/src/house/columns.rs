//! Comments and Markdown end at column 120. Tables, code blocks, and lines that cannot be broken may be longer.

use crate::{Result, workspace};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The last column that a comment or a line of Markdown may reach.
pub(super) const MAX_COLUMNS: usize = 120;

/// The files of the workspace in `root` that the rule is about: not the snapshots of expansions.
///
/// # Errors
/// If a folder cannot be read.
pub(super) fn files(root: &Path) -> Result<Vec<PathBuf>> {
    workspace::files(root, |path| {
        Language::of(path).is_some() && !path.iter().any(|folder| folder == "expansions")
    })
}

/// The numbers of the lines of `text` that are too long, by the rules of the language that `path` ends in.
pub(super) fn wide(path: &Path, text: &str) -> Vec<usize> {
    let is_long = |line: &str| line.chars().count() > MAX_COLUMNS;
    if !text.lines().any(is_long) {
        return Vec::new();
    }
    let prose = match Language::of(path) {
        Some(Language::Markdown) => text
            .lines()
            .enumerate()
            .map(|(at, line)| (at, line.to_owned()))
            .collect(),
        Some(Language::Slashes) => comments(text),
        Some(Language::Hashes) => text
            .lines()
            .enumerate()
            .filter_map(|(at, line)| Some((at, line.trim_start().strip_prefix('#')?.to_owned())))
            .collect(),
        None => return Vec::new(),
    };
    let lines: Vec<&str> = text.lines().collect();
    let mut wide = Vec::new();
    let (mut in_code, mut before) = (false, None);
    for (at, prose) in prose {
        in_code &= before.is_some_and(|before: usize| before + 1 == at);
        before = Some(at);
        let prose = prose.trim();
        if prose.starts_with("```") {
            in_code = !in_code;
        } else if !in_code && is_long(lines[at]) && can_be_broken(prose) {
            wide.push(at + 1);
        }
    }
    wide
}

/// Whether a line can be broken: it is not of a table, no link's definition, and not a single word.
fn can_be_broken(prose: &str) -> bool {
    let is_definition = prose.starts_with('[') && prose.contains("]: ");
    !prose.starts_with('|') && !is_definition && prose.split_whitespace().nth(1).is_some()
}

enum Language {
    /// Rust, CUDA, C++.
    Slashes,
    /// TOML, shell, Python.
    Hashes,
    Markdown,
}

impl Language {
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "rs" | "cu" | "cuh" | "h" | "cpp" => Some(Self::Slashes),
            "toml" | "sh" | "py" => Some(Self::Hashes),
            "md" => Some(Self::Markdown),
            _ => None,
        }
    }
}

/// The lines of `source`, counted from 0, that hold a comment or a `#[doc = ".."]`, each with its text.
fn comments(source: &str) -> Vec<(usize, String)> {
    let mut found: BTreeMap<usize, String> = BTreeMap::new();
    let mut rest = source;
    let mut line = 0;
    while let Some(first) = rest.chars().next() {
        let (token, is_comment) = token(rest, first);
        let (text, after) = rest.split_at(token);
        if is_comment {
            for (below, text) in text.lines().enumerate() {
                let text = text.trim_start().trim_start_matches(['/', '!', '*']).trim_start();
                found.entry(line + below).or_default().push_str(text);
            }
        }
        line += text.matches('\n').count();
        rest = after;
    }
    for (at, line) in source.lines().enumerate() {
        if let Some((_, text)) = line.split_once("#[doc = \"") {
            found.entry(at).or_default().push_str(text);
        }
    }
    found.into_iter().collect()
}

/// The length of the token at the front of `rest`, whose first character is `first`, and whether it is a comment. A
/// token is a comment, a literal, a name, or one character.
fn token(rest: &str, first: char) -> (usize, bool) {
    let until = |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len());
    if rest.starts_with("//") {
        return (rest.find('\n').unwrap_or(rest.len()), true);
    }
    if rest.starts_with("/*") {
        return (until("*/", 2), true);
    }
    if first.is_alphanumeric() || first == '_' {
        let name = rest
            .find(|next: char| !next.is_alphanumeric() && next != '_')
            .unwrap_or(rest.len());
        let hashes = rest[name..].bytes().take_while(|&byte| byte == b'#').count();
        // A raw string: it ends at a quote and as many `#`.
        if matches!(&rest[..name], "r" | "br" | "cr") && rest[name + hashes..].starts_with('"') {
            return (until(&format!("\"{}", "#".repeat(hashes)), name + hashes + 1), false);
        }
        return (name, false);
    }
    match first {
        '"' => (quoted(rest, '"'), false),
        // A character, unless it is a lifetime.
        '\'' if rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'') => (quoted(rest, '\''), false),
        _ => (first.len_utf8(), false),
    }
}

/// The length of the literal at the front of `rest` that begins and ends with `quote`.
fn quoted(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, next) in rest.char_indices().skip(1) {
        match next {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if next == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}
