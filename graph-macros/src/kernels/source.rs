//! The files that a block names: their paths and their content.

use super::attribute::File;
use super::cuda::{self, Cuda};
use super::file::{find, shown};
use crate::report::{Report, error};
use graph_plan::{Code, Diagnostic, Target};
use graph_ptx::ast::Module;
use graph_ptx::origin::Origin;
use std::fs;
use std::path::Path;
use syn::LitStr;

/// A file that was read.
pub(super) enum Source {
    Ptx(Files),
    Cuda(Cuda),
}

/// PTX files with the same kernels.
pub(super) struct Files {
    /// The file for all devices.
    pub(super) first: Ptx,
    /// The files that are tuned for newer devices, each for a higher target than those before it.
    pub(super) tuned: Vec<Ptx>,
}

impl Files {
    /// All files, the first one first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Ptx> {
        std::iter::once(&self.first).chain(&self.tuned)
    }
}

impl Source {
    /// The path of the first file as the author wrote it.
    pub(super) fn path(&self) -> &str {
        match self {
            Source::Ptx(files) => &files.first.path,
            Source::Cuda(cuda) => &cuda.path,
        }
    }

    /// The PTX files; none if the source is CUDA C++.
    pub(super) fn files(&self) -> impl Iterator<Item = &Ptx> {
        let files = match self {
            Source::Ptx(files) => Some(files),
            Source::Cuda(_) => None,
        };
        files.into_iter().flat_map(Files::all)
    }
}

/// A PTX file that was read and parsed.
pub(super) struct Ptx {
    /// The path as the author wrote it.
    pub(super) path: String,
    /// For `include_str!`.
    pub(super) absolute: String,
    /// The files that it was made of, for `include_bytes!`: when they change, it is looked at again.
    pub(super) made_of: Vec<String>,
    pub(super) module: Module,
    /// The hash of its text.
    pub(super) hash: u128,
}

/// A hash of 128 bits. Bytes are taken sixteen at a time: the macro runs without optimisation.
pub(super) fn hash(bytes: &[u8]) -> u128 {
    const FACTOR: u128 = 0x2d35_8dcc_aa6c_78a5_8bb8_4b93_962e_acc9;
    let mixed = |hash: u128, word: u128| (hash.rotate_left(59) ^ word).wrapping_mul(FACTOR);
    let (words, rest) = bytes.as_chunks();
    let hash = words.iter().fold(bytes.len() as u128, |hash, word| {
        mixed(hash, u128::from_le_bytes(*word))
    });
    let hash = rest.iter().fold(hash, |hash, byte| mixed(hash, u128::from(*byte)));
    hash ^ (hash >> 64)
}

/// Reads the files that a block of these kernels names. Mistakes in tuned files are reported, and such files left out.
pub(super) fn load(file: File, entries: &[&str], report: &mut Report) -> Option<Source> {
    let read = |path: &str, beside: Option<&Path>| read(path, beside, entries);
    match file {
        File::Ptx { path, tuned } => {
            let first = reported(&path, read, report);
            let tuned: Vec<_> = tuned
                .into_iter()
                .filter_map(|path| Some((reported(&path, read, report)?, path)))
                .collect();
            let first = first?;
            Some(Source::Ptx(Files {
                tuned: by_target(&first, tuned, report),
                first,
            }))
        }
        File::Cuda { path, options } => {
            let read = |path: &str, beside: Option<&Path>| cuda::read(path, beside, options);
            reported(&path, read, report).map(Source::Cuda)
        }
    }
}

/// Reads a file; `None` if a mistake was reported.
fn reported<T>(
    literal: &LitStr,
    read: impl FnOnce(&str, Option<&Path>) -> Result<T, Diagnostic>,
    report: &mut Report,
) -> Option<T> {
    let read = read(&literal.value(), literal.span().local_file().as_deref());
    read.map_err(|diagnostic| report.push(literal.span(), &diagnostic)).ok()
}

/// The tuned files in the order of their targets. Reports those whose target no device would get it for, and leaves
/// them out.
fn by_target(first: &Ptx, tuned: Vec<(Ptx, LitStr)>, report: &mut Report) -> Vec<Ptx> {
    let mut files: Vec<(Target, Ptx)> = Vec::new();
    for (ptx, literal) in tuned {
        match target(&ptx, first, &files) {
            Ok(target) => files.push((target, ptx)),
            Err(mistake) => report.push(literal.span(), &mistake),
        }
    }
    files.sort_by_key(|(target, _)| *target);
    files.into_iter().map(|(_, ptx)| ptx).collect()
}

/// The target of a tuned file, given the files before it.
fn target(ptx: &Ptx, first: &Ptx, before: &[(Target, Ptx)]) -> Result<Target, Diagnostic> {
    let (path, name) = (&ptx.path, &ptx.module.target);
    let is_for = |ptx: &Ptx| format!("`{}` is for `{}`", ptx.path, ptx.module.target);
    let help = "a device gets the file with the highest `.target` that it runs";
    let Some(target) = Target::parse(name) else {
        let message = format!("`{path}` has the target `{name}`, which says no devices");
        return Err(error(Code::PtxFile, message).help("compile it for a target like `sm_90`"));
    };
    if Target::parse(&first.module.target).is_some_and(|first| target <= first) {
        let message = format!("`{path}` is tuned for `{name}`, which is not above the first file's target");
        return Err(error(Code::PtxFile, message).note(is_for(first)).help(help));
    }
    match before.iter().find(|(other, _)| *other == target) {
        Some((_, other)) => {
            let message = format!("`{path}` is tuned for `{name}`, for which there is a file already");
            Err(error(Code::PtxFile, message).note(is_for(other)).help(help))
        }
        None => Ok(target),
    }
}

fn read(path: &str, source_file: Option<&Path>, entries: &[&str]) -> Result<Ptx, Diagnostic> {
    let help = "put it there, relative to the crate's `Cargo.toml`; `cargo cuda-graph ptx` makes it from a CUDA source";
    let (found, bytes) = find(path, source_file, entries, help)?;
    let Ok(text) = String::from_utf8(bytes) else {
        let message = format!("`{path}` is not a text file: it is not UTF-8");
        return Err(error(Code::PtxFile, message).help(HOW_TO_MAKE));
    };
    let absolute = std::path::absolute(&found).unwrap_or(found);
    let made_of = made_of(path, &text, &absolute)?;
    let module = graph_ptx::parse(&text).map_err(|fault| {
        let message = format!("`{path}` is not valid PTX: {fault}");
        let cuda = Path::new(path).extension().is_some_and(|extension| extension == "cu");
        error(Code::PtxFile, message).help(if cuda {
            format!("{HOW_TO_MAKE}, or write `cuda = \"{path}\"` to have it compiled when it is first used")
        } else {
            HOW_TO_MAKE.to_owned()
        })
    })?;
    Ok(Ptx {
        path: path.to_owned(),
        absolute: absolute.display().to_string(),
        made_of,
        module,
        hash: hash(text.as_bytes()),
    })
}

/// The files that the PTX at `absolute` says it was made of, as far as they are there.
fn made_of(path: &str, ptx: &str, absolute: &Path) -> Result<Vec<String>, Diagnostic> {
    let folder = absolute.parent().unwrap_or(absolute);
    let Some(origin) = Origin::of(ptx) else {
        return Ok(Vec::new());
    };
    let Some(changed) = origin.changed(|file| fs::read(folder.join(file)).ok()) else {
        let files = origin.files.iter().map(|file| folder.join(&file.path));
        return Ok(files
            .filter(|file| file.is_file())
            .map(|file| file.display().to_string())
            .collect());
    };
    let source = folder.join(origin.source().unwrap_or_default());
    let changed = Path::new(path).with_file_name(changed);
    let message = format!("`{}` has changed since `{path}` was made of it", changed.display());
    let help = format!("`{} {}` makes it again", origin.again, shown(&source).display());
    Err(error(Code::StalePtx, message).help(help))
}

const HOW_TO_MAKE: &str = "compile the CUDA source with `cargo cuda-graph ptx`";

#[cfg(test)]
mod tests {
    use super::*;

    /// A file without kernels, for this target.
    fn ptx(target: &str) -> Ptx {
        let text = format!(".version 8.4\n.target {target}\n.address_size 64\n");
        Ptx {
            path: format!("k.{target}.ptx"),
            absolute: String::new(),
            made_of: Vec::new(),
            module: graph_ptx::parse(&text).expect("it is PTX"),
            hash: hash(text.as_bytes()),
        }
    }

    #[test]
    fn tuned_files_are_for_targets_above_those_before() {
        let first = ptx("sm_70");
        let before = [(Target::parse("sm_90").expect("it is one"), ptx("sm_90"))];
        let found = |name: &str| target(&ptx(name), &first, &before).map_err(|mistake| mistake.message);
        assert_eq!(found("sm_80"), Ok(Target::parse("sm_80").expect("it is one")));
        for (name, message) in [
            ("sm_new", "has the target `sm_new`, which says no devices"),
            (
                "sm_70",
                "is tuned for `sm_70`, which is not above the first file's target",
            ),
            (
                "sm_60",
                "is tuned for `sm_60`, which is not above the first file's target",
            ),
            ("sm_90", "is tuned for `sm_90`, for which there is a file already"),
        ] {
            assert_eq!(found(name), Err(format!("`k.{name}.ptx` {message}")));
        }
    }
}
