//! Finds a library of NVIDIA's toolkit, under whatever version it has in its name.

use libloading::Library;
use std::cmp::Reverse;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// A library to find.
pub(super) struct Wanted {
    /// The names that the system's loader is asked for, the best first. (A folder may have others.)
    pub(super) names: &'static [&'static str],
    /// The name of its file: before the version, and after it (empty if the version ends the name).
    pub(super) file: (&'static str, &'static str),
    /// The folder of NVIDIA's Python package for CUDA 12 that has it.
    pub(super) wheel: &'static str,
    /// The functions that it must have.
    pub(super) functions: &'static [&'static str],
    /// Refuses a library that has these functions; the error is the end of a sentence that begins with its name.
    pub(super) check: fn(&Library) -> Result<(), String>,
}

/// Loads the best library of this machine. The error says what was tried: a sentence each.
pub(super) fn search(wanted: &Wanted) -> Result<Library, Vec<String>> {
    let mut tried = Vec::new();
    for name in wanted.names {
        // The loader's message about a name that it does not find would be noise.
        if let Ok(library) = load(Path::new(name)) {
            match refuse(wanted, &library) {
                None => return Ok(library),
                Some(why) => tried.push(format!("`{name}` {why}")),
            }
        }
    }
    let names: Vec<String> = wanted.names.iter().map(|name| format!("`{name}`")).collect();
    tried.push(format!(
        "the loader, which looks in `LD_LIBRARY_PATH`, finds none of {}",
        names.join(", ")
    ));
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let mut empty = Vec::new();
    for folder in folders(wanted.wheel, &variable) {
        let libraries = libraries(wanted, &folder);
        if libraries.is_empty() {
            empty.push(format!("`{}`", folder.display()));
        }
        for path in libraries {
            let why = match load(&path) {
                Ok(library) => match refuse(wanted, &library) {
                    None => return Ok(library),
                    Some(why) => why,
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

/// The reason why a library is not the one that is needed, if there is one.
fn refuse(wanted: &Wanted, library: &Library) -> Option<String> {
    match lacks(library, wanted.functions) {
        Some(missing) => Some(format!("is too old: it has no `{missing}`")),
        None => (wanted.check)(library).err(),
    }
}

fn load(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: loading a library runs its initialisers; those of NVIDIA's are made for it. Whoever sets the variables or
    // writes to the folders decides what is loaded, as with `LD_LIBRARY_PATH`.
    unsafe { Library::new(path) }
}

/// The first of these functions that the library does not have.
fn lacks(library: &Library, functions: &[&'static str]) -> Option<&'static str> {
    let is_there = |name: &str| {
        // SAFETY: the symbol is only looked up, never called with this type.
        unsafe { library.get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_ok()
    };
    functions.iter().copied().find(|name| !is_there(name))
}

/// The libraries in a folder: without a version first, then the newest.
fn libraries(wanted: &Wanted, folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(Reverse<Vec<u32>>, PathBuf)> = entries
        .filter_map(|entry| Some((Reverse(version(wanted, entry.file_name().to_str()?)?), entry.path())))
        .collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// The version in a file's name, if it is that of the library: `libnvrtc.so.12.4`, `nvrtc64_120_0.dll`. Without a
/// version, the highest one.
fn version(wanted: &Wanted, name: &str) -> Option<Vec<u32>> {
    let (before, after) = wanted.file;
    let numbers = match name.strip_prefix(before)?.strip_suffix(after)? {
        "" => return Some(vec![u32::MAX]),
        numbers if cfg!(windows) => numbers,
        numbers => numbers.strip_prefix('.')?,
    };
    numbers.split(['.', '_']).map(|number| number.parse().ok()).collect()
}

/// The folder of compiled sources and of fetched wheels that the environment names.
pub(crate) fn cache_folder(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let own = variable("CUDA_GRAPH_CACHE_DIR").map(PathBuf::from);
    let desktop = || Some(PathBuf::from(variable("XDG_CACHE_HOME")?).join("cuda-graph"));
    let home = || Some(PathBuf::from(variable("HOME")?).join(".cache/cuda-graph"));
    own.or_else(desktop).or_else(home)
}

/// The folders to look in: those of CUDA toolkits, and those of Python packages and fetched wheels that exist.
fn folders(wheel: &str, variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let named = |name: &&str| variable(name).map(PathBuf::from);
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
        packages.extend(wheels(wheel, &python.join("lib")));
    }
    let fetched = cache_folder(variable).and_then(|cache| fs::read_dir(cache.join("wheels")).ok());
    packages.extend(
        fetched
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path().join(wheel)),
    );
    folders.extend(packages.into_iter().filter(|folder| folder.is_dir()));
    let mut unique: Vec<PathBuf> = Vec::with_capacity(folders.len());
    for folder in folders {
        if !unique.contains(&folder) {
            unique.push(folder);
        }
    }
    unique
}

/// The folders in which NVIDIA's Python packages have the library, of all versions of Python in `lib`.
fn wheels(wheel: &str, lib: &Path) -> Vec<PathBuf> {
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
        .flat_map(|packages| ["nvidia/cu13/lib", wheel].map(|wheel| packages.join(wheel)))
        .collect()
}

#[cfg(all(test, not(windows)))]
mod tests {
    use super::*;

    const NVRTC: Wanted = Wanted {
        names: &[],
        file: ("libnvrtc.so", ""),
        wheel: "nvidia/cuda_nvrtc/lib",
        functions: &[],
        check: |_| Ok(()),
    };

    #[test]
    fn names_have_versions() {
        assert_eq!(version(&NVRTC, "libnvrtc.so"), Some(vec![u32::MAX]));
        assert_eq!(version(&NVRTC, "libnvrtc.so.13"), Some(vec![13]));
        assert_eq!(version(&NVRTC, "libnvrtc.so.12.4.127"), Some(vec![12, 4, 127]));
        for other in [
            "libnvrtc-builtins.so.13.0",
            "libnvrtc.alt.so.12",
            "libnvrtc.so.",
            "libnvrtc.soup",
        ] {
            assert_eq!(version(&NVRTC, other), None, "{other}");
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
        let found = libraries(&NVRTC, &folder);
        fs::remove_dir_all(&folder).unwrap();
        let names: Vec<_> = found.iter().filter_map(|path| path.file_name()?.to_str()).collect();
        assert_eq!(names, ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.9"]);
    }

    #[test]
    fn the_environment_names_the_cache() {
        let with = |set: &[(&str, &str)]| {
            let set: Vec<(String, OsString)> = set
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect();
            cache_folder(&move |name: &str| {
                set.iter()
                    .find(|(known, _)| known == name)
                    .map(|(_, value)| value.clone())
            })
        };
        let own = ("CUDA_GRAPH_CACHE_DIR", "/own");
        let desktop = ("XDG_CACHE_HOME", "/xdg");
        let home = ("HOME", "/home/me");
        assert_eq!(with(&[home, desktop, own]), Some("/own".into()));
        assert_eq!(with(&[home, desktop]), Some("/xdg/cuda-graph".into()));
        assert_eq!(with(&[home]), Some("/home/me/.cache/cuda-graph".into()));
        assert_eq!(with(&[]), None);
    }

    #[test]
    fn toolkits_come_before_packages() {
        let variable = |name: &str| (name == "CUDA_HOME").then(|| "/opt/cuda-13".into());
        let folders = folders(NVRTC.wheel, &variable);
        let first = [
            "/opt/cuda-13/lib64",
            "/opt/cuda-13/lib",
            "/usr/local/cuda/lib64",
            "/usr/local/cuda/lib",
        ];
        assert_eq!(folders[..4], first.map(PathBuf::from));
    }
}
