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
            assert_eq!(
                pair[1],
                format!("text\n{text}"),
                "{}:{}",
                table.path.display(),
                case.line
            );
            quoted += 1;
        }
    }
    assert_eq!(
        quoted,
        page.matches("\n```rs\n").count(),
        "each stands before its message"
    );
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
    let others = ["README.md", "CONTRIBUTING.md", "examples/README.md"];
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
            assert!(target.exists(), "{page}: `{link}`");
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

/// Each `cargo` command on a page or in a message: packages, tests, programs, features, subcommands and options that it
/// names are there.
#[test]
fn commands_exist() {
    let mut commands = Vec::new();
    for file in pages().into_iter().chain(messages()) {
        let text = fs::read_to_string(&file).unwrap();
        for rest in text.split("cargo ").skip(1) {
            let command = rest
                .split(['`', '"', '#', '|', '\n', '(', ';', ':'])
                .next()
                .unwrap()
                .trim();
            commands.push((
                file.clone(),
                command.trim_end_matches(['.', ',', '-', '>', ' ']).to_owned(),
            ));
        }
    }
    let mut found = 0;
    for (file, command) in &commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        let mistake = match words.first() {
            Some(&"xtask") => missing_word(&words[1..], &read("xtask/src/main.rs")),
            Some(&"cuda-graph") => missing_word(&words[1..], &read("cargo-cuda-graph/src/arguments.rs")),
            Some(&("test" | "run" | "build" | "check")) => missing_target(&words[1..]),
            _ => continue, // other tools, or a sentence
        };
        assert_eq!(mistake, None, "{}: cargo {command}", file.display());
        found += 1;
    }
    assert!(found > 50, "{found} commands");
}

/// The pages of the repository and of its packages.
fn pages() -> Vec<PathBuf> {
    let folders = root().read_dir().unwrap().map(|entry| entry.unwrap().path());
    let folders = folders
        .filter(|folder| folder.join("Cargo.toml").exists())
        .chain([root()]);
    let files = folders
        .chain([root().join("docs")])
        .flat_map(|folder| folder.read_dir().unwrap());
    let mut pages: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages.dedup();
    pages
}

/// The files with what the macros say.
fn messages() -> Vec<PathBuf> {
    let folders = [root().join("ui-tests/cases")].into_iter().chain(
        root()
            .join("ui-tests/tests/ui")
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().path()),
    );
    let files = folders.flat_map(|folder| folder.read_dir().unwrap());
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "txt" || extension == "stderr")
    });
    files
}

/// The subcommand or the option that the program's text about itself does not have.
fn missing_word(words: &[&str], text: &str) -> Option<String> {
    let (name, arguments) = words.split_first()?;
    let own = arguments.iter().take_while(|&&word| word != "--");
    let options = own.filter(|word| word.starts_with("--"));
    let mut needed = options.map(|option| option.split('=').next().unwrap().to_owned());
    let is_name = name.chars().all(|c| c.is_ascii_lowercase());
    if is_name && !text.contains(&format!("\n  {name} ")) && !text.contains(&format!("cargo cuda-graph {name} ")) {
        return Some((*name).to_owned());
    }
    needed.find(|option| option != "--help" && !text.contains(option.as_str()))
}

/// The package, test, program or feature that is not there.
fn missing_target(words: &[&str]) -> Option<String> {
    let after = |names: &[&str]| {
        let position = words.iter().position(|word| names.contains(word))?;
        words.get(position + 1).copied()
    };
    let package = after(&["-p", "--package"]);
    let folder = root().join(package.unwrap_or_default());
    let exists = |paths: [String; 2]| paths.iter().any(|path| folder.join(path).exists());
    let mut missing = package.filter(|_| !folder.join("Cargo.toml").exists());
    if let Some(test) = after(&["--test"]) {
        missing = missing.or_else(|| {
            let paths = [format!("tests/{test}.rs"), format!("tests/{test}/main.rs")];
            (!exists(paths)).then_some(test)
        });
    }
    if let Some(program) = after(&["--bin"]) {
        missing = missing.or_else(|| {
            let paths = [format!("src/bin/{program}.rs"), format!("src/bin/{program}/main.rs")];
            (package.is_some() && !exists(paths)).then_some(program)
        });
    }
    if let Some(feature) = after(&["--features"]) {
        let (package, feature) = feature
            .split_once('/')
            .unwrap_or((package.unwrap_or_default(), feature));
        let manifest = fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap();
        missing = missing.or_else(|| (!manifest.contains(&format!("\n{feature} = ["))).then_some(feature));
    }
    missing.map(str::to_owned)
}
