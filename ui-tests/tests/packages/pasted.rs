//! The programs of the README and of the tutorial in a crate of their own, as a reader pastes them: its only dependency
//! is `graph-runtime`. (`docs` runs all programs of the pages as doctests.)

use crate::package::Package;
use std::path::Path;
use std::process::Command;

/// A file of the repository.
fn read(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::fs::read_to_string(root.join(name)).expect("a file of the repository")
}

/// The code blocks of a page: the language of each, and its text.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let parts: Vec<&str> = page.split("```").collect();
    let inside = parts.iter().skip(1).step_by(2);
    inside.map(|part| part.split_once('\n').expect("a language")).collect()
}

/// The only block of a page in this language, or the first one.
fn block<'a>(page: &'a str, language: &str) -> &'a str {
    let found = blocks(page).into_iter().find(|(name, _)| *name == language);
    found.unwrap_or_else(|| panic!("no block of {language}")).1
}

fn reader(name: &str) -> Package {
    let dependency = "graph-runtime = { path = 'WORKSPACE/graph-runtime' }";
    Package::new(name, Some(dependency)).expect("a package in the target folder")
}

/// What the command wrote to its standard output and its standard error, and whether it succeeded.
fn outcome(mut command: Command) -> (String, String, bool) {
    // No GPU.
    let command = command.env("CUDA_VISIBLE_DEVICES", "").env_remove("CUDA_GRAPH_QUIET");
    let output = command.output().expect("cargo runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.success())
}

/// The kernels that the README shows are compiled in `examples/kernels`; a reader gets the same PTX of them, with lines
/// of the source.
#[test]
fn the_sample_of_the_readme_runs() {
    let page = read("README.md");
    let source = read("examples/kernels/forward_backward.cu");
    assert!(source.ends_with(block(&page, "cuda")), "{source}");
    let package = reader("hello");
    let ptx = read("examples/kernels/forward_backward.ptx");
    package
        .write("kernels/forward_backward.ptx", ptx.as_bytes())
        .expect("a file can be written");
    let run = package.cargo("run", "src/main.rs", block(&page, "rust"));
    let (stdout, stderr, _) = outcome(run.expect("a file can be written"));
    assert_eq!(stdout, "[21.0, 21.0, 21.0, 21.0]\n");
    // The emulator is not optimised here, and says how it is.
    let (table, level) = ("[profile.dev.package.graph-emulator]", "opt-level = 2");
    assert!(stderr.contains(table) && stderr.contains(level), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(page.contains(&format!("{table}\n{level}")));
}

/// Each message that a page shows is what the compiler says about the program before it: of the README, about its
/// sample without one `after`.
#[test]
fn the_messages_on_the_pages_are_those_of_the_compiler() {
    let package = reader("messages");
    let (readme, tutorial) = (read("README.md"), read("docs/tutorial.md"));
    for name in ["examples/kernels/forward_backward.ptx", "docs/kernels/tutorial.ptx"] {
        let file = format!("kernels/{}", name.rsplit('/').next().expect("a name"));
        package
            .write(&file, read(name).as_bytes())
            .expect("a file can be written");
    }
    let sample = block(&readme, "rust").replacen("    after upload;", ";", 1);
    let mut broken = vec![(sample, block(&readme, "text"))];
    for pair in blocks(&tutorial).windows(2) {
        if let [("rust,compile_fail", program), ("text", message)] = pair {
            broken.push(((*program).to_owned(), message));
        }
    }
    assert!(broken.len() > 2, "the tutorial shows no messages");
    for (program, message) in broken {
        let check = package.cargo("check", "src/main.rs", &program);
        let (_, stderr, succeeded) = outcome(check.expect("a file can be written"));
        // The words around a message of `const` evaluation are rustc's own, and change.
        let lines = message
            .lines()
            .map(|line| line.split("panicked: ").last().unwrap_or(line));
        let missing: Vec<&str> = lines.filter(|line| !stderr.contains(line)).collect();
        assert!(!succeeded && missing.is_empty(), "{missing:?}\n{program}\n{stderr}");
    }
}

/// The kernels that the tutorial shows, piece by piece, are those of its file.
#[test]
fn the_kernels_of_the_tutorial_are_those_of_its_file() {
    let (page, mut rest) = (read("docs/tutorial.md"), read("docs/kernels/tutorial.cu"));
    for (_, piece) in blocks(&page).into_iter().filter(|(name, _)| *name == "cuda") {
        let (_, after) = rest
            .split_once(piece)
            .unwrap_or_else(|| panic!("not in the file, or not here:\n{piece}"));
        rest = after.to_owned();
    }
    assert_eq!(rest, "", "the tutorial does not show this");
}
