//! Keeps the checked-in `.ptx` files true: made from the `.cu` beside them, and accepted by `ptxas`.
//!
//! The first line of a `.cu` may tell what to do with it:
//! * `// xtask: <options>`: compile it with these NVRTC options too.
//!   Our own option `--ptx-version=6.0` lowers the PTX version that the `.ptx` asks for, so that older drivers take it;
//!   `ptxas` tells if an instruction needs a newer one.
//! * `// xtask: variants`: leave it alone. Several `.ptx` beside it were made of it for different targets.
//! * `// xtask: source`: leave it alone. It is compiled when it is used.
//!
//! A `.ptx` without a `.cu` is written by hand and left alone. If its first line is `// xtask: invalid`, `ptxas` must
//! refuse it: it is the input of a test about broken PTX.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::nvrtc::Nvrtc;
use crate::workspace::{files, relative};
use crate::{Result, wheels};

/// The beginning of a first line that is meant for this module.
const DIRECTIVE: &str = "// xtask:";
/// Our own option: the PTX version that the `.ptx` asks for.
const PTX_VERSION: &str = "--ptx-version=";
/// The oldest GPUs supported (Volta); the driver translates for newer ones.
const DEFAULT_ARCHITECTURE: &str = "--gpu-architecture=compute_70";
/// The newest PTX that the ptxas of NVRTC's own version reads, as major and minor version; a later ptxas reads newer
/// PTX.
const PTXAS_READS: (u32, u32) = (8, 4);
/// The number of lines of each side that a difference shows.
const DIFF_LINES: usize = 8;

/// Writes every `.ptx` again.
pub(crate) fn regenerate(root: &Path) -> Result<()> {
    for Compiled { path, ptx } in compile_all(root)? {
        let unchanged = fs::read(&path).is_ok_and(|old| old == ptx.as_bytes());
        if !unchanged {
            fs::write(&path, ptx).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        }
        println!(
            "{:<9} {}",
            if unchanged { "unchanged" } else { "written" },
            relative(root, &path)
        );
    }
    Ok(())
}

/// Fails unless every `.ptx` is what its `.cu` compiles to, and names each that is not.
pub(crate) fn check(root: &Path) -> Result<()> {
    let compiled = compile_all(root)?;
    let mut stale = String::new();
    for Compiled { path, ptx } in &compiled {
        match fs::read_to_string(path) {
            Ok(old) if old == *ptx => {}
            Ok(old) => writeln!(
                stale,
                "{} differs from its .cu:\n{}",
                relative(root, path),
                diff(&old, ptx)
            )?,
            Err(error) => writeln!(stale, "{}: {error}", relative(root, path))?,
        }
    }
    if stale.is_empty() {
        println!("{} .ptx files agree with their .cu", compiled.len());
        Ok(())
    } else {
        Err(format!("{stale}`cargo xtask ptx` writes them anew").into())
    }
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

/// A `.ptx` path and the text that belongs there.
struct Compiled {
    path: PathBuf,
    ptx: String,
}

/// Compiles every `.cu` of the workspace, in the order of their paths; all that fail are reported together.
fn compile_all(root: &Path) -> Result<Vec<Compiled>> {
    let nvrtc = Nvrtc::load(&wheels::NVRTC.file(root, "nvidia/cuda_nvrtc/lib/libnvrtc.so.12")?)?;
    // `mma.h` of the first package includes `crt/mma.h` of the second.
    let headers = [
        wheels::RUNTIME.file(root, "nvidia/cuda_runtime/include")?,
        wheels::NVCC.file(root, "nvidia/cuda_nvcc/include")?,
        wheels::CCCL.file(root, "nvidia/cuda_cccl/include")?,
    ];
    let here = format!(".file\t1 \"{}/", std::env::current_dir()?.display());
    let mut compiled = Vec::new();
    let mut failures = String::new();
    for source_path in files_named(root, "cu")? {
        let name = relative(root, &source_path).to_string();
        let source = fs::read_to_string(&source_path).map_err(|error| format!("cannot read {name}: {error}"))?;
        if matches!(directive(&source), Some("variants" | "source")) {
            continue;
        }
        match nvrtc.compile(&name, &source, &options(&source, &headers)) {
            Ok(ptx) => compiled.push(Compiled {
                path: source_path.with_extension("ptx"),
                // NVRTC names sources in line tables by a path from the current folder, which differs from machine to
                // machine.
                ptx: lowered(&renumbered(&ptx.replace(&here, ".file\t1 \"")), &source),
            }),
            Err(error) => writeln!(failures, "{name}: {error}")?,
        }
    }
    if failures.is_empty() {
        Ok(compiled)
    } else {
        Err(failures.trim_end().into())
    }
}

/// Returns the text with its call sequences (comments, and prototypes named after them) counted from 0: NVRTC does not
/// start again at 0 for the next compilation.
fn renumbered(ptx: &str) -> String {
    const MARKS: [&str; 2] = ["// callseq ", "prototype_"];
    let mut seen: Vec<&str> = Vec::new();
    let mut out = String::with_capacity(ptx.len());
    let mut rest = ptx;
    while let Some(start) = MARKS
        .iter()
        .filter_map(|mark| Some(rest.find(mark)? + mark.len()))
        .min()
    {
        let (before, after) = rest.split_at(start);
        let end = after
            .find(|letter: char| !letter.is_ascii_digit())
            .unwrap_or(after.len());
        let (number, behind) = after.split_at(end);
        let position = seen.iter().position(|other| *other == number).unwrap_or_else(|| {
            seen.push(number);
            seen.len() - 1
        });
        out.push_str(before);
        out.push_str(&position.to_string());
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// The text with the version that `source` asks for, if it asks for one.
fn lowered(ptx: &str, source: &str) -> String {
    let mut words = directive(source).unwrap_or("").split_whitespace();
    match words.find_map(|word| word.strip_prefix(PTX_VERSION)) {
        Some(version) => {
            let made = word_after(ptx, ".version").unwrap_or_default();
            ptx.replacen(&format!(".version {made}"), &format!(".version {version}"), 1)
        }
        None => ptx.to_owned(),
    }
}

/// The options to compile `source` with: the defaults, and what its first line adds or replaces.
fn options(source: &str, headers: &[PathBuf]) -> Vec<String> {
    let mut options: Vec<String> = directive(source)
        .unwrap_or("")
        .split_whitespace()
        .filter(|word| !word.starts_with(PTX_VERSION))
        .map(str::to_owned)
        .collect();
    if !options.iter().any(|option| option.starts_with("--gpu-architecture")) {
        options.push(DEFAULT_ARCHITECTURE.to_owned());
    }
    if !options.iter().any(|option| option.starts_with("--std")) {
        options.push("--std=c++17".to_owned());
    }
    options.extend(headers.iter().map(|path| format!("--include-path={}", path.display())));
    options
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

fn assemble_one(root: &Path, path: &Path) -> Result<Assembled> {
    let bytes = fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    let invalid = directive(&text) == Some("invalid");
    let version = word_after(&text, ".version").unwrap_or_default();
    let ptxas = match newer_than_pinned(version) && !invalid {
        true => wheels::NVCC_13.file(root, "nvidia/cu13/bin/ptxas")?,
        false => wheels::NVCC.file(root, "nvidia/cuda_nvcc/bin/ptxas")?,
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

/// The first stretch of lines in which two texts differ, cut to a few lines.
fn diff(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[same..], &new[same..]);
    let same_at_end = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(|(old, new)| old == new)
        .count();
    let (old, new) = (&old[..old.len() - same_at_end], &new[..new.len() - same_at_end]);
    let mut text = format!("  from line {}:", same + 1);
    if old.is_empty() && new.is_empty() {
        text.push_str(" line ends only");
    }
    for (sign, lines) in [('-', old), ('+', new)] {
        for line in lines.iter().take(DIFF_LINES) {
            text.push_str(&format!("\n  {sign} {line}"));
        }
        if lines.len() > DIFF_LINES {
            text.push_str(&format!("\n  {sign} ... {} more lines", lines.len() - DIFF_LINES));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_may_lower_the_version() {
        let made = ".version 8.4\n.target sm_70\n";
        let asks = "// xtask: --ptx-version=6.0\n";
        assert_eq!(lowered(made, asks), ".version 6.0\n.target sm_70\n");
        assert_eq!(lowered(made, "// xtask: -G\n"), made);
        assert!(!options(asks, &[]).iter().any(|option| option.contains("ptx-version")));
    }

    #[test]
    fn call_sequences_count_from_zero() {
        let text = "{ // callseq 6, 0\ncall, prototype_6;\n} // callseq 6\n{ // callseq 7, 0\n} // callseq 7\n";
        let expected = "{ // callseq 0, 0\ncall, prototype_0;\n} // callseq 0\n{ // callseq 1, 0\n} // callseq 1\n";
        assert_eq!(super::renumbered(text), expected);
    }

    #[test]
    fn options_have_defaults_that_the_first_line_replaces() {
        let headers = [PathBuf::from("/inc")];
        let plain = options("__global__ void f() {}", &headers);
        assert_eq!(plain, [DEFAULT_ARCHITECTURE, "--std=c++17", "--include-path=/inc"]);
        let hopper = options("// xtask: --gpu-architecture=compute_90 --use_fast_math\n", &headers);
        assert_eq!(
            hopper,
            [
                "--gpu-architecture=compute_90",
                "--use_fast_math",
                "--std=c++17",
                "--include-path=/inc"
            ]
        );
    }

    #[test]
    fn a_difference_shows_the_lines_between_what_is_alike() {
        assert_eq!(diff("a\nb\nc\n", "a\nx\ny\nc\n"), "  from line 2:\n  - b\n  + x\n  + y");
        assert_eq!(diff("a\n", "a"), "  from line 2: line ends only");
        assert!(diff("", &"x\n".repeat(20)).ends_with("+ ... 12 more lines"));
    }

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
