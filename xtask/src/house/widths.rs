//! The width of arrows: the names that a room takes from another one. A room is a top-level module of a crate.
//! `widths.txt` has the names of every arrow. A width may shrink, but not grow, and no arrow may be new.
//!
//! The names that expansions of the macros take from graph-runtime's hidden module `private` are an arrow, too.

use super::arrows::Arrow;
use super::source::{ModuleId, ROOT, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The file of the table, from the root of the workspace.
pub(super) const TABLE: &str = "xtask/src/house/widths.txt";

const HEAD: &str = "\
# The names that a room, a top-level module of a crate, takes from another room. `cargo xtask house` fails if an arrow
# has more names than here, or is not here. `cargo xtask house --write` writes this table.
";

/// The module whose names are the protocol between the macros and the runtime.
const PROTOCOL: &str = "private";

/// The names of each arrow, such as `graph-runtime: graph -> memory`.
pub(super) type Widths = BTreeMap<String, BTreeSet<String>>;

/// The arrows between the rooms of a crate, with their names.
pub(super) fn widths(name: &str, source: &Source, arrows: &[Arrow]) -> Widths {
    let room = |module: ModuleId| Some(&*source.modules[*source.line(module).get(1)?].name);
    let mut widths = Widths::new();
    for arrow in arrows {
        let (Some(from), Some(to), Some(item)) = (room(arrow.from), room(arrow.to), &arrow.item) else {
            continue;
        };
        if from != to {
            let names = widths.entry(format!("{name}: {from} -> {to}")).or_default();
            names.insert(item.clone());
        }
    }
    let root = &source.modules[ROOT];
    if let Some(&protocol) = root
        .children
        .iter()
        .find(|&&child| source.modules[child].name == PROTOCOL)
    {
        widths.insert(format!("{name}: macros -> {PROTOCOL}"), imports(source, protocol));
    }
    widths
}

/// The names that a module, and the modules in it, import.
fn imports(source: &Source, module: ModuleId) -> BTreeSet<String> {
    let inside = &source.modules[module];
    let own = inside.imports.keys().cloned();
    let nested = inside.children.iter().flat_map(|&child| imports(source, child));
    own.chain(nested).collect()
}

/// A message for each arrow that has more names than in the table, with those that are new.
pub(super) fn grown(now: &Widths, table: &Widths) -> Vec<String> {
    let none = BTreeSet::new();
    let arrows = now
        .iter()
        .map(|(arrow, names)| (arrow, names, table.get(arrow).unwrap_or(&none)));
    let grown = arrows.filter(|(_, names, before)| names.len() > before.len());
    grown
        .map(|(arrow, names, before)| {
            let new: Vec<&str> = names.difference(before).map(String::as_str).collect();
            let (now, before) = (names.len(), before.len());
            format!("{arrow}: {now} names, but {before} in {TABLE}; new: {}", new.join(", "))
        })
        .collect()
}

/// The table as text: a line for each arrow, with the number of its names.
pub(super) fn to_text(widths: &Widths) -> String {
    let mut text = HEAD.to_owned();
    for (arrow, names) in widths {
        let list: Vec<&str> = names.iter().map(String::as_str).collect();
        let _ = writeln!(text, "{arrow} = {}: {}", names.len(), list.join(" "));
    }
    text
}

/// Reads a table. Its numbers are for readers; the names count.
pub(super) fn parse(text: &str) -> Widths {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let parts = lines.filter_map(|line| {
        let (arrow, names) = line.split_once(" = ")?;
        let (_, names) = names.split_once(':')?;
        Some((arrow.to_owned(), names.split_whitespace().map(str::to_owned).collect()))
    });
    parts.collect()
}
