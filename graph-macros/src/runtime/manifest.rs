//! The name of the runtime in a manifest, where a dependency may be renamed: `gpu = { package = "graph-runtime" }`.
//!
//! The crate `proc-macro-crate` finds it too, but every user would compile four crates more.

use super::toml::{Entry, entries};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The package that is looked for.
const PACKAGE: &str = "graph-runtime";

/// The tables of dependencies. A library may name only crates in the first, so it comes first.
const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// The name by which the crate with the manifest in `folder` knows the runtime; `None` if it does not depend on it.
pub(super) fn name(folder: &Path) -> Option<String> {
    let manifest = read(folder)?;
    let workspace = || workspace(folder, &manifest);
    TABLES.iter().find_map(|table| {
        let key = in_table(&manifest, table, &workspace)?;
        Some(key.replace('-', "_"))
    })
}

fn read(folder: &Path) -> Option<Vec<Entry>> {
    let text = fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    Some(entries(&text))
}

/// A dependency as a table has it.
#[derive(Default)]
struct Dependency {
    package: Option<String>,
    /// Whether the workspace says which package it is.
    inherited: bool,
}

/// The dependency of the table that is the runtime, by its key.
fn in_table(manifest: &[Entry], table: &str, workspace: &dyn Fn() -> Option<Vec<Entry>>) -> Option<String> {
    let mut dependencies: BTreeMap<&str, Dependency> = BTreeMap::new();
    for Entry { keys, text } in manifest {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let in_table = match keys[..] {
            [first, ref rest @ ..] if first == table => rest,
            ["target", _, third, ref rest @ ..] if third == table => rest,
            _ => continue,
        };
        let [key, rest @ ..] = in_table else { continue };
        let dependency = dependencies.entry(key).or_default();
        match rest {
            ["package"] => dependency.package = Some(text.clone()),
            ["workspace"] => dependency.inherited = text == "true",
            _ => {}
        }
    }
    let is_runtime = |(key, dependency): &(&str, Dependency)| {
        let inherited = || inherited(key, &workspace()?);
        let package = match dependency.inherited {
            true => inherited(),
            false => dependency.package.clone(),
        };
        package.as_deref().unwrap_or(key) == PACKAGE
    };
    let found = dependencies.into_iter().find(is_runtime);
    found.map(|(key, _)| key.to_owned())
}

/// The package that the workspace's dependency of this key is, if it is renamed.
fn inherited(key: &str, workspace: &[Entry]) -> Option<String> {
    let path = ["workspace", "dependencies", key, "package"];
    let package = workspace.iter().find(|entry| entry.keys == path);
    package.map(|entry| entry.text.clone())
}

/// The manifest of the workspace: the one that the package names, or the nearest that has dependencies for its members.
fn workspace(folder: &Path, manifest: &[Entry]) -> Option<Vec<Entry>> {
    let named = manifest.iter().find(|entry| entry.keys == ["package", "workspace"]);
    if let Some(named) = named {
        return read(&folder.join(&named.text));
    }
    let shares = |manifest: &Vec<Entry>| {
        let mut keys = manifest.iter().map(|entry| &entry.keys);
        keys.any(|keys| keys.len() > 2 && keys[..2] == ["workspace", "dependencies"])
    };
    folder.ancestors().filter_map(read).find(shares)
}

#[cfg(test)]
mod tests {
    use super::name;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::{env, fs};

    /// A folder that is there until the test ends.
    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            static COUNT: AtomicUsize = AtomicUsize::new(0);
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = env::temp_dir().join(format!("graph-macros-manifest-{}-{number}", std::process::id()));
            fs::create_dir_all(path.join("member")).unwrap();
            Self(path)
        }

        fn write(&self, member: &str, manifest: &str) -> PathBuf {
            let folder = self.0.join(member);
            fs::write(folder.join("Cargo.toml"), manifest).unwrap();
            folder
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn assert_name(folder: &Path, expected: Option<&str>) {
        assert_eq!(name(folder).as_deref(), expected);
    }

    #[test]
    fn dependencies_by_their_names() {
        let folder = Folder::new();
        for (manifest, expected) in [
            ("[dependencies]\ngraph-runtime = \"1\"", Some("graph_runtime")),
            ("[dependencies]\ngraph-runtime.path = \"x\"", Some("graph_runtime")),
            (
                "[dependencies]\nserde = \"1\"\ngpu = { version = \"1\", package = \"graph-runtime\" }",
                Some("gpu"),
            ),
            (
                "[dependencies.my-gpu]\npackage = \"graph-runtime\" # renamed\n",
                Some("my_gpu"),
            ),
            (
                "[target.'cfg(unix)'.dependencies]\nrt.package = 'graph-runtime'",
                Some("rt"),
            ),
            (
                "[dev-dependencies]\ngraph-runtime = \"1\"\n[dependencies]\nrt.package = 'graph-runtime'",
                Some("rt"),
            ),
            ("[dev-dependencies]\nrt.package = 'graph-runtime'", Some("rt")),
            ("[dependencies]\ngraph-runtime = { package = \"other\" }", None),
            ("[package]\nname = \"graph-runtime\"", None),
            ("", None),
        ] {
            assert_name(&folder.write("", manifest), expected);
        }
        assert_name(&folder.0.join("nowhere"), None);
    }

    #[test]
    fn dependencies_of_the_workspace() {
        let folder = Folder::new();
        folder.write(
            "",
            "[workspace]\nmembers = [\"member\"]\n[workspace.dependencies]\ngpu = { path = \"x\", package = \"graph-runtime\" }\ngraph-runtime = \"1\"",
        );
        for (manifest, expected) in [
            ("[dependencies]\ngpu.workspace = true", Some("gpu")),
            (
                "[dependencies]\ngpu = { workspace = true, features = [\"x\"] }",
                Some("gpu"),
            ),
            (
                "[dependencies]\ngraph-runtime = { workspace = true }",
                Some("graph_runtime"),
            ),
            ("[dependencies]\nother.workspace = true", None),
            (
                "[package]\nworkspace = \"..\"\n[dependencies]\ngpu.workspace = true",
                Some("gpu"),
            ),
        ] {
            assert_name(&folder.write("member", manifest), expected);
        }
    }
}
