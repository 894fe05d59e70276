//! Builds the documentation site: every page of the repository as HTML, the files that the pages link to, and rustdoc.
//!
//! A page is rendered by pulldown-cmark. Links to other pages become links to their HTML. If a page links to another
//! file of the repository, the file is copied into the site. A link that leads nowhere is an error.

use crate::Result;
use crate::workspace::relative;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd, html};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
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
/// The crates whose rustdoc is part of the site; the first one is what the menu leads to.
const CRATES: &[&str] = &[
    "graph-runtime",
    "graph-macros",
    "graph-plan",
    "graph-ptx",
    "graph-emulator",
    "cuda-graph-build",
];
const STYLE: &str = include_str!("site.css");
/// The words that code blocks set in bold: of Rust, of `cuda_graph!` and of CUDA C++.
const KEYWORDS: &str = " as async await break const continue crate dyn else enum extern false fn for if impl in let loop \
    match mod move mut pub ref return safe self static struct super trait true type unsafe use where while \
    graph host device scratch param constant rng kernel memcpy memset join call capture raw record wait switch each \
    after programmatic void float double unsigned int char template typename inline __global__ __device__ __constant__ \
    __shared__ ";

/// Builds the site into `target/site`.
///
/// # Errors
/// If a page cannot be read, a link leads nowhere, or rustdoc fails.
pub(crate) fn build(root: &Path) -> Result<()> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let site = target.join("site");
    if site.exists() {
        fs::remove_dir_all(&site)?;
    }
    write_pages(root, &site)?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let packages = CRATES.iter().flat_map(|name| ["--package", name]);
    let status = Command::new(cargo)
        .args(["doc", "--quiet", "--no-deps"])
        .args(packages)
        .current_dir(root)
        .status()?;
    if !status.success() {
        return Err("cargo doc failed".into());
    }
    copy_folder(&target.join("doc"), &site.join("api"))?;
    println!("{}", relative(root, &site.join("index.html")));
    Ok(())
}

/// Writes the pages, the files that they link to, and the style sheet into the folder `site`.
fn write_pages(root: &Path, site: &Path) -> Result<()> {
    let mut texts = BTreeMap::new();
    for (file, _) in PAGES {
        let text = fs::read_to_string(root.join(file)).map_err(|error| format!("cannot read {file}: {error}"))?;
        texts.insert(*file, text);
    }
    let anchors: BTreeMap<&str, BTreeSet<String>> = texts
        .iter()
        .map(|(file, text)| (*file, headings(&events(text)).into_values().collect()))
        .collect();
    let mut files = BTreeSet::new();
    fs::create_dir_all(site)?;
    for (file, title) in PAGES {
        let mut page = Page {
            file,
            root,
            anchors: &anchors,
            files: &mut files,
        };
        let body = page.body(&texts[file])?;
        fs::write(site.join(html_name(file)), frame(file, title, &body))?;
    }
    for file in files {
        let copy = site.join("files").join(&file);
        fs::create_dir_all(copy.parent().unwrap_or(site))?;
        fs::copy(root.join(&file), copy)?;
    }
    fs::write(site.join("site.css"), STYLE)?;
    Ok(())
}

/// A page while its links are resolved.
struct Page<'a> {
    file: &'a str,
    root: &'a Path,
    /// The anchors of each page.
    anchors: &'a BTreeMap<&'a str, BTreeSet<String>>,
    /// The files, other than pages, that links lead to.
    files: &'a mut BTreeSet<PathBuf>,
}

impl Page<'_> {
    /// Renders the page's text.
    fn body(&mut self, text: &str) -> Result<String> {
        let mut events = events(text);
        for (index, id) in headings(&events) {
            if let Event::Start(Tag::Heading { id: slot, .. }) = &mut events[index] {
                *slot = Some(id.into());
            }
        }
        for event in &mut events {
            if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event {
                *dest_url = self.link(dest_url)?.into();
            }
        }
        let mut body = String::new();
        html::push_html(&mut body, highlighted(events).into_iter());
        Ok(body)
    }

    /// The link as the site has it.
    fn link(&mut self, link: &str) -> Result<String> {
        if link.starts_with("https:") {
            return Ok(link.to_owned());
        }
        let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
        let folder = Path::new(self.file).parent().unwrap_or(Path::new(""));
        let path = match path {
            "" => PathBuf::from(self.file),
            path => normal(&folder.join(path)),
        };
        let nowhere = || format!("{}: the link `{link}` leads nowhere", self.file);
        let name = path.to_str().ok_or_else(nowhere)?;
        let Some(anchors) = self.anchors.get(name) else {
            if !self.root.join(&path).exists() {
                return Err(nowhere().into());
            }
            if self.root.join(&path).is_dir() {
                // A folder has no page. Its name is in the text of the link.
                return Ok(format!("{}#", html_name(self.file)));
            }
            let link = format!("files/{name}");
            self.files.insert(path);
            return Ok(link);
        };
        match anchor {
            "" => Ok(html_name(name)),
            anchor if anchors.contains(anchor) => Ok(format!("{}#{anchor}", html_name(name))),
            _ => Err(nowhere().into()),
        }
    }
}

fn events(text: &str) -> Vec<Event<'_>> {
    Parser::new_ext(text, Options::ENABLE_TABLES).collect()
}

/// The position of each heading's start among `events`, and its anchor, as GitHub makes it.
fn headings(events: &[Event<'_>]) -> BTreeMap<usize, String> {
    let is_start = |event: &Event<'_>| matches!(event, Event::Start(Tag::Heading { .. }));
    let starts = events.iter().enumerate().filter(|(_, event)| is_start(event));
    let anchor = |start: usize| {
        let inside = events[start..].iter();
        let inside = inside.take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
        let text = inside.filter_map(|event| match event {
            Event::Text(text) | Event::Code(text) => Some(&**text),
            _ => None,
        });
        let text = text.collect::<String>().to_lowercase();
        let kept = text.chars().filter(|&c| c.is_alphanumeric() || " -_".contains(c));
        kept.collect::<String>().replace(' ', "-")
    };
    starts.map(|(start, _)| (start, anchor(start))).collect()
}

/// `events`, with code blocks as HTML in which comments, strings and keywords are marked.
fn highlighted(events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    let mut out = Vec::with_capacity(events.len());
    let mut code: Option<(bool, String)> = None;
    for event in events {
        match (&mut code, event) {
            (None, Event::Start(Tag::CodeBlock(kind))) => {
                let is_code =
                    matches!(&kind, CodeBlockKind::Fenced(name) if name.starts_with("rust") || &**name == "cuda");
                code = Some((is_code, String::new()));
            }
            (Some((_, text)), Event::Text(more)) => text.push_str(&more),
            (Some((is_code, text)), Event::End(TagEnd::CodeBlock)) => {
                let inner = if *is_code { marked(text) } else { escaped(text) };
                out.push(Event::Html(CowStr::from(format!("<pre><code>{inner}</code></pre>\n"))));
                code = None;
            }
            (_, event) => out.push(event),
        }
    }
    out
}

/// Code as HTML.
fn marked(code: &str) -> String {
    let mut out = String::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let (length, class) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), "comment")
        } else if first == '"' {
            let end = rest[1..].find(['"', '\n']).map_or(rest.len(), |end| end + 2);
            (end, "string")
        } else if is_word(first) {
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let is_keyword = KEYWORDS.contains(&format!(" {} ", &rest[..length]));
            (length, if is_keyword { "keyword" } else { "" })
        } else {
            (first.len_utf8(), "")
        };
        let (token, after) = rest.split_at(length);
        match class {
            "" => out.push_str(&escaped(token)),
            class => {
                let _ = write!(out, "<span class=\"{class}\">{}</span>", escaped(token));
            }
        }
        rest = after;
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The whole HTML page around a body.
fn frame(file: &str, title: &str, body: &str) -> String {
    let mut menu = String::new();
    for (page, title) in PAGES {
        let current = if *page == file { " class=\"current\"" } else { "" };
        let _ = writeln!(menu, "<li{current}><a href=\"{}\">{title}</a></li>", html_name(page));
    }
    let api = CRATES[0].replace('-', "_");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} - cuda_graph!</title>\n<link rel=\"stylesheet\" href=\"site.css\">\n</head>\n<body>\n\
         <nav>\n<ul>\n{menu}<li><a href=\"api/{api}/index.html\">API</a></li>\n</ul>\n</nav>\n\
         <main>\n{body}</main>\n</body>\n</html>\n"
    )
}

/// The name of a page's file in the site: `docs/language.md` is `language.html`, and `README.md` is `index.html`.
fn html_name(file: &str) -> String {
    match file.strip_suffix("README.md") {
        Some("") => "index.html".to_owned(),
        Some(folder) => format!("{}.html", folder.trim_end_matches('/')),
        None => {
            let name = file.rsplit('/').next().unwrap_or(file).trim_end_matches(".md");
            format!("{}.html", name.to_lowercase())
        }
    }
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

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    /// Each row of the tables of calls names tests of `graph-runtime/tests`: program, module, function.
    #[test]
    fn rows_for_those_who_come_from_elsewhere_name_tests() {
        let root = workspace::root().unwrap();
        let page = fs::read_to_string(root.join("docs/coming-from.md")).unwrap();
        let rows = page
            .lines()
            .filter(|line| line.starts_with("| "))
            .map(|line| line.replace("\\|", ""));
        let cells: Vec<Vec<String>> = rows.map(|row| row.split(" | ").map(str::to_owned).collect()).collect();
        let tests = cells
            .iter()
            .filter(|row| row.len() == 4)
            .map(|row| row[3].trim_end_matches(" |"));
        let mut found = 0;
        for name in tests.flat_map(|cell| cell.split(", ")) {
            let Some(name) = name.strip_prefix('`') else {
                assert!(["test", "---", "as there"].contains(&name), "no test: {name}");
                continue;
            };
            let (program, path) = name
                .trim_end_matches('`')
                .split_once(' ')
                .expect("a program and a test");
            let (modules, function) = path.rsplit_once("::").unwrap_or(("", path));
            let file = match (program, modules) {
                ("ui-tests", _) => root.join("ui-tests/tests/ui").join(path).with_extension("rs"),
                (_, "") => root.join("graph-runtime/tests").join(program).with_extension("rs"),
                _ => {
                    let folder = root.join("graph-runtime/tests").join(program);
                    folder.join(modules.replace("::", "/")).with_extension("rs")
                }
            };
            let text = fs::read_to_string(&file).unwrap_or_else(|_| panic!("`{name}`: {}", file.display()));
            assert!(
                program == "ui-tests" || text.contains(&format!("fn {function}(")),
                "{name}"
            );
            found += 1;
        }
        assert!(found > 80, "{found} tests");
    }

    /// Builds all pages, and looks for the target of each link in the site.
    #[test]
    fn links_of_the_site_lead_somewhere() {
        let site = std::env::temp_dir().join(format!("cuda-graph-site-{}", std::process::id()));
        write_pages(&workspace::root().unwrap(), &site).unwrap();
        let mut links = 0;
        for (file, _) in PAGES {
            let page = fs::read_to_string(site.join(html_name(file))).unwrap();
            for link in page
                .split("href=\"")
                .skip(1)
                .map(|rest| rest.split('"').next().unwrap())
            {
                let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
                if path.starts_with("https:") || path.starts_with("api/") {
                    continue;
                }
                let target = fs::read_to_string(site.join(path)).unwrap_or_else(|_| panic!("{file}: `{link}`"));
                assert!(
                    anchor.is_empty() || target.contains(&format!("id=\"{anchor}\"")),
                    "{file}: `{link}`"
                );
                links += 1;
            }
        }
        fs::remove_dir_all(&site).unwrap();
        assert!(links > 200, "{links} links");
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
    fn code_is_marked() {
        assert_eq!(
            marked("kernel k = f<<<1>>>(\"a\"); // b"),
            "<span class=\"keyword\">kernel</span> k = f&lt;&lt;&lt;1&gt;&gt;&gt;(<span class=\"string\">\"a\"</span>); \
             <span class=\"comment\">// b</span>"
        );
    }

    #[test]
    fn a_link_that_leads_nowhere_is_an_error() {
        let root = workspace::root().unwrap();
        let anchors = BTreeMap::from([("docs/a.md", BTreeSet::from(["b".to_owned()]))]);
        let mut files = BTreeSet::new();
        let mut page = Page {
            file: "docs/a.md",
            root: &root,
            anchors: &anchors,
            files: &mut files,
        };
        assert_eq!(page.link("#b").unwrap(), "a.html#b");
        assert_eq!(page.link("../README.md").unwrap(), "files/README.md");
        for link in ["#c", "none.md", "a.md#c"] {
            let message = page.link(link).unwrap_err().to_string();
            assert_eq!(message, format!("docs/a.md: the link `{link}` leads nowhere"));
        }
    }
}
