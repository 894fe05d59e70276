//! Each command that a page, a message or a help of this repository prints works: it is run, or its own parser reads
//! it, or a row below says why not. `xtask` has the same test of `cargo xtask`.
#![cfg(unix)]

mod printed;

use printed::Printed;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The test of a command.
enum Test {
    /// It is run: in a folder in which the clone is `cuda-graph`, or, if it is no line of a block, in a crate there.
    Run,
    /// It is run with `--help` at its end, so that its own parser reads all of it. The reason is why no more is done.
    Parse(&'static str),
    /// The packages, tests, programs and features that it names are there. The reason is why it is not run.
    Names(&'static str),
    /// `.ci/run` runs it.
    Ci,
    /// The reason why it cannot be tried here.
    Untried(&'static str),
}
use Test::{Ci, Names, Parse, Run, Untried};

/// The beginnings of commands. The first row that fits counts.
const TESTS: &[(&str, Test)] = &[
    (
        "cargo cuda-graph ptx",
        Parse("tests/command.rs runs it, if there is NVRTC"),
    ),
    ("cargo cuda-graph check", Parse("tests/command.rs runs it")),
    ("cargo cuda-graph fetch", Parse("it needs a network")),
    ("cargo cuda-graph", Run),
    ("cargo xtask", Untried("xtask's own tests read it")),
    ("bash xtask/profiling.sh", Untried("it calls NVIDIA's tools on a GPU")),
    (
        "CUDA_GRAPH_TEST_SEEDS=",
        Untried("it takes minutes; CI runs the same with fewer seeds"),
    ),
    ("PROOF_FILES=", Untried("it needs PTX of others")),
    ("PROVED=overwrite cargo test -p", Names("it writes files")),
    ("cd ", Run),
    ("mkdir ", Run),
    ("cargo new ", Run),
    (
        "cargo add facade",
        Untried("rustc prints it in a test about a crate that there is not"),
    ),
    ("cargo add ", Run),
    ("cargo install --path", Parse("it would build the command once more")),
    ("cargo install", Parse("it needs a network")),
    ("cargo publish", Parse("it needs a network")),
    ("cargo test --workspace", Ci),
    ("cargo run -p examples --bin forward_backward", Ci),
    (".ci/run", Names("it runs this test")),
    ("cargo fmt", Ci),
    ("cargo test -p", Names("`cargo test` runs these tests")),
    ("CASES=overwrite cargo test -p", Names("it writes files")),
    ("TRYBUILD=overwrite cargo test -p", Names("it writes files")),
    (
        "CUDA_GRAPH_RUNTIME_API=1 RUST_LOG=",
        Names("a test of graph-runtime has what it prints"),
    ),
    (
        "cargo run --release -p examples --bin train_digits",
        Names("it takes minutes"),
    ),
    ("python3 examples/pytorch/", Names("it needs PyTorch")),
    ("cargo +nightly fuzz", Untried("it needs a nightly toolchain")),
    ("bash fuzz/run.sh", Untried("it builds all again, and fuzzes for ever")),
    ("CUDA_GRAPH_CORPUS=", Names("it writes files")),
    ("cargo bench -p", Names("it needs two GPUs")),
    ("cargo semver-checks", Untried("there is no release to compare with")),
    ("cargo -vV", Untried("the name of a command that failed, in a message")),
    ("cargo run", Untried("ui-tests runs programs of the pages so")),
    ("cargo test", Untried("it runs this test")),
    ("cargo build", Untried("ui-tests builds programs of the pages so")),
    ("cargo check", Untried("ui-tests checks programs of the pages so")),
    ("git diff", Untried("it only shows changes")),
    ("rustup ", Untried("it needs a network")),
    ("pip install", Untried("it needs a network")),
    (
        "python3 -m pip",
        Untried("the name of a command that failed, in a message"),
    ),
    ("bash .gpu/run.sh", Untried("it needs a GPU")),
    ("OUT=results bash .gpu/run.sh", Untried("it needs a GPU")),
];

fn root() -> PathBuf {
    fs::canonicalize(Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("..")).unwrap()
}

/// A folder as a reader has it: the clone, which is a link, and a crate. It is removed again.
struct Reader(PathBuf);

impl Reader {
    fn new() -> Self {
        let folder = env::temp_dir().join(format!("cuda-graph-pages-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("crate/src")).unwrap();
        std::os::unix::fs::symlink(root(), folder.join("cuda-graph")).unwrap();
        let manifest = "[package]\nname = \"reader\"\nedition = \"2024\"\n[workspace]\n";
        fs::write(folder.join("crate/Cargo.toml"), manifest).unwrap();
        fs::write(folder.join("crate/src/main.rs"), "fn main() {}\n").unwrap();
        Self(folder)
    }

    /// Runs commands in one of its folders, without network, and fails if one of them does.
    fn run(&self, folder: &str, script: &str) {
        let own = Path::new(env!("CARGO_BIN_EXE_cargo-cuda-graph")).parent().unwrap();
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([own.to_owned()].into_iter().chain(env::split_paths(&path))).unwrap();
        let output = Command::new("bash")
            .args(["-ec", script])
            .current_dir(self.0.join(folder))
            .env("PATH", path)
            .env("CARGO_NET_OFFLINE", "true")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}\n{text}");
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn every_command_that_is_printed_works() {
    let reader = Reader::new();
    let (mut is_used, mut tried, mut block) = (vec![false; TESTS.len()], Vec::new(), Vec::new());
    let commands = printed::commands(&root());
    for (index, printed) in commands.iter().enumerate() {
        let Printed {
            file,
            command,
            is_in_block,
        } = printed;
        let place = file.display();
        let row = TESTS.iter().position(|(beginning, _)| command.starts_with(beginning));
        let row = row.unwrap_or_else(|| panic!("{place}: no row of TESTS is for `{command}`"));
        is_used[row] = true;
        let line = match TESTS[row].1 {
            Run => Some(command.clone()),
            Parse(_) => Some(format!("{command} --help")),
            Names(_) => {
                assert_eq!(missing(command), None, "{place}: {command}");
                None
            }
            Ci => {
                let script = fs::read_to_string(root().join(".ci/run")).unwrap();
                assert!(script.contains(command), "{place}: {command}");
                None
            }
            Untried(_) => None,
        };
        if matches!(TESTS[row].1, Run | Parse(_)) {
            assert_eq!(missing(command), None, "{place}: {command}");
        }
        match line {
            Some(line) if *is_in_block => block.push(line),
            Some(line) if !tried.contains(&line) => {
                reader.run("crate", &line);
                tried.push(line);
            }
            _ => {}
        }
        // The blocks of a page are run one after the other, since a later one is in the folder that the first one made.
        if commands.get(index + 1).is_none_or(|next| next.file != *file) && !block.is_empty() {
            reader.run("", &block.join("\n"));
            block.clear();
        }
    }
    assert!(tried.len() > 10 && commands.len() > 100, "{tried:?}");
    let mut unused = Vec::new();
    for ((beginning, test), is_used) in TESTS.iter().zip(is_used) {
        unused.extend((!is_used).then_some(*beginning));
        match test {
            Run | Ci => {}
            Parse(reason) => println!("only read: `{beginning} ..` ({reason})"),
            Names(reason) => println!("names checked: `{beginning} ..` ({reason})"),
            Untried(reason) => println!("not tried: `{beginning} ..` ({reason})"),
        }
    }
    assert_eq!(unused, [""; 0], "no command begins so");
}

/// The package, test, program, feature or file that a command names, if it is not there.
fn missing(command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let after = |names: &[&str]| {
        let position = words.iter().position(|word| names.contains(word))?;
        words.get(position + 1).copied()
    };
    let exists = |path: String| root().join(path).exists();
    let package = after(&["-p"]).unwrap_or(".");
    let mut missing = Vec::new();
    let mut need = |name: Option<&str>, paths: &[&str]| {
        let name = name.filter(|name| !paths.iter().any(|path| exists(path.replace('*', name))));
        missing.extend(name.map(str::to_owned));
    };
    need(after(&["-p"]), &["*/Cargo.toml"]);
    let tests = [format!("{package}/tests/*.rs"), format!("{package}/tests/*/main.rs")];
    need(after(&["--test"]), &tests.each_ref().map(String::as_str));
    need(after(&["--bin"]), &[&format!("{package}/src/bin/*.rs")]);
    let path = after(&["--path"]).map(|path| path.trim_start_matches("../").trim_start_matches("cuda-graph/"));
    need(path, &["*/Cargo.toml"]);
    let program = words.iter().copied().find(|word| !word.contains('=')); // after the environment variables
    need(program.filter(|word| word.contains('/')), &["*"]);
    need(after(&["python3"]).filter(|word| word.contains('/')), &["*"]);
    if let Some(feature) = after(&["--features"]).filter(|_| words.contains(&"-p")) {
        let (package, feature) = feature.split_once('/').unwrap_or((package, feature));
        let manifest = fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap();
        missing.extend((!manifest.contains(&format!("\n{feature} = ["))).then(|| feature.to_owned()));
    }
    missing.into_iter().next()
}
