//! The driver that runs nothing, for machines without a GPU: `fake/libcuda.rs`, which `rustc` compiles.

use crate::common::cuda_only;
use graph_runtime::Device;
use graph_runtime::fault_injection as faults;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The environment variable of processes with that driver.
const FAKE: &str = "CUDA_GRAPH_FAKE_DRIVER";

/// Whether launches do nothing here, so that results are not to be looked at.
pub(crate) fn is_fake() -> bool {
    env::var_os(FAKE).is_some()
}

/// The device, for as long as the guard lives: tests take turns, since calls of all of them count together. `None` if
/// there is no GPU: then the test has run, and passed, in another process.
pub(crate) fn device(test: &str) -> Option<(Device, MutexGuard<'static, ()>)> {
    device_with(test, &[])
}

/// As [`device`], with environment variables for the other process.
pub(crate) fn device_with(test: &str, variables: &[(&str, &str)]) -> Option<(Device, MutexGuard<'static, ()>)> {
    let turn = turn();
    if let Some(device) = cuda_only(test) {
        faults::start();
        return Some((device, turn));
    }
    let program = env::current_exe().expect("this program has a path");
    let run = Command::new(program)
        .args(["--exact", test, "--nocapture"])
        .env("LD_LIBRARY_PATH", library())
        .env("CUDA_GRAPH_TEST_DEVICE", "cuda")
        .env(FAKE, "1")
        .envs(variables.iter().copied())
        .output()
        .expect("this program runs again");
    let (out, error) = (
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr),
    );
    assert!(
        run.status.success(),
        "{test} with the fake driver: {}\n{out}\n{error}",
        run.status
    );
    println!("{out}");
    None
}

/// Lets one test run at a time: calls and allocations of all tests count together.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The folder of the library, which is compiled once.
fn library() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fake_driver");
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fault_injection/fake/libcuda.rs");
        let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let compiled = Command::new(compiler)
            .args(["--edition", "2024", "--crate-type", "cdylib", "-C", "strip=symbols"])
            .arg(source)
            .arg("-o")
            .arg(folder.join("libcuda.so"))
            .status();
        assert!(
            compiled.is_ok_and(|status| status.success()),
            "the fake driver does not compile"
        );
        folder
    })
}
