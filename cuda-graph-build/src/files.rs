//! The `.ptx` files beside CUDA sources: writing them, and checking that they are what their sources compile to.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::compiler::Compiler;
use crate::error::{Error, Result};

/// The number of lines of each side that a difference shows.
const DIFF_LINES: usize = 8;

/// Compiles each source to the `.ptx` beside it, and to one for each target that its first lines name. Prints which
/// files it has written.
///
/// # Errors
/// If a source does not compile, or a file cannot be written; the message is about all sources that failed. If one does
/// not compile, none is written.
pub fn update(compiler: &mut Compiler, sources: &[PathBuf]) -> Result<()> {
    for (path, ptx) in compile_all(compiler, sources)? {
        let unchanged = fs::read(&path).is_ok_and(|old| old == ptx.as_bytes());
        if !unchanged {
            fs::write(&path, ptx).map_err(|error| Error::new(format!("cannot write {}: {error}", path.display())))?;
        }
        let done = if unchanged { "unchanged" } else { "written" };
        println!("{done:<9} {}", compiler.name_of(&path));
    }
    Ok(())
}

/// Checks that the `.ptx` beside each source is what the source compiles to, and writes nothing. `again` is the command
/// that writes them.
///
/// # Errors
/// If a source does not compile, or a `.ptx` is missing or differs; the message is about all of them.
pub fn check(compiler: &mut Compiler, sources: &[PathBuf], again: &str) -> Result<()> {
    let compiled = compile_all(compiler, sources)?;
    let mut stale = String::new();
    for (path, ptx) in &compiled {
        let name = compiler.name_of(path);
        let problem = match fs::read_to_string(path) {
            Ok(old) if old == *ptx => continue,
            Ok(old) => format!("{name} differs from its .cu:\n{}", diff(&old, ptx)),
            Err(error) => format!("{name}: {error}"),
        };
        stale.push_str(&problem);
        stale.push('\n');
    }
    if !stale.is_empty() {
        return Err(Error::new(format!("{stale}help: `{again}` writes them anew")));
    }
    println!("{} .ptx files agree with their .cu", compiled.len());
    Ok(())
}

/// Compiles all sources. Returns the path and the text of each `.ptx`.
fn compile_all(compiler: &mut Compiler, sources: &[PathBuf]) -> Result<Vec<(PathBuf, String)>> {
    let (mut compiled, mut failures) = (Vec::new(), String::new());
    for source in sources {
        match compile(compiler, source) {
            Ok(files) => compiled.extend(files),
            Err(error) => {
                // Writing to a string cannot fail.
                let _ = writeln!(failures, "{error}");
            }
        }
    }
    match failures.is_empty() {
        true => Ok(compiled),
        false => Err(Error::new(failures.trim_end())),
    }
}

fn compile(compiler: &mut Compiler, source: &Path) -> Result<Vec<(PathBuf, String)>> {
    let compiled = compiler.compile_all(source)?.into_iter();
    let files = compiled.map(|(extension, compiled)| {
        if !compiled.warnings.is_empty() {
            eprintln!("{}", compiled.warnings);
        }
        (source.with_extension(extension), compiled.ptx)
    });
    Ok(files.collect())
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
    fn a_difference_shows_the_lines_between_what_is_alike() {
        assert_eq!(diff("a\nb\nc\n", "a\nx\ny\nc\n"), "  from line 2:\n  - b\n  + x\n  + y");
        assert_eq!(diff("a\n", "a"), "  from line 2: line ends only");
        assert!(diff("", &"x\n".repeat(20)).ends_with("+ ... 12 more lines"));
    }
}
