//! Builds the documentation site with mdBook: every page of the repository, the files that pages may link to, and
//! rustdoc. (`ui-tests/tests/docs.rs` holds that all links lead somewhere.)

use crate::Result;
use crate::workspace::{cargo, files, relative};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The pages in the order of the site's menu: the file in the repository, and its title there.
const PAGES: &[(&str, &str)] = &[
    ("README.md", "Overview"),
    ("docs/fit.md", "Is it for me?"),
    ("docs/coming-from.md", "Coming from PyTorch, CUDA or cudarc"),
    ("docs/for-engines.md", "For engines"),
    ("docs/tutorial.md", "Tutorial"),
    ("docs/bugs.md", "Find bugs in kernels"),
    ("docs/profiling.md", "Profiling"),
    ("docs/language.md", "The language"),
    ("docs/proved.md", "Proved kernels"),
    ("docs/diagnostics.md", "Diagnostics"),
    ("docs/cudart.md", "The CUDA runtime"),
    ("docs/driver.md", "The driver in software"),
    ("docs/safety.md", "Safety"),
    ("docs/performance.md", "Performance"),
    ("examples/README.md", "Examples"),
    ("docs/architecture.md", "Architecture"),
    ("CONTRIBUTING.md", "Contributing"),
    ("CHANGELOG.md", "Changelog"),
];
/// The crates whose rustdoc is part of the site.
const CRATES: &[&str] = &[
    "graph-runtime",
    "graph-macros",
    "graph-plan",
    "graph-ptx",
    "graph-emulator",
    "cuda-graph-driver",
    "cuda-graph-build",
];
const BOOK: &str = "[book]\ntitle = \"cuda_graph!\"\n[output.html.playground]\nrunnable = false\n";

/// Builds the site into `target/site`.
///
/// # Errors
/// If there is no mdBook, or if it or rustdoc fails.
pub(crate) fn build(root: &Path) -> Result<()> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let (book, site) = (target.join("book"), target.join("site"));
    for folder in [&book, &site] {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
    }
    write_book(root, &book)?;
    let mdbook = Command::new("mdbook")
        .args(["build", "--dest-dir"])
        .arg(&site)
        .arg(&book)
        .status();
    let status =
        mdbook.map_err(|error| format!("cannot run mdbook: {error}\nhelp: `cargo install mdbook` installs it"))?;
    if !status.success() {
        return Err(format!("mdbook ended with {status}").into());
    }
    let packages = CRATES.iter().flat_map(|name| ["--package", name]);
    cargo(
        root,
        &["doc", "--quiet", "--no-deps"]
            .into_iter()
            .chain(packages)
            .collect::<Vec<_>>(),
    )?;
    copy(&target.join("doc"), &site.join("api"))?;
    println!("{}", relative(root, &site.join("index.html")));
    Ok(())
}

/// Writes what mdBook reads: its options, the menu, and the files of the repository.
fn write_book(root: &Path, book: &Path) -> Result<()> {
    let source = book.join("src");
    for file in files(root, |_| true)? {
        copy(&file, &source.join(file.strip_prefix(root)?))?;
    }
    let menu: String = PAGES
        .iter()
        .map(|(file, title)| format!("- [{title}]({file})\n"))
        .collect();
    let api = |name: &&str| format!("- [{name}](api/{}/index.html)\n", name.replace('-', "_"));
    fs::write(book.join("book.toml"), BOOK)?;
    fs::write(source.join("SUMMARY.md"), menu + "- [API](api.md)\n")?;
    fs::write(
        source.join("api.md"),
        format!("# API\n\n{}", CRATES.iter().map(api).collect::<String>()),
    )?;
    Ok(())
}

/// Copies a file, or a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        fs::create_dir_all(to.parent().unwrap_or(to))?;
        fs::copy(from, to).map_err(|error| format!("cannot copy {}: {error}", from.display()))?;
        return Ok(());
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    /// Every page that is Markdown in the root, in `docs` or in `examples` is in the menu.
    #[test]
    fn the_menu_leaves_no_page_out() {
        let root = workspace::root().unwrap();
        let is_page = |path: &Path| path.extension().is_some_and(|extension| extension == "md");
        for file in files(&root, is_page).unwrap() {
            let name = relative(&root, &file).to_string();
            let is_readme_of_a_crate = name.ends_with("/README.md") && name != "examples/README.md";
            assert!(
                is_readme_of_a_crate || PAGES.iter().any(|(page, _)| *page == name),
                "{name} is not in the menu"
            );
        }
    }
}
