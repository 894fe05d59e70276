//! NVRTC of a toolkit that is installed on this machine.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Environment variables that name a toolkit.
const VARIABLES: [&str; 3] = ["CUDA_PATH", "CUDA_HOME", "CUDA_ROOT"];
/// Folders where toolkits usually are.
const USUAL: [&str; 3] = ["/usr/local/cuda", "/opt/cuda", "/usr"];
/// The folders of libraries in a toolkit.
const LIBRARIES: [&str; 5] = [
    "lib64",
    "lib",
    "targets/x86_64-linux/lib",
    "lib/x86_64-linux-gnu",
    "bin",
];

/// The folders that [`nvrtc`] looks in.
pub(crate) fn folders() -> Vec<PathBuf> {
    let named = VARIABLES.into_iter().filter_map(env::var_os).map(PathBuf::from);
    let toolkits = named.chain(USUAL.map(PathBuf::from));
    toolkits
        .flat_map(|toolkit| LIBRARIES.map(|library| toolkit.join(library)))
        .collect()
}

/// The path of NVRTC in the first folder that has one; the one with the greatest version in its name.
pub(crate) fn nvrtc(folders: &[PathBuf]) -> Option<PathBuf> {
    folders.iter().find_map(|folder| newest(folder))
}

fn newest(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?;
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let versioned = files.filter_map(|path| Some((version(path.file_name()?.to_str()?)?, path)));
    versioned.max().map(|(_, path)| path)
}

/// The numbers in the name of a library that is NVRTC: `libnvrtc.so.12.4.127`, `nvrtc64_120_0.dll`.
fn version(name: &str) -> Option<Vec<u32>> {
    let numbers = match name.strip_prefix("libnvrtc.so") {
        Some(rest) => rest,
        None => name.strip_prefix("nvrtc64_")?.strip_suffix(".dll")?,
    };
    let words = numbers.split(['.', '_']).filter(|word| !word.is_empty());
    words.map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_is_found_by_its_name() {
        assert_eq!(version("libnvrtc.so.12.4.127"), Some(vec![12, 4, 127]));
        assert_eq!(version("libnvrtc.so"), Some(vec![]));
        assert_eq!(version("nvrtc64_120_0.dll"), Some(vec![120, 0]));
        for other in [
            "libnvrtc-builtins.so.12.4",
            "libnvrtc.so.12.alt",
            "nvrtc64_120_0.alt.dll",
            "libcuda.so.1",
        ] {
            assert_eq!(version(other), None, "{other}");
        }
        assert!(version("libnvrtc.so.12") < version("libnvrtc.so.13"));
        assert!(version("libnvrtc.so") < version("libnvrtc.so.9"));
    }
}
