//! Keeps the checked-in `.ptx` files true: made from the `.cu` beside them, and accepted by `ptxas`.
//!
//! `cuda_graph_build` compiles, as `cargo cuda-graph ptx` does. The first lines of a `.cu` may have options for it,
//! `// cuda-graph: <options>` and `// cuda-graph sm_90: <options>`, or tell what to do with the file here:
//! * `// xtask: variants`: leave it alone. Several `.ptx` beside it were made of it for different targets.
//! * `// xtask: source`: leave it alone. It is compiled when it is used.
//!
//! A `.ptx` without a `.cu` is written by hand and left alone. If its first line is `// xtask: invalid`, `ptxas` must
//! refuse it: it is the input of a test about broken PTX.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace::{files, relative};
use crate::{Result, wheels};
use cuda_graph_build::Compiler;

/// The beginning of a first line that is meant for this module.
const DIRECTIVE: &str = "// xtask:";
/// The newest PTX that the ptxas of NVRTC's own version reads, as major and minor version; a later ptxas reads newer
/// PTX.
const PTXAS_READS: (u32, u32) = (8, 4);

/// Writes every `.ptx` again, or those of some sources.
pub(crate) fn regenerate(root: &Path, only: &[&str]) -> Result<()> {
    let sources = if only.is_empty() {
        sources(root)?
    } else {
        only.iter().map(|path| root.join(path)).collect()
    };
    Ok(cuda_graph_build::update(&mut compiler(root), &sources)?)
}

/// Fails unless every `.ptx` is what its `.cu` compiles to, and names each that is not.
pub(crate) fn check(root: &Path) -> Result<()> {
    Ok(cuda_graph_build::check(&mut compiler(root), &sources(root)?)?)
}

fn compiler(root: &Path) -> Compiler {
    Compiler::in_folder(wheels::folder(root))
        .without_lines()
        .relative_to(root)
        .again("cargo xtask ptx")
        .fetch()
}

/// The sources of the workspace that have a `.ptx`, in the order of their paths.
fn sources(root: &Path) -> Result<Vec<PathBuf>> {
    let mut sources = Vec::new();
    for path in files_named(root, "cu")? {
        let text = read(&path)?;
        match directive(&text) {
            None => sources.push(path),
            Some("variants" | "source") => {}
            Some(other) => {
                let name = relative(root, &path);
                let help = "options of the compiler are written `// cuda-graph: --option`";
                return Err(format!("{name}: unknown `{DIRECTIVE} {other}`; {help}").into());
            }
        }
    }
    Ok(sources)
}

/// Assembles every `.ptx` for its own `.target` and fails with a list of those that `ptxas` refuses.
pub(crate) fn assemble(root: &Path) -> Result<()> {
    let mut failures = String::new();
    for path in files_named(root, "ptx")? {
        let name = relative(root, &path);
        match assemble_one(root, &path)? {
            Assembled::Yes(target) => println!("ok        {name} ({target})"),
            Assembled::RefusedAsExpected => println!("refused   {name}, as it says"),
            Assembled::No(why) => writeln!(failures, "{name}: {}", why.trim())?,
        }
    }
    if failures.is_empty() {
        Ok(())
    } else {
        Err(format!("ptxas disagrees about\n{failures}").into())
    }
}

/// The text after `// xtask:` on the first line.
fn directive(text: &str) -> Option<&str> {
    text.lines().next()?.strip_prefix(DIRECTIVE).map(str::trim)
}

/// The verdict of `ptxas` about a file.
enum Assembled {
    /// It was assembled for this target.
    Yes(String),
    RefusedAsExpected,
    /// It was refused, for this reason.
    No(String),
}

/// The text of a file, with what is no UTF-8 replaced.
fn read(path: &Path) -> Result<String> {
    let bytes = fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn assemble_one(root: &Path, path: &Path) -> Result<Assembled> {
    let text = read(path)?;
    let invalid = directive(&text) == Some("invalid");
    let version = word_after(&text, ".version").unwrap_or_default();
    let folder = wheels::folder(root);
    let ptxas = if newer_than_pinned(version) && !invalid {
        wheels::NVCC_13.file(&folder, "nvidia/cu13/bin/ptxas")?
    } else {
        cuda_graph_build::NVCC.file(&folder, "nvidia/cuda_nvcc/bin/ptxas")?
    };
    make_executable(&ptxas)?;
    let target = word_after(&text, ".target").unwrap_or("sm_70");
    // `--compile-only` leaves functions that the driver resolves, such as cudaGraphSetConditional, undefined.
    let output = Command::new(&ptxas)
        .args([
            "--compile-only",
            "--output-file=/dev/null",
            &format!("--gpu-name={target}"),
        ])
        .arg(path)
        .output()
        .map_err(|error| format!("cannot run {}: {error}", ptxas.display()))?;
    Ok(match (output.status.success(), invalid) {
        (true, false) => Assembled::Yes(target.to_owned()),
        (false, true) => Assembled::RefusedAsExpected,
        (true, true) => Assembled::No(format!("it says `{DIRECTIVE} invalid`, but ptxas accepts it")),
        (false, false) => Assembled::No(format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )),
    })
}

/// The second word, without a comma, of the first line that begins with the word `key`.
fn word_after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some(key))
            .then(|| words.next())
            .flatten()
            .map(|word| word.trim_end_matches(','))
    })
}

fn newer_than_pinned(version: &str) -> bool {
    let parsed = version
        .split_once('.')
        .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    parsed.is_some_and(|version: (u32, u32)| version > PTXAS_READS)
}

/// pip does not keep the permission bits of a wheel's files.
fn make_executable(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))
            .map_err(|error| format!("cannot make {} executable: {error}", path.display()))?;
    }
    Ok(())
}

/// The files of the workspace with this extension.
fn files_named(root: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    files(root, |path| path.extension().is_some_and(|found| found == extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_and_target_are_read_from_directives() {
        let text = "//\n.version 8.4\n.target sm_90a, texmode_independent\n";
        assert_eq!(word_after(text, ".version"), Some("8.4"));
        assert_eq!(word_after(text, ".target"), Some("sm_90a"));
        assert!(
            !newer_than_pinned("8.4") && !newer_than_pinned("") && newer_than_pinned("8.5") && newer_than_pinned("9.0")
        );
    }
}
