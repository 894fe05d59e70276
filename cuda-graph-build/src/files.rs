//! The `.ptx` files beside CUDA sources: writing them, and checking that they are what their sources compile to.

use std::fs;
use std::path::{Path, PathBuf};

use crate::compiler::{Compiled, Compiler};
use crate::error::{Error, Result};
use crate::host::LeftOut;
use crate::text;

/// The number of lines of each side that a difference shows.
const DIFF_LINES: usize = 8;

/// Compiles each source to the `.ptx` beside it, and to one for each target that its first lines name. Prints which
/// files it has written.
///
/// # Errors
/// If a source does not compile, or a file cannot be written. All others are written nevertheless, and the message is
/// about all that failed.
pub fn update(compiler: &mut Compiler, sources: &[PathBuf]) -> Result<()> {
    let mut failures = Vec::new();
    for source in sources {
        let written = compiler.compile_all(source).and_then(|compiled| {
            for (path, ptx) in files(source, &compiled) {
                write(&path, &ptx, &compiler.name_of(&path))?;
            }
            let newer = compiler.newer(source, &compiled)?;
            let text = compiler.read(source)?;
            let own = text::directive(&text).unwrap_or_default();
            let notes = newer.iter().map(|newer| newer.note(&compiler.name_of(source), own));
            notes.for_each(|note| eprintln!("{note}"));
            Ok(())
        });
        failures.extend(written.err());
    }
    outcome(&failures)
}

fn write(path: &Path, ptx: &str, name: &str) -> Result<()> {
    let unchanged = fs::read(path).is_ok_and(|old| old == ptx.as_bytes());
    if !unchanged {
        fs::write(path, ptx).map_err(|error| Error::new(format!("cannot write {}: {error}", path.display())))?;
    }
    let done = if unchanged { "unchanged" } else { "written" };
    println!("{done:<9} {name}");
    Ok(())
}

/// Checks that the `.ptx` beside each source is what the source compiles to, and writes nothing.
///
/// # Errors
/// If a source does not compile, or a `.ptx` is missing or differs; the message is about all of them.
pub fn check(compiler: &mut Compiler, sources: &[PathBuf]) -> Result<()> {
    let mut failures = Vec::new();
    let mut stale = Vec::new();
    let mut count = 0;
    for source in sources {
        let files = match compiler.compile_all(source) {
            Ok(compiled) => files(source, &compiled),
            Err(error) => {
                failures.push(error);
                continue;
            }
        };
        count += files.len();
        let problems = files
            .iter()
            .filter_map(|(path, ptx)| problem(path, ptx, &compiler.name_of(path)));
        let before = failures.len();
        failures.extend(problems);
        if failures.len() > before {
            stale.push(compiler.name_of(source));
        }
    }
    if !stale.is_empty() {
        let help = format!("help: `{} {}` writes them anew", compiler.command(), stale.join(" "));
        failures.push(Error::new(help));
    }
    outcome(&failures)?;
    println!("{count} .ptx files agree with their .cu");
    Ok(())
}

/// The difference between a file and the PTX that it should be.
fn problem(path: &Path, ptx: &str, name: &str) -> Option<Error> {
    let problem = match fs::read_to_string(path) {
        Ok(old) if old == ptx => return None,
        Ok(old) => format!("{name} differs from its .cu:\n{}", diff(&old, ptx)),
        Err(error) => format!("{name}: {error}"),
    };
    Some(Error::new(problem))
}

/// One error of all failures.
fn outcome(failures: &[Error]) -> Result<()> {
    if failures.is_empty() {
        return Ok(());
    }
    let messages: Vec<String> = failures.iter().map(Error::to_string).collect();
    Err(Error::new(messages.join("\n")))
}

/// Returns the path and the text of each `.ptx` of a source, and prints what the compiler says about it.
fn files(source: &Path, compiled: &[(String, Compiled)]) -> Vec<(PathBuf, String)> {
    for (_, compiled) in compiled {
        if !compiled.warnings.is_empty() {
            eprintln!("{}", compiled.warnings);
        }
    }
    // The PTX for each target leaves out the same.
    let left_out = compiled.first().map(|(_, compiled)| compiled.left_out.as_slice());
    if let Some(note) = LeftOut::note(left_out.unwrap_or_default()) {
        eprintln!("{note}");
    }
    let files = compiled.iter();
    files
        .map(|(extension, compiled)| (source.with_extension(extension), compiled.with_origin()))
        .collect()
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
