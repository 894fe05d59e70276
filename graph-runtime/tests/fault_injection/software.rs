//! The driver in software, for machines without a GPU: `cuda-graph-driver`, which Cargo compiles for this test.

use crate::common::*;
use graph_runtime::fault_injection as faults;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// The environment variable of processes that run one test.
const CHILD: &str = "CUDA_GRAPH_FAULTS_CHILD";
/// The longest that a test of [`alone`] takes, and a part of one.
const MAX_ALONE: Duration = Duration::from_secs(60);

/// The device, for as long as the guard lives: tests take turns, since calls of all of them count together. `None` if
/// there is no GPU: then the test has run, and passed, in another process.
pub(crate) fn device(test: &str) -> Option<(Device, MutexGuard<'static, ()>)> {
    device_with(test, &[])
}

/// As [`device`], with environment variables for the other process.
pub(crate) fn device_with(test: &str, variables: &[(&str, &str)]) -> Option<(Device, MutexGuard<'static, ()>)> {
    let turn = turn();
    if wants_cuda() {
        let device = cuda_device();
        faults::start();
        return Some((device, turn));
    }
    pass(test, variables);
    None
}

/// As [`device`], but the test runs in a process of its own on a GPU, too: if it crashes there, others go on. With the
/// driver in software, it runs once for each list of environment variables.
pub(crate) fn alone(test: &str, drivers: &[&[(&str, &str)]]) -> Option<(Device, MutexGuard<'static, ()>)> {
    if is_child() {
        end_late_child();
        return device(test);
    }
    let _turn = turn();
    let runs = if wants_cuda() { &[&[][..]] } else { drivers };
    runs.iter().for_each(|variables| pass(test, variables));
    None
}

/// Whether this process runs one test for another process.
pub(crate) fn is_child() -> bool {
    env::var_os(CHILD).is_some()
}

/// Ends this process if its test takes too long.
pub(crate) fn end_late_child() {
    thread::spawn(|| {
        thread::sleep(MAX_ALONE);
        eprintln!("the test did not end within {MAX_ALONE:?}");
        std::process::exit(124);
    });
}

/// Runs a test in another process, with environment variables: on the GPU, or else with the driver in software, which
/// ends the process if a handle does not live.
pub(crate) fn run_again(test: &str, variables: &[(&str, &str)]) -> Output {
    let program = env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.args(["--exact", test, "--nocapture"]).env(CHILD, "1");
    if !wants_cuda() {
        command
            .env("LD_LIBRARY_PATH", library())
            .env("CUDA_GRAPH_CACHE_DIR", library()) // without libraries that `cargo cuda-graph` has fetched
            .env("CUDA_GRAPH_TEST_DEVICE", "cuda")
            .env("CUDA_GRAPH_TEST_DRIVER", library())
            .env("CUDA_GRAPH_DRIVER_STRICT", "1");
    }
    let run = command.envs(variables.iter().copied()).output();
    run.expect("this program runs again")
}

/// As [`run_again`]. The test must pass there; what it prints is printed.
fn pass(test: &str, variables: &[(&str, &str)]) {
    let run = run_again(test, variables);
    let out = String::from_utf8_lossy(&run.stdout);
    let error = String::from_utf8_lossy(&run.stderr);
    assert!(
        run.status.success(),
        "{test} in another process, {variables:?}: {}\n{out}\n{error}",
        run.status
    );
    println!("{out}");
}

/// Lets one test run at a time: calls and allocations of all tests count together.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder with the driver under the names of CUDA's libraries. One file is one library, with one state.
fn library() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("driver");
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        let program = env::current_exe().expect("this program has a path");
        let library = program.with_file_name("libcuda_graph_driver.so");
        assert!(library.exists(), "{} is not there", library.display()); // a dev-dependency of this crate
        for name in ["libcuda.so.1", "libcuda.so", "libcudart.so.12", "libnccl.so.2"] {
            let link = folder.join(name);
            let _ = std::fs::remove_file(&link);
            #[cfg(unix)]
            std::os::unix::fs::symlink(&library, &link).expect("the driver gets its names");
        }
        folder
    })
}
