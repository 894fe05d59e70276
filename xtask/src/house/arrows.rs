//! The rule of rooms: a module uses only modules that are below it in the order of `mod` lines, and no modules use each
//! other in a circle.
//!
//! Files of a folder follow the rule among themselves. The folder's own file calls its children. The children may use
//! the types, constants and macros that it defines, but not its functions. A name that is re-exported belongs to the
//! module that defines it.

use super::resolve::Target;
use super::source::{Form, Kind, ModuleId, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A use of one module by another.
#[derive(Clone, Debug)]
pub(super) struct Arrow {
    pub(super) from: ModuleId,
    pub(super) to: ModuleId,
    /// The path as it is written.
    pub(super) name: String,
    /// The path of the item that it names, from the crate's root; `None` for a module.
    pub(super) item: Option<String>,
    pub(super) line: usize,
    kind: Option<Kind>,
    is_glob: bool,
}

/// Two siblings that are tied by an arrow: the folder that declares them, and where they are among its children.
struct Siblings {
    folder: ModuleId,
    from: usize,
    to: usize,
}

/// The arrows between siblings, of one folder: for each pair of its children that are tied, one arrow.
type Ties<'a> = BTreeMap<(usize, usize), Vec<&'a Arrow>>;

/// Every use of a module of this crate by another; one for each name that it uses.
pub(super) fn arrows(source: &Source) -> Vec<Arrow> {
    let mut arrows = Vec::new();
    let mut seen = BTreeSet::new();
    for (id, module) in source.modules.iter().enumerate() {
        for used in &module.uses {
            for target in source.targets(id, used) {
                let (from, to) = (module.owner, source.modules[target.module()].owner);
                let (kind, item) = match &target {
                    Target::Module(_) => (None, None),
                    Target::Item(module, name, kind) => (Some(*kind), Some(source.item_path(*module, name))),
                };
                let is_glob = used.form == Form::Glob && kind.is_none();
                if from != to && seen.insert((from, target)) {
                    arrows.push(Arrow {
                        from,
                        to,
                        name: used.path.join("::"),
                        item,
                        line: used.line,
                        kind,
                        is_glob,
                    });
                }
            }
        }
    }
    arrows
}

/// The arrows that run up, each as a message, in groups by the two modules that they tie.
pub(super) fn rising(source: &Source, arrows: &[Arrow]) -> Vec<(String, String)> {
    arrows.iter().filter_map(|arrow| rise(source, arrow)).collect()
}

/// The two rooms that `arrow` ties, and a message, if it runs up.
fn rise(source: &Source, arrow: &Arrow) -> Option<(String, String)> {
    let file = |module: ModuleId| &source.modules[module].file;
    let written = format!(
        "{}:{}: `{}` is in {}",
        file(arrow.from),
        arrow.line,
        arrow.name,
        file(arrow.to)
    );
    let Some(siblings) = siblings(source, arrow) else {
        let to_parent = source.line(arrow.from).contains(&arrow.to);
        let why = if to_parent && arrow.is_glob {
            "a glob import does not tell which names it takes"
        } else if to_parent && arrow.kind == Some(Kind::Function) {
            "a file calls no function of its folder's own file"
        } else {
            return None;
        };
        let group = format!("{} -> {}", source.path(arrow.from), source.path(arrow.to));
        return Some((group, format!("{written}; {why}")));
    };
    let folder = &source.modules[siblings.folder];
    let name = |child: usize| &source.modules[folder.children[child]].name;
    let group = format!(
        "{} -> {}",
        source.path(folder.children[siblings.from]),
        name(siblings.to)
    );
    let why = if siblings.to < siblings.from {
        format!(
            "`{}` is above `{}` in {}",
            name(siblings.to),
            name(siblings.from),
            folder.file
        )
    } else if arrow.is_glob {
        "a glob import does not tell which names it takes".to_owned()
    } else {
        return None;
    };
    Some((group, format!("{written}; {why}")))
}

/// The circles, each as a message with the files on one way round and the names that tie them.
pub(super) fn circles(source: &Source, arrows: &[Arrow]) -> Vec<String> {
    let mut messages = Vec::new();
    for (folder, ties) in by_folder(source, arrows) {
        let count = source.modules[folder].children.len();
        let mut left: Vec<usize> = (0..count).collect();
        while let Some(start) = left.pop() {
            let below = reached(&ties, start);
            let circle: Vec<usize> = left
                .iter()
                .copied()
                .filter(|other| below.contains(other) && reached(&ties, *other).contains(&start))
                .collect();
            if circle.is_empty() {
                continue;
            }
            left.retain(|other| !circle.contains(other));
            messages.push(describe(source, folder, &ties, start, circle.len() + 1));
        }
    }
    messages
}

/// The siblings that `arrow` runs between; `None` if it runs between a module and its ancestor.
fn siblings(source: &Source, arrow: &Arrow) -> Option<Siblings> {
    let (from, to) = (source.line(arrow.from), source.line(arrow.to));
    let common = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
    let (&from, &to) = (from.get(common)?, to.get(common)?);
    let folder = source.modules[from].parent?;
    let place = |child| source.modules[folder].children.iter().position(|&other| other == child);
    Some(Siblings {
        folder,
        from: place(from)?,
        to: place(to)?,
    })
}

fn by_folder<'a>(source: &Source, arrows: &'a [Arrow]) -> BTreeMap<ModuleId, Ties<'a>> {
    let mut folders: BTreeMap<ModuleId, Ties<'_>> = BTreeMap::new();
    for arrow in arrows {
        if let Some(Siblings { folder, from, to }) = siblings(source, arrow) {
            folders
                .entry(folder)
                .or_default()
                .entry((from, to))
                .or_default()
                .push(arrow);
        }
    }
    folders
}

/// The children that `start` uses, by one tie or more.
fn reached(ties: &Ties<'_>, start: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut next = vec![start];
    while let Some(at) = next.pop() {
        next.extend(
            ties.keys()
                .filter(|(from, _)| *from == at)
                .map(|&(_, to)| to)
                .filter(|&to| reached.insert(to)),
        );
    }
    reached
}

/// A message about the circle of `size` modules that `start` is one of.
fn describe(source: &Source, folder: ModuleId, ties: &Ties<'_>, start: usize, size: usize) -> String {
    // The shortest way from `start` back to it: breadth first, with the tie by which each module was reached.
    let mut came: BTreeMap<usize, usize> = BTreeMap::new();
    let mut next = vec![start];
    let mut at = 0;
    while at < next.len() && !came.contains_key(&start) {
        let here = next[at];
        for &(from, to) in ties.keys().filter(|(from, _)| *from == here) {
            came.entry(to).or_insert_with(|| {
                next.push(to);
                from
            });
        }
        at += 1;
    }
    let mut way = vec![start];
    while way.len() == 1 || way.last() != Some(&start) {
        let last = way[way.len() - 1];
        way.push(came[&last]);
    }
    way.reverse();
    let file = |module: ModuleId| &source.modules[module].file;
    let mut text = format!("{}: {size} modules use each other in a circle:", file(folder));
    for pair in way.windows(2) {
        let arrow = ties[&(pair[0], pair[1])][0];
        let _ = write!(
            text,
            "\n      {}:{} -> {}: `{}`",
            file(arrow.from),
            arrow.line,
            file(arrow.to),
            arrow.name
        );
    }
    text
}
