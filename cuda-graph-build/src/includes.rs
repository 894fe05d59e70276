//! The author's own headers that a source includes: those beside it, and those in folders that options name.

use std::fs;
use std::path::{Path, PathBuf};

use graph_ptx::origin::{OriginFile, included};

/// A header of the author's own.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    /// The names by which it is included.
    pub(crate) names: Vec<String>,
    /// Its canonical path.
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
    /// Its path relative to the folder of the source.
    relative: String,
}

/// Returns the headers that a source includes. A header that only seems to be included, in a comment or under an `#if`,
/// is among them; CUDA's own headers are not, and those of folders that `options` name by absolute paths are not.
pub(crate) fn headers(source: &Path, text: &str, options: &[String]) -> Vec<Header> {
    let mut headers = Vec::new();
    let folder = source
        .parent()
        .filter(|folder| *folder != Path::new(""))
        .unwrap_or(Path::new("."));
    if let Ok(folder) = fs::canonicalize(folder) {
        let mut folders = vec![folder.clone()];
        folders.extend(named(options).filter_map(|folder| fs::canonicalize(folder).ok()));
        add(&mut headers, text, &folder, &folders);
    }
    headers
}

/// Returns the source and its headers, with their paths relative to the folder of the source.
pub(crate) fn files(source: &Path, text: &str, headers: &[Header]) -> Vec<OriginFile> {
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    let own = OriginFile::new(name, text.as_bytes());
    let others = headers
        .iter()
        .map(|header| OriginFile::new(&*header.relative, &header.bytes));
    std::iter::once(own).chain(others).collect()
}

/// Adds the headers that a text in `folder` includes, and the headers that these include.
fn add(headers: &mut Vec<Header>, text: &str, folder: &Path, folders: &[PathBuf]) {
    for (name, is_quoted) in text.lines().filter_map(included) {
        let beside = is_quoted.then_some(folder);
        let mut candidates = beside.into_iter().chain(folders.iter().map(PathBuf::as_path));
        let Some(path) = candidates.find_map(|folder| fs::canonicalize(folder.join(name)).ok()) else {
            continue;
        };
        if let Some(known) = headers.iter_mut().find(|known| known.path == path) {
            known
                .names
                .extend((!known.names.iter().any(|known| known == name)).then(|| name.to_owned()));
            continue;
        }
        let Ok(bytes) = fs::read(&path) else { continue };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let inside = path.parent().unwrap_or(folder).to_owned();
        headers.push(Header {
            names: vec![name.to_owned()],
            relative: relative(&folders[0], &path),
            path,
            bytes,
        });
        add(headers, &text, &inside, folders);
    }
}

/// The folders of headers that options name by relative paths.
fn named(options: &[String]) -> impl Iterator<Item = &Path> {
    const NAMES: [&str; 2] = ["--include-path", "-I"];
    let before = [""].into_iter().chain(options.iter().map(String::as_str));
    let folders = options.iter().zip(before).filter_map(|(option, before)| {
        if NAMES.contains(&before) {
            return Some(option.as_str());
        }
        let folder = NAMES.iter().find_map(|name| option.strip_prefix(name))?;
        Some(folder.strip_prefix('=').unwrap_or(folder))
    });
    folders
        .filter(|folder| !folder.is_empty())
        .map(Path::new)
        .filter(|folder| folder.is_relative())
}

/// The path of a file as it is named from a folder, with `/` between its parts. Both are canonical.
fn relative(folder: &Path, file: &Path) -> String {
    let common = folder
        .components()
        .zip(file.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = folder.components().skip(common).map(|_| "..".to_owned());
    let down = file.components().skip(common);
    let parts = up.chain(down.map(|part| part.as_os_str().to_string_lossy().into_owned()));
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_beside_and_in_named_folders_are_found() {
        let root = std::env::temp_dir().join(format!("cuda-graph-includes-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("kernels/x.cu", "");
        write("kernels/a/a.h", "#include \"b.h\"\n#include \"a.h\"\n");
        write("kernels/a/b.h", "#include <c.h>\n#include <cuda_fp16.h>\n");
        write("include/c.h", "");
        let text = "#include \"a/a.h\"\n#include \"none.h\"\n";
        let paths = |options: &[String]| -> Vec<String> {
            let source = root.join("kernels/x.cu");
            let files = files(&source, text, &headers(&source, text, options));
            files.into_iter().map(|file| file.path).collect()
        };
        assert_eq!(paths(&[]), ["x.cu", "a/a.h", "a/b.h"]);
        let folder = root.join("include").display().to_string();
        let expected = ["x.cu", "a/a.h", "a/b.h"];
        assert_eq!(paths(&[format!("-I{folder}")]), expected, "an absolute path");
        fs::remove_dir_all(&root).unwrap();
        let expected = "../include/c.h";
        assert_eq!(relative(Path::new("/r/kernels"), Path::new("/r/include/c.h")), expected);
        let options = ["-I", "one", "--include-path=two", "-Ithree", "-I=four", "-I/abs", "-G"];
        let found: Vec<String> = options.map(str::to_owned).into();
        let found: Vec<&Path> = named(&found).collect();
        assert_eq!(found, ["one", "two", "three", "four"].map(Path::new));
    }
}
