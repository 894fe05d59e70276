//! A CUDA source: the file, and its headers that lie beside it. All are embedded in the program as text.
//!
//! Nothing is compiled here, so that a machine without CUDA builds the program.

use super::file::{find, in_crate, shown};
use crate::report::error;
use graph_plan::{Code, Diagnostic};
use graph_ptx::origin::included;
use std::fs;
use std::path::{Path, PathBuf};
use syn::LitStr;

/// A CUDA file that was read.
pub(super) struct Cuda {
    /// The path as the author wrote it.
    pub(super) path: String,
    /// For `include_str!`.
    pub(super) absolute: String,
    /// Its headers, and the headers that these include.
    pub(super) headers: Vec<Header>,
    pub(super) options: Vec<LitStr>,
}

/// A header.
pub(super) struct Header {
    /// The name by which it is included.
    pub(super) name: String,
    /// For `include_str!`.
    pub(super) absolute: PathBuf,
}

pub(super) fn read(path: &str, source_file: Option<&Path>, options: Vec<LitStr>) -> Result<Cuda, Diagnostic> {
    let help = "put it there, relative to the crate's `Cargo.toml`";
    let (found, bytes) = find(path, source_file, &[], help)?;
    let absolute = std::path::absolute(&found).unwrap_or(found);
    let mut headers = Vec::new();
    include(&text(bytes, path)?, &absolute, &mut headers)?;
    Ok(Cuda {
        path: path.to_owned(),
        absolute: absolute.display().to_string(),
        headers,
        options: options.into_iter().fold(Vec::new(), with_option),
    })
}

/// Adds an option. A folder of headers that it names, or that the option before it announces, is relative to the
/// crate's folder, as every other path: the program may be compiled and run elsewhere.
fn with_option(mut options: Vec<LitStr>, option: LitStr) -> Vec<LitStr> {
    const NAMES: [&str; 2] = ["--include-path", "-I"];
    let text = option.value();
    let announced = options
        .last()
        .is_some_and(|last: &LitStr| NAMES.contains(&&*last.value()));
    let named = NAMES.iter().find_map(|name| {
        let folder = text.strip_prefix(name)?;
        let folder = folder.strip_prefix('=').unwrap_or(folder);
        (!folder.is_empty()).then(|| (&text[..text.len() - folder.len()], folder))
    });
    let split = if announced { Some(("", &*text)) } else { named };
    options.push(match split {
        Some((name, folder)) => {
            let folder = std::path::absolute(in_crate(folder)).unwrap_or_else(|_| in_crate(folder));
            LitStr::new(&format!("{name}{}", folder.display()), option.span())
        }
        None => option,
    });
    options
}

fn text(bytes: Vec<u8>, path: &str) -> Result<String, Diagnostic> {
    let message = || format!("`{path}` is not a text file: it is not UTF-8");
    String::from_utf8(bytes).map_err(|_| error(Code::PtxFile, message()))
}

/// Adds the headers that a file includes in quotes, and the headers that these include. A header that does not lie
/// beside the file is left for the compiler to find or to miss. So is one that only seems to be included, in a comment
/// or under an `#if`.
fn include(text: &str, file: &Path, headers: &mut Vec<Header>) -> Result<(), Diagnostic> {
    for name in text.lines().filter_map(quoted) {
        let Some(absolute) = file.parent().map(|folder| folder.join(name)) else {
            continue;
        };
        let Ok(bytes) = fs::read(&absolute) else { continue };
        match headers.iter().find(|known| known.name == name) {
            Some(known) if is_same(&known.absolute, &absolute) => continue,
            Some(known) => return Err(ambiguous(name, &known.absolute, &absolute)),
            None => {}
        }
        headers.push(Header {
            name: name.to_owned(),
            absolute: absolute.clone(),
        });
        include(&self::text(bytes, name)?, &absolute, headers)?;
    }
    Ok(())
}

/// The name in `#include "name"`.
fn quoted(line: &str) -> Option<&str> {
    let (name, is_quoted) = included(line)?;
    is_quoted.then_some(name)
}

fn is_same(one: &Path, other: &Path) -> bool {
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    canonical(one) == canonical(other)
}

/// The mistake that two headers are included by one name: NVRTC tells headers apart by these names only.
fn ambiguous(name: &str, one: &Path, other: &Path) -> Diagnostic {
    let (one, other) = (shown(one).display(), shown(other).display());
    error(Code::PtxFile, format!("two headers are both included as `{name}`"))
        .note(format!("they are `{one}` and `{other}`"))
        .help("rename one, or include it by a longer path")
}

#[cfg(test)]
mod tests {
    use super::with_option;
    use proc_macro2::Span;
    use syn::LitStr;

    #[test]
    fn folders_of_headers_are_the_crates() {
        let of = |options: &[&str]| -> Vec<String> {
            let options = options.iter().map(|option| LitStr::new(option, Span::call_site()));
            let options = options.fold(Vec::new(), with_option);
            options.iter().map(LitStr::value).collect()
        };
        let inside = |folder: &str| format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"));
        assert_eq!(
            of(&[
                "-Iinclude",
                "-I",
                "more/headers",
                "-DFACTOR=3",
                "--include-path=a b",
                "-I=c"
            ]),
            [
                format!("-I{}", inside("include")),
                "-I".to_owned(),
                inside("more/headers"),
                "-DFACTOR=3".to_owned(),
                format!("--include-path={}", inside("a b")),
                format!("-I={}", inside("c")),
            ]
        );
        let absolute = [
            "-I/opt/include",
            "--include-path",
            "/opt/more",
            "-include=a.h",
            "--use_fast_math",
        ];
        assert_eq!(of(&absolute), absolute);
    }
}
