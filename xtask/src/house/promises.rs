//! The promises of `docs/architecture.md` about what crates and modules may name, besides the order of modules.

use super::source::{Module, ROOT, Source};
use crate::workspace::Member;
use std::path::Path;

/// The crates of the workspace, and those among them that each may depend on.
const CRATES: &[(&str, &[&str])] = &[
    ("graph-plan", &[]),
    ("graph-ptx", &[]),
    ("graph-emulator", &["graph-ptx"]),
    ("cuda-graph-driver", &["graph-emulator"]),
    ("graph-macros", &["graph-plan", "graph-ptx"]),
    (
        "graph-runtime",
        &["graph-plan", "graph-ptx", "graph-emulator", "graph-macros"],
    ),
    ("cuda-graph-build", &["graph-ptx"]),
    ("cargo-cuda-graph", &["cuda-graph-build", "graph-ptx", "graph-emulator"]),
];

/// Crates of others that only some crates may depend on.
const RESERVED: &[(&str, &[&str])] = &[
    ("syn", &["graph-macros", "xtask"]),
    ("quote", &["graph-macros", "xtask"]),
    ("proc-macro2", &["graph-macros", "xtask"]),
    ("cudarc", &["graph-runtime", "examples"]),
];

/// The number of modules with files of their own that the root of graph-runtime may have.
const MAX_ROOMS: usize = 15;

/// A promise that some names appear only in one folder of graph-runtime's root.
struct Reserved {
    is_named: fn(&[String]) -> bool,
    /// The folders that may use them.
    folders: &'static [&'static str],
    text: &'static str,
}

const RESERVED_NAMES: &[Reserved] = &[
    Reserved {
        is_named: |path| path.iter().any(|name| is_driver_call(name)),
        folders: &["driver"],
        text: "only `driver` calls the driver and NVRTC",
    },
    Reserved {
        is_named: |path| path.iter().any(|name| name == "graph_emulator"),
        folders: &["backend", "devices"],
        text: "only `backend` and `devices` name the emulator",
    },
    Reserved {
        is_named: |path| {
            path.windows(2)
                .any(|pair| pair[0] == "backend" && (pair[1] == "cuda" || pair[1] == "emulator"))
        },
        folders: &["backend"],
        text: "only `backend` knows that there are two backends",
    },
];

/// The promises that the dependencies of a crate break.
pub(super) fn of_dependencies(member: &Member) -> Vec<String> {
    let mut broken = Vec::new();
    for dependency in &member.dependencies {
        let is_ours = CRATES.iter().any(|(name, _)| name == dependency);
        let below = CRATES
            .iter()
            .find(|(name, _)| *name == member.name)
            .map(|(_, below)| *below);
        if is_ours && below.is_some_and(|below| !below.contains(&dependency.as_str())) {
            broken.push(format!(
                "{} depends on {dependency}, which is not below it",
                member.name
            ));
        }
        let reserved = RESERVED.iter().find(|(name, _)| name == dependency);
        if reserved.is_some_and(|(_, users)| !users.contains(&member.name.as_str())) {
            broken.push(format!(
                "{} depends on {dependency}, which others are to use for it",
                member.name
            ));
        }
    }
    broken
}

/// The promises that the modules of a crate break.
pub(super) fn of_modules(name: &str, source: &Source) -> Vec<String> {
    let mut broken: Vec<String> = source
        .modules
        .iter()
        .filter(|module| !module.is_documented)
        .map(|module| format!("{}: no `//!` line says what lives here", module.file))
        .collect();
    if name != "graph-runtime" {
        return broken;
    }
    let has_file = |&&child: &&usize| source.modules[child].owner != ROOT;
    let rooms = source.modules[ROOT].children.iter().filter(has_file).count();
    if rooms > MAX_ROOMS {
        broken.push(format!(
            "{}: {rooms} modules; at most {MAX_ROOMS} are easy to know",
            source.modules[ROOT].file
        ));
    }
    for (id, module) in source.modules.iter().enumerate() {
        let room = source.line(id).get(1).map(|&room| source.modules[room].name.as_str());
        let is_outside = |promise: &&Reserved| room.is_none_or(|room| !promise.folders.contains(&room));
        for promise in RESERVED_NAMES.iter().filter(is_outside) {
            broken.extend(names(module, promise.is_named).map(|at| format!("{at}; {}", promise.text)));
        }
    }
    broken
}

/// A message if a crate's table in `tour`, the text of `docs/architecture.md`, does not list its modules in the order
/// of the `mod` lines.
pub(super) fn of_tour(name: &str, source: &Source, tour: &str) -> Option<String> {
    let (_, table) = tour.split_once(&format!("| in `{name}/src/` |"))?;
    let rows = table.lines().skip(2).map_while(|line| line.strip_prefix("| "));
    let cells = rows.filter_map(|row| row.split(" | ").next());
    let listed = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let listed: Vec<&str> = listed
        .map(|name| name.trim_end_matches('/').trim_end_matches(".rs"))
        .collect();
    let children = source.modules[ROOT]
        .children
        .iter()
        .map(|&child| &source.modules[child]);
    let declared: Vec<&str> = children
        .filter(|child| child.owner != ROOT)
        .map(|child| child.name.as_str())
        .collect();
    (listed != declared).then(|| {
        let (listed, declared) = (listed.join(", "), declared.join(", "));
        format!("docs/architecture.md: the table of {name} lists {listed}, but its modules are {declared}")
    })
}

/// Whether a file with this text has unit tests that no test program runs.
pub(super) fn has_lost_tests(member: &Member, file: &Path, text: &str) -> bool {
    let is_untested = member
        .without_unit_tests
        .as_deref()
        .is_some_and(|folder| file.starts_with(folder));
    is_untested
        && file.extension().is_some_and(|ending| ending == "rs")
        && text.lines().any(|line| line.trim_start().starts_with("#[test]"))
}

/// The paths of `module` that `is_named` finds.
fn names(module: &Module, is_named: fn(&[String]) -> bool) -> impl Iterator<Item = String> {
    let found = module.uses.iter().filter(move |used| is_named(&used.path));
    found.map(|used| format!("{}:{}: `{}`", module.file, used.line, used.path.join("::")))
}

/// Whether a name is that of a function of the driver or of NVRTC, or of the libraries that hold them.
fn is_driver_call(name: &str) -> bool {
    let is_call = |prefix| {
        name.strip_prefix(prefix)
            .is_some_and(|rest: &str| rest.starts_with(char::is_uppercase))
    };
    name == "culib" || is_call("cu") || is_call("nvrtc")
}
