//! The documents, held against the repository: the files that they name exist, their links lead somewhere, and every
//! code has its entry.

#[path = "../cases/table.rs"]
mod table;

use graph_runtime::Code;
use std::fs;
use std::path::{Path, PathBuf};

/// The repository.
fn root() -> PathBuf {
    Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("..")
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

#[test]
fn every_code_has_its_entry() {
    let text = read("docs/diagnostics.md");
    let entries: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(entries, codes);
    for code in codes {
        assert!(
            text.contains(&format!("[`{code}`](#{code})")),
            "`{code}` is not among the codes"
        );
    }
}

/// An example of `docs/diagnostics.md` that is not compiled is a case of the code's table, and the text after it is
/// what the table says about it.
#[test]
fn the_page_of_diagnostics_quotes_the_cases() {
    let page = read("docs/diagnostics.md");
    let mut quoted = 0;
    for table in table::tables(&root().join("ui-tests/cases")).unwrap() {
        let heading = format!("\n## {}\n", table.code());
        let (_, entry) = page.split_once(&heading).expect("an entry for each code");
        let entry = entry.split("\n## ").next().unwrap();
        let blocks: Vec<&str> = entry.split("```").skip(1).step_by(2).collect();
        for pair in blocks.windows(2) {
            let Some(example) = pair[0].strip_prefix("rs\n") else {
                continue;
            };
            let is_import = |line: &&str| line.starts_with("use graph_runtime::") || line.starts_with("use ui_tests::");
            let lines: Vec<&str> = example.lines().filter(|line| !is_import(line)).collect();
            let program = lines.join("\n").trim().to_owned() + "\n";
            let case = table.cases.iter().find(|case| case.program == program);
            let case = case.unwrap_or_else(|| panic!("no case of `{}` is\n{program}", table.code()));
            let messages = case.messages.iter().map(|message| message.text.replace('\n', "\n    "));
            let text: String = messages.map(|text| format!("error: {text}\n")).collect();
            let expected = format!("text\n{text}");
            assert_eq!(pair[1], expected, "{}:{}", table.path.display(), case.line);
            quoted += 1;
        }
    }
    let expected = page.matches("\n```rs\n").count();
    assert_eq!(quoted, expected, "each stands before its message");
    assert!(quoted > 15, "{quoted} examples");
}

/// Files in the tour's first columns, below the folder in the table's head, and with their whole path in the text.
#[test]
fn the_tour_names_files_that_exist() {
    let (mut folder, mut named) = (String::new(), 0);
    for line in read("docs/architecture.md").lines() {
        if let Some(head) = line.strip_prefix("| in `") {
            folder = head.split('`').next().unwrap().to_owned();
            continue;
        }
        let (prefix, cell) = match line.strip_prefix("| ") {
            Some(row) => (folder.as_str(), row.split(" | ").next().unwrap()),
            None => ("", line),
        };
        for name in cell.split('`').skip(1).step_by(2) {
            let is_path = name.ends_with('/') || name.ends_with(".rs") || name.ends_with(".md");
            if is_path && (name.contains('/') || !prefix.is_empty()) {
                assert!(root().join(prefix).join(name).exists(), "no `{prefix}{name}`: {line}");
                named += 1;
            }
        }
    }
    assert!(named > 50, "{named} names of files: is the page still made of tables?");
}

/// Each module of the five crates that programs are made of is in a table of the tour, by its file or its folder.
#[test]
fn the_tour_leaves_no_module_out() {
    let text = read("docs/architecture.md");
    for package in [
        "graph-plan",
        "graph-ptx",
        "graph-emulator",
        "graph-macros",
        "graph-runtime",
    ] {
        let source = format!("{package}/src/");
        let table = text.split(&format!("| in `{source}`")).nth(1).unwrap();
        let table: Vec<&str> = table.lines().skip(1).take_while(|line| line.starts_with('|')).collect();
        let root_module = read(&format!("{source}lib.rs"));
        let is_test = |module: &str| root_module.contains(&format!("#[cfg(test)]\nmod {module};"));
        for entry in root().join(&source).read_dir().unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let module = match path.is_dir() {
                _ if is_test(path.file_stem().unwrap().to_str().unwrap()) => continue,
                true if path.with_extension("rs").exists() => continue, // the parts of that file
                true => format!("`{name}/"),
                false if name.ends_with(".rs") && name != "lib.rs" => format!("`{name}`"),
                false => continue,
            };
            let listed = |row: &&str| row.split(" | ").next().is_some_and(|cell| cell.contains(&module));
            assert!(table.iter().any(listed), "{source}{name} is in no row");
        }
    }
}

#[test]
fn links_lead_somewhere() {
    let pages = root().join("docs").read_dir().unwrap();
    let pages = pages.map(|file| format!("docs/{}", file.unwrap().file_name().to_str().unwrap()));
    let pages = pages.filter(|name| name.ends_with(".md"));
    let others = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"];
    for page in pages.chain(others.map(str::to_owned)) {
        let text = read(&page);
        let inline = text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
        let defined = text.lines().filter(|line| line.starts_with("[`"));
        for link in inline.chain(defined.filter_map(|line| Some(line.split_once("]: ")?.1))) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            if file.starts_with("https:") {
                continue;
            }
            let target = match file {
                "" => root().join(&page),
                file => root().join(&page).parent().unwrap().join(file),
            };
            assert!(target.is_file(), "{page}: `{link}`");
            assert!(
                anchor.is_empty() || has_heading(&fs::read_to_string(&target).unwrap(), anchor),
                "{page}: `{link}`"
            );
        }
    }
}

/// Whether some heading of the page has this anchor, as GitHub makes it.
fn has_heading(page: &str, anchor: &str) -> bool {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let anchors = headings.map(|line| {
        let text = line.trim_start_matches('#').trim().to_lowercase();
        let kept = text.chars().filter(|&c| c.is_alphanumeric() || " -_".contains(c));
        kept.collect::<String>().replace(' ', "-")
    });
    anchors.into_iter().any(|found| found == anchor)
}

/// Each test that `docs/coming-from.md` cites is there, and the tests of a row make all calls that the row says are to
/// be made here, and declare its statements. (The tests of a module share its declarations and its helpers.)
#[test]
fn cited_tests_make_the_calls_of_their_rows() {
    let page = read("docs/coming-from.md");
    let mut cited = 0;
    for row in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [_, here, .., tests] = cells[..] else { continue };
        if cells.len() < 4 || ["test", "as there"].contains(&tests.trim()) || tests.starts_with("---") {
            continue;
        }
        let tests: Vec<String> = spans(tests).map(text_of_test).collect();
        assert!(!tests.is_empty(), "no test: {row}");
        cited += tests.len();
        let missing: Vec<&str> = spans(here)
            .flat_map(calls)
            .filter(|call| !tests.iter().any(|test| has(test, call)))
            .collect();
        assert_eq!(missing, [""; 0], "no cited test has this: {row}");
    }
    assert!(cited > 100, "{cited} tests");
}

/// The code in a text.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The names that a piece of code calls, and the statement that it begins with. Those that any test has, and the names
/// of features, do not count.
fn calls(code: &str) -> Vec<&str> {
    const STATEMENTS: [&str; 16] = [
        "kernel", "memcpy", "memset", "call", "join", "graph", "record", "wait", "raw", "capture", "if", "while",
        "each", "scratch", "mapped", "array",
    ];
    const COMMON: [&str; 4] = ["build", "drop", "node", "cudart"];
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for (position, _) in code.match_indices(['(', ':']) {
        let is_call = code[position..].starts_with('(') || code[position..].starts_with("::<");
        let name = code[..position].rsplit(|c| !is_name(c)).next().unwrap_or_default();
        found.extend((is_call && name.len() > 1 && name.starts_with(|c: char| c.is_ascii_lowercase())).then_some(name));
    }
    let first = code.split(' ').next().unwrap_or_default();
    let is_alone = code.len() > 1 && code.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    found.extend((is_alone || STATEMENTS.contains(&first) && code != first).then_some(first));
    found.retain(|name| !COMMON.contains(name));
    found
}

/// Whether a test has a name. What ends in `_x` or `_n` has the name of some memory or param there.
fn has(test: &str, name: &str) -> bool {
    let (name, is_whole) = match name.strip_suffix("_x").or_else(|| name.strip_suffix("_n")) {
        Some(beginning) => (beginning, false),
        None => (name, true),
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    test.match_indices(name).any(|(position, _)| {
        let after = &test[position + name.len()..];
        !(test[..position].ends_with(is_name) || is_whole && after.starts_with(is_name))
    })
}

/// The text of a test, `program module::function`, and of its module without the other tests.
fn text_of_test(cited: &str) -> String {
    let (program, path) = cited.split_once(' ').unwrap_or_else(|| panic!("`{cited}` is no test"));
    if program == "ui-tests" {
        return read(&format!("ui-tests/tests/ui/{path}.rs"));
    }
    let (module, function) = path.rsplit_once("::").unwrap_or(("main", path));
    let folder = format!("graph-runtime/tests/{program}");
    let file = match root().join(&folder).is_dir() {
        true => format!("{folder}/{}.rs", module.replace("::", "/")),
        false => format!("{folder}.rs"),
    };
    let text = read(&file);
    let mut parts = text.split("\n#[test]\n");
    let mut found = parts.next().unwrap_or_default().to_owned();
    let is_there = parts.clone().any(|part| part.contains(&format!("fn {function}(")));
    assert!(is_there, "no `{cited}`");
    for part in parts {
        let (test, after) = part.split_once("\n}\n").unwrap_or((part, ""));
        found += if test.contains(&format!("fn {function}(")) {
            part
        } else {
            after
        };
    }
    found
}
