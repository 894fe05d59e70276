//! Tests in processes of their own, with a cache and a compiler of their own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::{env, fs};

/// The cache's entry of `scale.cu`, compiled for the emulator, and the name of that file.
pub(super) const KEPT: &[u8] = include_bytes!("../../sources/scale.entry");
pub(super) const KEPT_NAME: &str = include_str!("../../sources/scale.name");

/// Set for the processes that the tests start: the name of the test.
pub(super) const CHILD: &str = "CUDA_GRAPH_TEST_CHILD";

/// Whether this is a process that the test `name` has started.
pub(super) fn is_child(name: &str) -> bool {
    env::var_os(CHILD).is_some_and(|child| child == name)
}

/// The variables that lead to NVRTC, besides `LD_LIBRARY_PATH`.
pub(super) const PLACES: [&str; 6] = [
    "CUDA_PATH",
    "CUDA_HOME",
    "CUDA_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "HOME",
];

/// The test `name` in a process of its own.
pub(super) fn start(name: &str, cache: &Path, compiler: Option<&Path>) -> Child {
    command(name, cache, compiler).spawn().unwrap()
}

pub(super) fn command(name: &str, cache: &Path, compiler: Option<&Path>) -> Command {
    let named = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let others = env::split_paths(&named).filter(|folder| !has_compiler(folder));
    let libraries = env::join_paths(compiler.map(PathBuf::from).into_iter().chain(others)).unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args([&*format!("nvrtc::{name}"), "--exact", "--nocapture"])
        .env(CHILD, name)
        .env("CUDA_GRAPH_CACHE_DIR", cache)
        .env("LD_LIBRARY_PATH", libraries)
        .envs(PLACES.map(|place| (place, "/nowhere")))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub(super) fn finish(child: Child) {
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && out.contains("1 passed"), "{out}\n{err}");
}

/// Runs the test `name` again, in a process with this cache and this compiler.
pub(super) fn again(name: &str, cache: &Path, compiler: Option<&Path>) {
    finish(start(name, cache, compiler));
}

/// Runs the test `name` again with a compiler and an empty cache, if there is a compiler.
pub(super) fn again_with_compiler(name: &str) {
    if let Some(compiler) = compiler(name) {
        again(name, &Cache::new().0, Some(&compiler));
    }
}

/// The folder of NVRTC, or `None`, said aloud, where there is none.
pub(super) fn compiler(test: &str) -> Option<PathBuf> {
    let wheels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.wheels");
    let wheels = fs::read_dir(wheels).into_iter().flatten().flatten();
    let wheels = wheels.map(|wheel| wheel.path().join("nvidia/cuda_nvrtc/lib"));
    let named = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut folders = wheels
        .chain(env::split_paths(&named))
        .chain(["/usr/local/cuda/lib64".into()]);
    let found = folders.find(|folder| has_compiler(folder));
    if found.is_none() {
        eprintln!("{test}: skipped, since it needs NVRTC (`cargo xtask ptx` fetches it)");
    }
    found
}

pub(super) fn has_compiler(folder: &Path) -> bool {
    library(folder).is_some()
}

/// The library of NVRTC in a folder, whatever version it has in its name.
pub(super) fn library(folder: &Path) -> Option<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_library = |name: &str| name.starts_with("libnvrtc.so");
    let mut files = files.filter(|file| file.file_name().to_str().is_some_and(is_library));
    files.next().map(|file| file.path())
}

/// An empty folder that is there until the test ends.
pub(super) struct Cache(pub(super) PathBuf);

impl Cache {
    pub(super) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("cuda-graph-test-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
        let folder = env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// One with what is checked in.
    pub(super) fn prepared() -> Self {
        let cache = Self::new();
        fs::write(cache.0.join(KEPT_NAME), KEPT).unwrap();
        cache
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The files of a folder, by name.
pub(super) fn entries(folder: &Path) -> Vec<(OsString, Vec<u8>)> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut entries: Vec<_> = files
        .map(|file| (file.file_name(), fs::read(file.path()).unwrap()))
        .collect();
    entries.sort();
    entries
}
