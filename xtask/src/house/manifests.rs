//! The crates that are published: what the registry asks of their manifests, and the Rust that their
//! dependencies need.

use crate::Result;
use crate::workspace::{array, metadata, metadata_of_host, text};
use serde_json::Value;
use std::path::Path;

/// The most keywords of a crate that crates.io takes, and the most characters of each.
const MAX_KEYWORDS: usize = 5;
const MAX_KEYWORD_CHARS: usize = 20;

/// The messages about what is missing from the manifests of crates that are published.
///
/// # Errors
/// If cargo cannot read the manifests.
pub(super) fn missing(root: &Path) -> Result<Vec<String>> {
    let metadata = metadata(root, &["--no-deps"])?;
    let is_published = |package: &&Value| package["publish"].is_null();
    let published = array(&metadata["packages"]).iter().filter(is_published);
    Ok(published.flat_map(of_package).collect())
}

/// The messages about what is missing from the manifest of a crate, or beside it.
pub(super) fn of_package(package: &Value) -> Vec<String> {
    let folder = text(&package["manifest_path"]);
    let folder = Path::new(&folder).parent().unwrap_or(Path::new(""));
    let keywords = array(&package["keywords"]);
    let has = |file: &str| folder.join(file).is_file();
    let is_short = |word: &Value| text(word).chars().count() <= MAX_KEYWORD_CHARS;
    let rules = [
        (!text(&package["description"]).is_empty(), "a description"),
        (!text(&package["license"]).is_empty(), "a licence"),
        (
            !text(&package["rust_version"]).is_empty(),
            "the oldest Rust that compiles it",
        ),
        (
            !keywords.is_empty() && keywords.len() <= MAX_KEYWORDS && keywords.iter().all(is_short),
            "one to five keywords",
        ),
        (!array(&package["categories"]).is_empty(), "categories"),
        (!package["metadata"]["docs"]["rs"].is_null(), "a table for docs.rs"),
        (has("README.md"), "a README.md"),
        (has("LICENSE-MIT") && has("LICENSE-APACHE"), "the texts of its licences"),
        (
            package["repository"].is_null(),
            "no `repository`, as long as there is no public one",
        ),
    ];
    let broken = rules.into_iter().filter(|(is_kept, _)| !is_kept);
    broken
        .map(|(_, rule)| format!("{}: needs {rule}", text(&package["name"])))
        .collect()
}

/// The messages about dependencies that need a newer Rust than the workspace states.
///
/// # Errors
/// If cargo cannot resolve the dependencies.
pub(super) fn too_new(root: &Path) -> Result<Vec<String>> {
    newer(array(&metadata_of_host(root)?["packages"]))
}

/// The messages about packages that need a newer Rust than graph-runtime states.
///
/// # Errors
/// If graph-runtime is not among them.
pub(super) fn newer(packages: &[Value]) -> Result<Vec<String>> {
    let version = |package: &Value| {
        let text = text(&package["rust_version"]);
        let mut parts = text.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
        [(); 3].map(|()| parts.next().unwrap_or(0))
    };
    let stated = packages
        .iter()
        .find(|package| package["name"] == "graph-runtime")
        .map(version);
    let stated = stated.ok_or("no crate graph-runtime")?;
    let newer = packages.iter().filter(|package| version(package) > stated);
    let message = |package: &Value| {
        let [name, version, rust] = ["name", "version", "rust_version"].map(|field| text(&package[field]));
        format!("{name} {version} needs Rust {rust}, newer than `rust-version` states")
    };
    Ok(newer.map(message).collect())
}
