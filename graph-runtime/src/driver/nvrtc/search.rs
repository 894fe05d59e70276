//! Finds NVRTC's library, under whatever version it has in its name.

use libloading::Library;
use std::cmp::Reverse;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The library on this machine that has all functions of these names. It is searched and loaded at the first call, and
/// never unloaded. The error says what was tried: a sentence each.
pub(super) fn library(functions: &[&str]) -> Result<&'static Library, &'static [String]> {
    static LIBRARY: OnceLock<Result<Library, Vec<String>>> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| search(functions));
    library.as_ref().map_err(Vec::as_slice)
}

/// The names that the system's loader is asked for, the newest version first. (A folder may have others.)
const NAMES: &[&str] = if cfg!(windows) {
    &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"]
} else {
    &["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"]
};

fn search(functions: &[&str]) -> Result<Library, Vec<String>> {
    let mut tried = Vec::new();
    for name in NAMES {
        // The loader's message about a name that it does not find would be noise.
        if let Ok(library) = load(Path::new(name)) {
            match lacks(&library, functions) {
                None => return Ok(library),
                Some(missing) => tried.push(format!("`{name}` is too old: it has no `{missing}`")),
            }
        }
    }
    let names: Vec<String> = NAMES.iter().map(|name| format!("`{name}`")).collect();
    tried.push(format!(
        "the loader, which looks in `LD_LIBRARY_PATH`, finds none of {}",
        names.join(", ")
    ));
    let mut empty = Vec::new();
    for folder in folders(&|name| env::var_os(name)) {
        let libraries = libraries(&folder);
        if libraries.is_empty() {
            empty.push(format!("`{}`", folder.display()));
        }
        for path in libraries {
            let why = match load(&path) {
                Ok(library) => match lacks(&library, functions) {
                    None => return Ok(library),
                    Some(missing) => format!("is too old: it has no `{missing}`"),
                },
                Err(error) => format!("cannot be loaded: {error}"),
            };
            tried.push(format!("`{}` {why}", path.display()));
        }
    }
    if !empty.is_empty() {
        tried.push(format!("there is none in {}", empty.join(", ")));
    }
    Err(tried)
}

fn load(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: loading a library runs its initialisers; those of NVRTC are made for it. Whoever sets the variables or
    // writes to the folders decides what is loaded, as with `LD_LIBRARY_PATH`.
    unsafe { Library::new(path) }
}

/// The first of these functions that the library does not have.
fn lacks<'f>(library: &Library, functions: &[&'f str]) -> Option<&'f str> {
    let is_there = |name: &str| {
        // SAFETY: the symbol is only looked up, never called with this type.
        unsafe { library.get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_ok()
    };
    functions.iter().copied().find(|name| !is_there(name))
}

/// The libraries in a folder: without a version first, then the newest.
fn libraries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(Reverse<Vec<u32>>, PathBuf)> = entries
        .filter_map(|entry| Some((Reverse(version(entry.file_name().to_str()?)?), entry.path())))
        .collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// The version in a file's name, if it is that of NVRTC: `libnvrtc.so.12.4`, `nvrtc64_120_0.dll`. Without a version,
/// the highest one.
fn version(name: &str) -> Option<Vec<u32>> {
    let numbers = if cfg!(windows) {
        name.strip_prefix("nvrtc64_")?.strip_suffix(".dll")?
    } else {
        match name.strip_prefix("libnvrtc.so")? {
            "" => return Some(vec![u32::MAX]),
            numbers => numbers.strip_prefix('.')?,
        }
    };
    numbers.split(['.', '_']).map(|number| number.parse().ok()).collect()
}

/// The folders to look in: those of CUDA toolkits, and those of Python packages that exist.
fn folders(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let named = |name: &&str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let toolkits = ["CUDA_PATH", "CUDA_HOME", "CUDA_ROOT"].iter().filter_map(named);
    let inside: &[&str] = if cfg!(windows) {
        &["bin", "bin/x64"]
    } else {
        &["lib64", "lib"]
    };
    let mut folders: Vec<PathBuf> = toolkits
        .chain(["/usr/local/cuda".into()])
        .flat_map(|toolkit| inside.iter().map(move |inside| toolkit.join(inside)))
        .collect();
    let environments: Vec<PathBuf> = ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(named).collect();
    let home = variable("HOME").map(|home| PathBuf::from(home).join(".local"));
    let mut packages: Vec<PathBuf> = environments.iter().map(|folder| folder.join("lib")).collect();
    for python in environments
        .into_iter()
        .chain(home)
        .chain(["/usr/local".into(), "/usr".into()])
    {
        packages.extend(wheels(&python.join("lib")));
    }
    folders.extend(packages.into_iter().filter(|folder| folder.is_dir()));
    let mut unique: Vec<PathBuf> = Vec::with_capacity(folders.len());
    for folder in folders {
        if !unique.contains(&folder) {
            unique.push(folder);
        }
    }
    unique
}

/// The folders in which NVIDIA's Python packages have NVRTC, of all versions of Python in `lib`.
fn wheels(lib: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(lib).into_iter().flatten().flatten();
    let mut pythons: Vec<PathBuf> = entries
        .filter(|entry| {
            entry
                .file_name()
                .to_str()
                .is_some_and(|name| name.starts_with("python3"))
        })
        .map(|entry| entry.path())
        .collect();
    pythons.sort();
    let packages = pythons
        .iter()
        .flat_map(|python| ["site-packages", "dist-packages"].map(|packages| python.join(packages)));
    // Of CUDA 13, and of CUDA 12.
    packages
        .flat_map(|packages| ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"].map(|wheel| packages.join(wheel)))
        .collect()
}

#[cfg(all(test, not(windows)))]
mod tests {
    use super::*;

    #[test]
    fn names_have_versions() {
        assert_eq!(version("libnvrtc.so"), Some(vec![u32::MAX]));
        assert_eq!(version("libnvrtc.so.13"), Some(vec![13]));
        assert_eq!(version("libnvrtc.so.12.4.127"), Some(vec![12, 4, 127]));
        for other in [
            "libnvrtc-builtins.so.13.0",
            "libnvrtc.alt.so.12",
            "libnvrtc.so.",
            "libnvrtc.soup",
        ] {
            assert_eq!(version(other), None, "{other}");
        }
    }

    #[test]
    fn the_newest_version_in_a_folder_comes_first() {
        let folder = env::temp_dir().join(format!("cuda-graph-libraries-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in [
            "libnvrtc.so.9",
            "libnvrtc.so.12",
            "libnvrtc.so.13",
            "libnvrtc-builtins.so.13.0",
        ] {
            fs::write(folder.join(name), "").unwrap();
        }
        let found = libraries(&folder);
        fs::remove_dir_all(&folder).unwrap();
        let names: Vec<_> = found.iter().filter_map(|path| path.file_name()?.to_str()).collect();
        assert_eq!(names, ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.9"]);
    }

    #[test]
    fn toolkits_come_before_packages() {
        let variable = |name: &str| (name == "CUDA_HOME").then(|| "/opt/cuda-13".into());
        let folders = folders(&variable);
        let first = [
            "/opt/cuda-13/lib64",
            "/opt/cuda-13/lib",
            "/usr/local/cuda/lib64",
            "/usr/local/cuda/lib",
        ];
        assert_eq!(folders[..4], first.map(PathBuf::from));
    }
}
