//! Builds `.gpu/`, a folder that runs on a machine with an NVIDIA GPU but without Rust, network or this repository.
//!
//! The programs are read from Cargo's own messages: a new test, example or benchmark of [`PACKAGES`] is taken along
//! without a change here. `gpu.sh` runs them: it is copied into the folder as `run.sh` and reads the `manifest` there,
//! which has one line for each run, of kind, name, package, file, tool and module, separated by tabs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;

use serde_json::Value;

use crate::Result;
use crate::pack::{self, cargo_build, compress, copy, copy_data, create, write};
use crate::wheels::{self, CUDART, SANITIZER};

/// The packages whose programs use a GPU.
const PACKAGES: [&str; 2] = ["graph-runtime", "examples"];
/// The programs and modules that do not run under compute-sanitizer: two make the errors that the tool reports on
/// purpose, five use no GPU, two start processes that use it, and the kernels of one wait for each other.
const UNSANITIZED: [&str; 10] = [
    "sticky",
    "faults",
    "safety::emulator",
    "random::loops",
    "corpus::bound",
    "ranks",
    "launching::traces",
    "launching::nvrtc",
    "statements::files_mutated",
    "driver",
];
/// The tools of compute-sanitizer: accesses outside memory, reads of memory that nothing wrote, races on shared memory.
const TOOLS: [&str; 3] = ["memcheck", "initcheck", "racecheck"];
/// The programs and modules of tests that run under racecheck: their kernels use shared memory, and the tool checks
/// nothing else. The programs of random graphs would take minutes.
const RACED: [&str; 20] = [
    "captures::cuda",
    "control::body_forms",
    "control::children_memory",
    "control::each_calls",
    "corpus",
    "launching::clusters",
    "launching::forms",
    "launching::functions",
    "launching::generators",
    "launching::rng",
    "launching::run_time",
    "safety::changes",
    "safety::extremes",
    "statements::definition",
    "statements::edits",
    "statements::element_types",
    "statements::files",
    "statements::graphs",
    "statements::host_nodes",
    "statements::language",
];
/// A program, and its module that compares times: the module has a run of its own, in which nothing else runs.
const TIMED: (&str, &str) = ("statements", "profile");
/// The test program that is built with a feature of its own, which other programs must not have.
const FAULT_INJECTION: WithFeature = WithFeature {
    target: "fault_injection",
    feature: "fault-injection",
};
/// The scripts of `examples/pytorch` that use `cuda-graph-load`, each with the program that saves the graph file which
/// it runs. `lift` reads what PyTorch has captured, and is given a program that captures, too, as all are given one.
const SCRIPTS: [(&str, &str); 4] = [
    ("train_linear_loaded", "train_linear"),
    ("engine_loaded", "engine"),
    ("generate_loaded", "generate"),
    ("lift", "captured"),
];
/// The library by which Python opens graph files.
const LOADER: &str = "cuda_graph_load";
const RUN_SCRIPT: &str = include_str!("../gpu.sh");
/// What tells crashes of compute-sanitizer from those of programs.
const FRAMES: &str = include_str!("../frames.c");

/// A test program of `graph-runtime` that needs a feature.
struct WithFeature {
    target: &'static str,
    feature: &'static str,
}

/// The kinds of runs, in the order of running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Tests,
    /// The integration tests once more, with every node delayed at random.
    Delays,
    /// The integration tests once more, with graphs that run node by node.
    Debug,
    /// The integration tests once more, with graphs by the runtime library.
    Runtime,
    Examples,
    Sanitizer,
    Bench,
    /// Scripts that run graph files on memory of PyTorch.
    Python,
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::Tests,
        Self::Delays,
        Self::Debug,
        Self::Runtime,
        Self::Examples,
        Self::Sanitizer,
        Self::Bench,
        Self::Python,
    ];

    /// The name that `--only` and the manifest use.
    fn name(self) -> &'static str {
        match self {
            Self::Tests => "tests",
            Self::Delays => "delays",
            Self::Debug => "debug",
            Self::Runtime => "runtime",
            Self::Examples => "examples",
            Self::Sanitizer => "sanitizer",
            Self::Bench => "bench",
            Self::Python => "python",
        }
    }

    /// Cargo's flags for the targets that this kind needs.
    fn cargo_targets(self) -> &'static [&'static str] {
        match self {
            Self::Tests | Self::Delays | Self::Debug | Self::Runtime => &["--tests"],
            Self::Examples => &["--bins", "--examples"],
            Self::Python => &["--bins"],
            Self::Sanitizer => &["--tests", "--bins", "--examples"],
            Self::Bench => &["--benches"],
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("unknown kind `{text}`: expected one of {names}")
        })
    }
}

/// An executable that Cargo built.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Program {
    /// [`Kind::Tests`], [`Kind::Examples`] or [`Kind::Bench`].
    kind: Kind,
    package: String,
    /// Cargo's word: `lib`, `bin`, `test`, `example`, `bench`.
    target_kind: String,
    target: String,
    executable: PathBuf,
}

/// Builds `.gpu/` with the runs of the kind `only`, or with all, and says how to run it.
pub(crate) fn build(root: &Path, only: Option<Kind>) -> Result<()> {
    let kinds: Vec<Kind> = only.map_or(Kind::ALL.to_vec(), |kind| vec![kind]);
    let programs = build_programs(root, &kinds)?;
    let folder = root.join(".gpu");
    pack::empty(&folder)?;
    let manifest = install(&folder, &kinds, &programs)?;
    if kinds.contains(&Kind::Sanitizer) {
        install_sanitizer(root, &folder)?;
    }
    if kinds.contains(&Kind::Python) {
        install_loader(root, &folder)?;
    }
    install_cudart(root, &folder)?;
    if manifest.is_empty() {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        return Err(format!("{} have no programs for {}", PACKAGES.join(" and "), names.join(", ")).into());
    }
    compress(&folder)?;
    write(&folder.join("manifest"), &manifest)?;
    write(&folder.join("run.sh"), RUN_SCRIPT)?;
    write(&folder.join("frames.c"), FRAMES)?;
    for package in PACKAGES {
        copy_data(&root.join(package), &folder.join("data").join(package))?;
    }
    let mebibytes = pack::mebibytes(&folder)?;
    print!("{manifest}");
    println!("\n.gpu/ holds {mebibytes:.1} MiB. Copy it to a machine with an NVIDIA GPU and run there:\n");
    println!("    bash .gpu/run.sh                     # everything above");
    println!("    bash .gpu/run.sh --only bench        # one kind");
    println!("    bash .gpu/run.sh forward_backward    # the runs with this in their name");
    Ok(())
}

/// Lets Cargo build the programs of these kinds, and returns them, sorted.
fn build_programs(root: &Path, kinds: &[Kind]) -> Result<BTreeSet<Program>> {
    let packages = PACKAGES.iter().flat_map(|package| ["--package", package]);
    let packages = packages.chain(["--features", "graph-runtime/cudart"]);
    let targets: BTreeSet<&str> = kinds.iter().flat_map(|kind| kind.cargo_targets()).copied().collect();
    let mut messages = cargo_build(root, &packages.chain(targets).collect::<Vec<_>>())?;
    if kinds.contains(&Kind::Tests) {
        let package = ["--package", "graph-runtime", "--features", FAULT_INJECTION.feature];
        messages.extend(cargo_build(
            root,
            &[&package[..], &["--test", FAULT_INJECTION.target]].concat(),
        )?);
    }
    let programs = messages.iter().filter_map(program);
    Ok(programs
        .filter(|program| {
            kinds.iter().any(|&kind| program.runs_as(kind)) && !program.runs_examples() && !program.is_empty_unit_test()
        })
        .collect())
}

/// The program that a message of Cargo's is about, if it is about one.
fn program(message: &Value) -> Option<Program> {
    let artifact = pack::artifact(message)?;
    let kind = match &artifact.target_kind[..] {
        "bench" => Kind::Bench,
        // Unit tests of a library or a program say so only here.
        _ if artifact.target_kind == "test" || artifact.is_test => Kind::Tests,
        "bin" | "example" => Kind::Examples,
        _ => return None,
    };
    Some(Program {
        kind,
        package: artifact.package,
        target_kind: artifact.target_kind,
        target: artifact.target,
        executable: artifact.executable,
    })
}

impl Program {
    /// Whether runs of this kind include this program.
    fn runs_as(&self, kind: Kind) -> bool {
        match kind {
            Kind::Tests | Kind::Examples | Kind::Bench => self.kind == kind,
            Kind::Delays | Kind::Debug | Kind::Runtime => self.is_plain_test(),
            Kind::Sanitizer => self.is_plain_test() || self.kind == Kind::Examples,
            Kind::Python => self.kind == Kind::Examples && self.script().is_some(),
        }
    }

    /// The script that runs its graph file.
    fn script(&self) -> Option<&'static str> {
        let mut scripts = SCRIPTS.iter();
        Some(scripts.find(|(_, program)| *program == self.target)?.0)
    }

    /// Whether it is a test program in which the driver works.
    fn is_plain_test(&self) -> bool {
        self.target_kind == "test" && self.target != FAULT_INJECTION.target
    }

    /// Whether it runs the examples: the test on the emulator, and the one that draws them, which lets Cargo build them
    /// first. The folder has the examples themselves.
    fn runs_examples(&self) -> bool {
        self.package == "examples" && (self.target_kind == "test" || self.target == "gallery")
    }

    /// Whether this is a library or program built for its unit tests that has none.
    fn is_empty_unit_test(&self) -> bool {
        self.kind == Kind::Tests && self.target_kind != "test" && self.tests().is_ok_and(|tests| tests.is_empty())
    }

    /// The names of the program's tests, as it lists them.
    fn tests(&self) -> Result<Vec<String>> {
        let output = Command::new(&self.executable)
            .arg("--list")
            .stdin(Stdio::null())
            .output()?;
        if !output.status.success() {
            return Err(format!("{} --list failed ({})", self.executable.display(), output.status).into());
        }
        let listed = String::from_utf8(output.stdout)?;
        let tests = listed.lines().filter_map(|line| line.strip_suffix(": test"));
        Ok(tests.map(str::to_owned).collect())
    }

    /// The modules that have runs of their own under this kind; none if the program runs as a whole.
    ///
    /// A script stands for a module of its program. compute-sanitizer runs one module at a time: it fails at random,
    /// and `gpu.sh` then repeats the run. Of [`TIMED`], a module runs alone, and the rest as a whole.
    fn modules(&self, kind: Kind) -> Result<BTreeSet<String>> {
        if kind == Kind::Python {
            return Ok(self.script().map(str::to_owned).into_iter().collect());
        }
        if matches!(kind, Kind::Tests | Kind::Runtime) && self.target == TIMED.0 {
            return Ok(BTreeSet::from(["-", TIMED.1].map(str::to_owned)));
        }
        if kind != Kind::Sanitizer || self.target_kind != "test" {
            return Ok(BTreeSet::new());
        }
        modules_of(&self.target, &self.tests()?)
    }

    /// The lines of the manifest that run `file`, this program, as `kind`: one for each module and each tool.
    fn manifest_lines(&self, kind: Kind, file: &str, modules: &BTreeSet<String>) -> String {
        let whole = BTreeSet::from(["-".to_owned()]);
        let modules = if modules.is_empty() { &whole } else { modules };
        let tools: &[&str] = if kind == Kind::Sanitizer { &TOOLS } else { &["-"] };
        let (package, target) = (&self.package, &self.target);
        let mut lines = String::new();
        for module in modules {
            let name = match module.as_str() {
                "-" => target.clone(),
                module => format!("{target}::{module}"),
            };
            let is_raced = RACED.contains(&name.as_str()) || RACED.contains(&target.as_str());
            for tool in tools {
                let left_out = match *tool {
                    "-" => false,
                    "racecheck" if self.target_kind == "test" && !is_raced => true,
                    _ => UNSANITIZED.contains(&name.as_str()) || UNSANITIZED.contains(&target.as_str()),
                };
                if !left_out {
                    let kind = kind.name();
                    lines += &format!("{kind}\t{package}::{name}\t{package}\t{file}\t{tool}\t{module}\n");
                }
            }
        }
        lines
    }
}

/// The outermost modules of a program's tests; none if a test is in no module.
///
/// To run a module, the program is given `module::` as a filter. A test passes the filter if its name contains that: so
/// no module's name may end with another's.
fn modules_of(target: &str, tests: &[String]) -> Result<BTreeSet<String>> {
    let modules = tests.iter().map(|test| Some(test.split_once("::")?.0.to_owned()));
    let modules = modules.collect::<Option<BTreeSet<String>>>().unwrap_or_default();
    for short in &modules {
        if let Some(long) = modules.iter().find(|long| *long != short && long.ends_with(short)) {
            return Err(format!("{target}: tests of `{long}` would run with those of `{short}`: rename one").into());
        }
    }
    Ok(modules)
}

/// Copies the programs into `folder` and returns the manifest.
fn install(folder: &Path, kinds: &[Kind], programs: &BTreeSet<Program>) -> Result<String> {
    let binaries = folder.join("bin");
    create(&binaries)?;
    let mut manifest = String::new();
    for kind in kinds {
        for program in programs {
            if !program.runs_as(*kind) {
                continue;
            }
            let Program {
                kind: built_as,
                package,
                target_kind,
                target,
                executable,
            } = program;
            let file = format!("{}-{package}-{target_kind}-{target}", built_as.name());
            let lines = program.manifest_lines(*kind, &file, &program.modules(*kind)?);
            if !lines.is_empty() {
                copy(executable, &binaries.join(&file))?;
                manifest += &lines;
            }
        }
    }
    Ok(manifest)
}

/// Copies compute-sanitizer beside the programs: the pinned one, whatever the GPU machine has.
fn install_sanitizer(root: &Path, folder: &Path) -> Result<()> {
    let from = SANITIZER.file(&wheels::folder(root), "nvidia/cu13/compute-sanitizer")?;
    let to = folder.join("bin/compute-sanitizer");
    create(&to)?;
    for entry in fs::read_dir(&from).map_err(|error| format!("cannot list {}: {error}", from.display()))? {
        let entry = entry?;
        // The folders within are its manual, its headers and a tool for 32-bit programs.
        if entry.file_type()?.is_file() {
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Copies the library and the module by which Python opens graph files.
fn install_loader(root: &Path, folder: &Path) -> Result<()> {
    let messages = cargo_build(root, &["--package", "cuda-graph-load"])?;
    let library = messages.iter().find_map(|message| pack::library(message, LOADER));
    let library = library.ok_or("cargo has built no library for Python")?;
    copy(&library, &folder.join("bin").join(format!("lib{LOADER}.so")))?;
    // Where the scripts look for it in a clone, too.
    copy_data(
        &root.join("cuda-graph-load/python"),
        &folder.join("data/cuda-graph-load/python"),
    )
}

/// Copies the runtime libraries beside the programs, each into a folder of its version.
fn install_cudart(root: &Path, folder: &Path) -> Result<()> {
    for (version, wheel, library) in CUDART {
        let from = wheel.file(&wheels::folder(root), library)?;
        let to = folder.join("bin").join(format!("cudart-{version}"));
        create(&to)?;
        copy(&from, &to.join(format!("libcudart.so.{version}")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact(kind: &str, test: bool) -> Value {
        serde_json::json!({
            "reason": "compiler-artifact",
            "manifest_path": "/work/examples/Cargo.toml",
            "target": { "kind": [kind], "name": "forward_backward" },
            "profile": { "test": test },
            "executable": "/target/release/forward_backward",
        })
    }

    #[test]
    fn kinds_follow_from_cargos_target_and_profile() {
        let kind_of = |kind, test| program(&artifact(kind, test)).map(|program| program.kind);
        assert_eq!(kind_of("bin", false), Some(Kind::Examples));
        assert_eq!(kind_of("example", false), Some(Kind::Examples));
        assert_eq!(kind_of("bin", true), Some(Kind::Tests));
        assert_eq!(kind_of("lib", true), Some(Kind::Tests));
        assert_eq!(kind_of("test", true), Some(Kind::Tests));
        assert_eq!(kind_of("test", false), Some(Kind::Tests));
        assert_eq!(kind_of("bench", true), Some(Kind::Bench));
        assert_eq!(kind_of("bench", false), Some(Kind::Bench));
        assert_eq!(kind_of("lib", false), None);
        assert_eq!(kind_of("custom-build", false), None);
    }

    #[test]
    fn messages_without_an_executable_are_passed_over() {
        let mut library = artifact("lib", true);
        library["executable"] = Value::Null;
        assert_eq!(program(&library), None);
        assert_eq!(
            program(&serde_json::json!({ "reason": "build-finished", "success": true })),
            None
        );
    }

    #[test]
    fn manifest_lines_name_kind_program_package_file_tool_and_module() {
        let example = program(&artifact("bin", false)).expect("an executable");
        let (file, whole) = ("examples-examples-bin-forward_backward", BTreeSet::new());
        let expected = format!("examples\texamples::forward_backward\texamples\t{file}\t-\t-\n");
        assert_eq!(example.manifest_lines(Kind::Examples, file, &whole), expected);
        let sanitized = example.manifest_lines(Kind::Sanitizer, file, &whole);
        let tools: Vec<_> = sanitized.lines().filter_map(|line| line.split('\t').nth(4)).collect();
        assert_eq!(tools, TOOLS);
    }

    #[test]
    fn tools_run_one_module_at_a_time_and_leave_some_out() {
        let mut safety = program(&artifact("test", true)).expect("an executable");
        safety.target = "safety".to_owned();
        let tests = ["changes::one", "changes::two", "emulator::one", "others::deep::one"].map(str::to_owned);
        let modules = modules_of("safety", &tests).expect("three modules");
        let lines = safety.manifest_lines(Kind::Sanitizer, "file", &modules);
        let runs: Vec<_> = lines
            .lines()
            .map(|line| line.split('\t').skip(4).collect::<Vec<_>>().join(" "))
            .collect();
        let expected = [
            "memcheck changes",
            "initcheck changes",
            "racecheck changes",
            "memcheck others",
            "initcheck others",
        ];
        assert_eq!(runs, expected);
        assert!(lines.starts_with("sanitizer\texamples::safety::changes\texamples\tfile\t"));
        safety.target = "sticky".to_owned();
        let whole = BTreeSet::new();
        assert_eq!(safety.manifest_lines(Kind::Sanitizer, "file", &whole), "");
        assert_eq!(safety.manifest_lines(Kind::Tests, "file", &whole).lines().count(), 1);
    }

    #[test]
    fn modules_whose_kernels_use_shared_memory_run_under_racecheck() {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../graph-runtime/tests");
        let read = |path: &Path| fs::read_to_string(path).expect("a file of text");
        let mut kernels = Vec::new();
        for name in ["clusters", "forms", "test_kernels"] {
            let text = read(&tests.join(format!("kernels/{name}.ptx")));
            let all = text.split(".entry ").skip(1);
            let shared = all.filter(|kernel| kernel.contains(".shared"));
            kernels.extend(shared.filter_map(|kernel| Some(kernel.split_once('(')?.0.to_owned())));
        }
        let mut missing = Vec::new();
        for target in "captures control launching memory safety statements".split(' ') {
            for entry in fs::read_dir(tests.join(target)).expect("a folder").flatten() {
                let module = entry.path().file_stem().map(|stem| stem.to_string_lossy().into_owned());
                let name = format!("{target}::{}", module.expect("a name"));
                if entry.path().is_dir() || RACED.contains(&&*name) || UNSANITIZED.contains(&&*name) {
                    continue;
                }
                let text = read(&entry.path());
                let names = |kernel: &String| [format!("{kernel}<<<"), format!("\"{kernel}\""), format!("::{kernel},")];
                // Generators have a built-in kernel that uses it.
                if text.contains(" rng ") || kernels.iter().flat_map(names).any(|name| text.contains(&name)) {
                    missing.push(name);
                }
            }
        }
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn a_module_that_compares_times_has_a_run_of_its_own() {
        let mut statements = program(&artifact("test", true)).expect("an executable");
        statements.target = TIMED.0.to_owned();
        let modules = statements.modules(Kind::Tests).expect("it asks no program");
        let lines = statements.manifest_lines(Kind::Tests, "file", &modules);
        assert_eq!(
            lines,
            "tests\texamples::statements\texamples\tfile\t-\t-\n\
             tests\texamples::statements::profile\texamples\tfile\t-\tprofile\n"
        );
        assert!(statements.modules(Kind::Delays).expect("nor this").is_empty());
    }

    #[test]
    fn a_program_with_tests_outside_modules_is_not_divided() {
        assert_eq!(
            modules_of("mixed", &["one".to_owned(), "module::two".to_owned()]).expect("no module"),
            BTreeSet::new()
        );
    }

    #[test]
    fn modules_that_one_filter_would_run_together_are_refused() {
        let tests = ["language::one", "host_language::two"].map(str::to_owned);
        assert!(modules_of("statements", &tests).is_err());
    }

    #[test]
    fn what_runs_as_what() {
        let test = program(&artifact("test", true)).expect("an executable");
        let example = program(&artifact("bin", false)).expect("an executable");
        assert!(test.runs_as(Kind::Tests) && test.runs_as(Kind::Delays) && test.runs_as(Kind::Sanitizer));
        assert!(!example.runs_as(Kind::Python));
        assert!(example.runs_as(Kind::Examples) && example.runs_as(Kind::Sanitizer) && !example.runs_as(Kind::Delays));
    }

    #[test]
    fn scripts_run_with_the_program_that_saves_their_file() {
        let mut engine = program(&artifact("bin", false)).expect("an executable");
        engine.target = "engine".to_owned();
        assert!(engine.runs_as(Kind::Python) && engine.runs_as(Kind::Examples));
        let modules = engine.modules(Kind::Python).expect("a script");
        let lines = engine.manifest_lines(Kind::Python, "file", &modules);
        assert_eq!(
            lines,
            "python\texamples::engine::engine_loaded\texamples\tfile\t-\tengine_loaded\n"
        );
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for (script, program) in SCRIPTS {
            let script = root.join("examples/pytorch").join(script).with_extension("py");
            let program = root.join("examples/src/bin").join(program).with_extension("rs");
            assert!(script.is_file() && program.is_file(), "{}", script.display());
        }
        let library = serde_json::json!({
            "reason": "compiler-artifact",
            "target": { "name": LOADER },
            "filenames": ["/target/libcuda_graph_load.rlib", "/target/libcuda_graph_load.so"],
        });
        let found = pack::library(&library, LOADER);
        assert_eq!(found, Some("/target/libcuda_graph_load.so".into()));
        assert_eq!(pack::library(&library, "other"), None);
    }

    #[test]
    fn kinds_are_read_as_they_are_written() {
        for kind in Kind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        assert!("benchmarks".parse::<Kind>().is_err());
    }
}
