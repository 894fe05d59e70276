//! The file that a block names: its path and its content.

use super::attribute::File;
use super::cuda::{self, Cuda};
use super::file::find;
use crate::report::{Report, error};
use graph_plan::{Code, Diagnostic};
use graph_ptx::ast::Module;
use std::path::Path;

/// A file that was read.
pub(super) enum Source {
    Ptx(Ptx),
    Cuda(Cuda),
}

impl Source {
    /// The path as the author wrote it.
    pub(super) fn path(&self) -> &str {
        match self {
            Source::Ptx(ptx) => &ptx.path,
            Source::Cuda(cuda) => &cuda.path,
        }
    }
}

/// A PTX file that was read and parsed.
pub(super) struct Ptx {
    /// The path as the author wrote it.
    pub(super) path: String,
    /// For `include_str!`.
    pub(super) absolute: String,
    pub(super) module: Module,
}

/// Reads the file that a block names.
pub(super) fn load(file: File, report: &mut Report) -> Option<Source> {
    let literal = match &file {
        File::Ptx(path) | File::Cuda { path, .. } => path.clone(),
    };
    let path = literal.value();
    let beside = literal.span().local_file();
    let read = match file {
        File::Ptx(_) => read(&path, beside.as_deref()).map(Source::Ptx),
        File::Cuda { options, .. } => cuda::read(&path, beside.as_deref(), options).map(Source::Cuda),
    };
    match read {
        Ok(source) => Some(source),
        Err(diagnostic) => {
            report.push(literal.span(), &diagnostic);
            None
        }
    }
}

fn read(path: &str, source_file: Option<&Path>) -> Result<Ptx, Diagnostic> {
    let help = "put it there, relative to the crate's `Cargo.toml`; `cargo cuda-graph ptx` makes it from a CUDA source";
    let (found, bytes) = find(path, source_file, help)?;
    let Ok(text) = String::from_utf8(bytes) else {
        let message = format!("`{path}` is not a text file: it is not UTF-8");
        return Err(error(Code::PtxFile, message).help(HOW_TO_MAKE));
    };
    let module = graph_ptx::parse(&text).map_err(|fault| {
        let message = format!("`{path}` is not valid PTX: {fault}");
        let cuda = Path::new(path).extension().is_some_and(|extension| extension == "cu");
        error(Code::PtxFile, message).help(match cuda {
            true => format!("{HOW_TO_MAKE}, or write `cuda = \"{path}\"` to have it compiled when it is first used"),
            false => HOW_TO_MAKE.to_owned(),
        })
    })?;
    let absolute = std::path::absolute(&found).unwrap_or(found);
    Ok(Ptx {
        path: path.to_owned(),
        absolute: absolute.display().to_string(),
        module,
    })
}

const HOW_TO_MAKE: &str = "compile the CUDA source with `cargo cuda-graph ptx`";
