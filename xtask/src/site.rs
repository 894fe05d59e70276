//! Builds the documentation site with mdBook: every page of the repository, the files that the pages link to, and
//! rustdoc.

use crate::Result;
use crate::workspace::{cargo, relative};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// The pages in the order of the site's menu: the file in the repository, and its title there.
const PAGES: &[(&str, &str)] = &[
    ("README.md", "Overview"),
    ("docs/fit.md", "Is it for me?"),
    ("docs/coming-from.md", "Coming from PyTorch, CUDA or cudarc"),
    ("docs/tutorial.md", "Tutorial"),
    ("docs/bugs.md", "Find bugs in kernels"),
    ("docs/language.md", "The language"),
    ("docs/diagnostics.md", "Diagnostics"),
    ("docs/cudart.md", "The CUDA runtime"),
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
    "cuda-graph-build",
];
const BOOK: &str = "[book]\ntitle = \"cuda_graph!\"\n[output.html.playground]\nrunnable = false\n";

/// Builds the site into `target/site`.
///
/// # Errors
/// If a link leads nowhere, if there is no mdBook, or if it or rustdoc fails.
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

/// Writes what mdBook reads: its options, the menu, the pages, and the files that they link to.
fn write_book(root: &Path, book: &Path) -> Result<()> {
    let source = book.join("src");
    let pages = PAGES.iter().map(|(file, _)| PathBuf::from(file));
    for file in pages.chain(linked(root)?) {
        copy(&root.join(&file), &source.join(&file))?;
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

/// The files, other than pages, that pages link to.
///
/// # Errors
/// If a link leads nowhere, or to a folder.
fn linked(root: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut files = BTreeSet::new();
    for (page, _) in PAGES {
        for link in links(&read(root, page)?) {
            let file = target(root, page, &link)?;
            if PAGES.iter().all(|(page, _)| file != Path::new(page)) {
                files.insert(file);
            }
        }
    }
    Ok(files)
}

/// The file that a page's link leads to.
fn target(root: &Path, page: &str, link: &str) -> Result<PathBuf> {
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let file = if path.is_empty() {
        page.into()
    } else {
        normal(&Path::new(page).with_file_name(path))
    };
    let is_there = root.join(&file).is_file();
    if !is_there || !(anchor.is_empty() || anchors(&read(root, &file)?).contains(anchor)) {
        return Err(format!("{page}: the link `{link}` leads nowhere").into());
    }
    Ok(file)
}

fn read(root: &Path, file: impl AsRef<Path>) -> Result<String> {
    let file = file.as_ref();
    fs::read_to_string(root.join(file)).map_err(|error| format!("cannot read {}: {error}", file.display()).into())
}

/// The links and images of a page that lead to files of the repository.
fn links(text: &str) -> Vec<String> {
    let link = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url.into_string()),
        _ => None,
    };
    Parser::new(text)
        .filter_map(link)
        .filter(|link| !link.starts_with("https:"))
        .collect()
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new(text) {
        match (event, &mut heading) {
            (Event::Start(Tag::Heading { .. }), _) => heading = Some(String::new()),
            (Event::End(TagEnd::Heading(_)), _) => anchors.extend(heading.take()),
            (Event::Text(text) | Event::Code(text), Some(heading)) => {
                let kept = text
                    .chars()
                    .filter(|char| char.is_alphanumeric() || " -_".contains(*char));
                heading.extend(
                    kept.flat_map(char::to_lowercase)
                        .map(|char| if char == ' ' { '-' } else { char }),
                );
            }
            _ => {}
        }
    }
    anchors
}

/// The path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn links_of_the_site_lead_somewhere() {
        let files = linked(&workspace::root().unwrap()).unwrap();
        assert!(files.len() > 30, "{files:?}");
    }

    /// Every page that is Markdown in the root, in `docs` or in `examples` is in the menu.
    #[test]
    fn the_menu_leaves_no_page_out() {
        let root = workspace::root().unwrap();
        let is_page = |path: &Path| path.extension().is_some_and(|extension| extension == "md");
        for file in workspace::files(&root, is_page).unwrap() {
            let name = relative(&root, &file).to_string();
            let is_readme_of_a_crate = name.ends_with("/README.md") && name != "examples/README.md";
            assert!(
                is_readme_of_a_crate || PAGES.iter().any(|(page, _)| *page == name),
                "{name} is not in the menu"
            );
        }
    }

    #[test]
    fn a_link_that_leads_nowhere_is_an_error() {
        let root = workspace::root().unwrap();
        let found = |link: &str| target(&root, "docs/fit.md", link);
        assert_eq!(found("../README.md#licence").unwrap(), Path::new("README.md"));
        for link in ["#c", "none.md", "../README.md#c", "../examples"] {
            let message = found(link).unwrap_err().to_string();
            assert_eq!(message, format!("docs/fit.md: the link `{link}` leads nowhere"));
        }
        let page = "# `a_b!` and C, \"d\"\n[x](y.md) ![z](z.svg) [w](https://w) `[v](v.md)`";
        assert_eq!(anchors(page), BTreeSet::from(["a_b-and-c-d".to_owned()]));
        assert_eq!(links(page), ["y.md", "z.svg"]);
    }
}
