//! Programs beside any cudarc: packages that ask cudarc for what other crates ask of it, or have another cudarc, or
//! none. graph-runtime compiles with all of them.

#[path = "../package/mod.rs"]
mod package;

use package::Package;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// A graph on the emulator.
const GRAPH: &str = include_str!("graph.rs");

/// The features that candle-core 0.11.1 asks cudarc for: they link the program to CUDA's libraries.
const CANDLE: &str = "graph-runtime = { path = 'WORKSPACE/graph-runtime' }
cudarc = { version = '0.19.8', default-features = false, features = ['std', 'cublas', 'cublaslt', 'curand', 'driver', \
                      'nvrtc', 'f16', 'f8', 'cuda-version-from-build-system', 'dynamic-linking'] }";

/// The libraries that [`CANDLE`] links.
const LIBRARIES: [&str; 5] = ["cuda", "nvrtc", "cublas", "cublasLt", "curand"];

/// The functions that cudarc's types call when they are dropped, and those that graph-runtime has cudarc call.
const FUNCTIONS: [&str; 8] = [
    "cuCtxDestroy_v2",
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuDevicePrimaryCtxRelease_v2",
    "cuEventDestroy_v2",
    "cuFuncGetAttribute",
    "cuModuleUnload",
    "cuStreamDestroy_v2",
];

/// Fails unless a command of cargo's succeeds.
fn succeed(mut command: Command) {
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn package(name: &str, dependencies: &str) -> Package {
    Package::new(name, Some(dependencies)).expect("a package in the target folder")
}

/// Makes the command `name` of cargo for a program.
fn cargo(package: &Package, name: &str, program: &str) -> Command {
    let command = package.cargo(name, "src/main.rs", program);
    command.expect("the source can be written")
}

/// candle's features compile, link and run, where CUDA is not installed: a library whose functions fail stands in for
/// each of CUDA's. A graph on the emulator calls none of them.
#[test]
fn features_of_candle() {
    let package = package("beside-candle", CANDLE);
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("beside-candle/cuda");
    let folder = root.join("lib64");
    fs::create_dir_all(&folder).expect("a folder");
    let functions =
        FUNCTIONS.map(|name| format!("#[unsafe(no_mangle)] pub extern \"C\" fn {name}() -> u32 {{ 999 }}\n"));
    let source = root.join("stub.rs");
    fs::write(&source, functions.concat()).expect("a file");
    let stub = root.join("libstub.so");
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition", "2024", "--crate-type", "cdylib", "-o"]);
    rustc.arg(&stub).arg(&source);
    succeed(rustc);
    for library in LIBRARIES {
        fs::copy(&stub, folder.join(format!("lib{library}.so"))).expect("a copy");
    }
    let mut run = cargo(&package, "run", GRAPH);
    run.env("CUDA_PATH", &root).env("LD_LIBRARY_PATH", &folder);
    succeed(run);
}

/// A program without cudarc compiles, and runs.
#[test]
fn no_cudarc() {
    let package = package(
        "beside-none",
        "graph-runtime = { path = 'WORKSPACE/graph-runtime', default-features = false, features = ['emulator'] }",
    );
    succeed(cargo(&package, "run", GRAPH));
    let lock = Path::new(env!("CARGO_TARGET_TMPDIR")).join("beside-none/Cargo.lock");
    let lock = fs::read_to_string(lock).expect("cargo has written it");
    assert!(!lock.contains("\"cudarc\""), "{lock}");
}

/// Two crates ask for two versions of CUDA.
#[test]
fn two_versions_of_cuda() {
    let package = package(
        "beside-versions",
        "graph-runtime = { path = 'WORKSPACE/graph-runtime', features = ['cuda-12080', 'cuda-13000'] }",
    );
    succeed(cargo(&package, "check", GRAPH));
}

/// A program on an older cudarc hands over its context and its streams as pointers.
#[test]
fn cudarc_0_16() {
    let package = package(
        "beside-cudarc-0-16",
        "graph-runtime = { path = 'WORKSPACE/graph-runtime' }
cudarc = { version = '0.16', default-features = false, features = ['std', 'driver', 'cuda-12080', 'dynamic-loading'] }",
    );
    succeed(cargo(&package, "check", include_str!("other_cudarc.rs")));
}

/// As [`cudarc_0_16`]. Cargo has one cudarc 0.19 in a build, so this program has none of graph-runtime's.
#[test]
fn cudarc_0_19_3() {
    let package = package(
        "beside-cudarc-0-19-3",
        "graph-runtime = { path = 'WORKSPACE/graph-runtime', default-features = false, features = ['emulator'] }
cudarc = { version = '=0.19.3', default-features = false, features = ['std', 'driver', 'cuda-12080', 'dynamic-loading'] }",
    );
    succeed(cargo(&package, "check", include_str!("other_cudarc.rs")));
}
