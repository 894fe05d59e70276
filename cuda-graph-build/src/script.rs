//! Compiling in a build script.

use std::env;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::compiler::{Compiler, LIBRARY_VARIABLE};
use crate::error::{Error, Result};

/// The environment variables that decide which compiler is used.
const VARIABLES: [&str; 4] = [LIBRARY_VARIABLE, "CUDA_GRAPH_CACHE_DIR", "CUDA_PATH", "CUDA_HOME"];
/// The extensions of files that a CUDA source may include.
const HEADERS: [&str; 6] = ["h", "hh", "hpp", "cuh", "inl", "cu"];

/// Compiles the CUDA source at `path`, which is relative to the crate's `Cargo.toml`, from a build script.
/// `#[cuda_kernels("..")]` finds the PTX by the same path with `.ptx` in place of `.cu`, and the PTX for a target that
/// the source's first lines name with `.sm_90.ptx`.
///
/// The script runs again if the source, or a header beside it, has changed. It uses no network: `cargo cuda-graph
/// fetch` puts the compiler into the cache. [`Compiler::build`] does the same with options.
///
/// # Errors
/// If there is no NVRTC, if the source has mistakes, or if this is no build script.
pub fn ptx(path: impl AsRef<Path>) -> Result<()> {
    Compiler::new()?.build(path)
}

impl Compiler {
    /// Compiles the CUDA source at `path`, as [`ptx`] does.
    ///
    /// # Errors
    /// As [`ptx`].
    pub fn build(mut self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let folder = |name: &str| {
            let folder = env::var_os(name).map(PathBuf::from);
            folder.ok_or_else(|| Error::new(format!("`{name}` is not set: call this from `build.rs`")))
        };
        let (manifest, out) = (folder("CARGO_MANIFEST_DIR")?, folder("OUT_DIR")?);
        let source = manifest.join(path);
        for line in watched(&source, &manifest) {
            println!("cargo:rerun-if-changed={}", line.display());
        }
        for variable in VARIABLES {
            println!("cargo:rerun-if-env-changed={variable}");
        }
        for (extension, compiled) in self.relative_to_if_unset(&manifest).compile_all(&source)? {
            for line in compiled.warnings.lines() {
                println!("cargo:warning={line}");
            }
            write(&output(path, &extension, &manifest, &out)?, &compiled.ptx)?;
        }
        Ok(())
    }
}

/// The place of the PTX of the source at `path`, which gets this extension.
fn output(path: &Path, extension: &str, manifest: &Path, out: &Path) -> Result<PathBuf> {
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !path.components().all(inside) {
        let message = format!(
            "{}: name a source below the crate's folder by its relative path",
            path.display()
        );
        return Err(Error::new(message));
    }
    let relative = path.with_extension(extension);
    let beside = manifest.join(&relative);
    if beside.exists() {
        return Err(Error::new(format!(
            "{} is in the way: `#[cuda_kernels]` would take it rather than the output of this build script\nhelp: remove \
             it, or call the script no longer and write it by `cargo cuda-graph ptx {}`",
            beside.display(),
            path.display()
        )));
    }
    Ok(out.join(relative))
}

/// The files whose changes call for another compilation: the source, and what it may include from beside it.
fn watched(source: &Path, manifest: &Path) -> Vec<PathBuf> {
    let folder = source.parent().unwrap_or(manifest);
    let entries = fs::read_dir(folder).into_iter().flatten();
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_header = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| HEADERS.contains(&extension)) && path != source
    };
    let mut watched: Vec<PathBuf> = files.filter(is_header).collect();
    watched.sort();
    watched.insert(0, source.to_owned());
    watched
}

fn write(path: &Path, ptx: &str) -> Result<()> {
    let failed = |error| Error::new(format!("cannot write {}: {error}", path.display()));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    // Whoever embeds the file is compiled again when it is written.
    match fs::read(path).is_ok_and(|old| old == ptx.as_bytes()) {
        true => Ok(()),
        false => fs::write(path, ptx).map_err(failed),
    }
}
