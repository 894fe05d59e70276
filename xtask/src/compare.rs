//! Compares the programs of `examples` with PyTorch and with bare driver calls, on one GPU in one visit.
//!
//! [`build`] packs `.gpu/`: the programs, the scripts of `examples/pytorch`, and this program. There, `run.sh` calls
//! [`run`], which measures all of them in turns and writes `performance.json` and `performance.svg`. Back here,
//! [`write()`] puts both into `docs/performance.md`, and the main figures into the README.

mod chart;
mod page;
mod visit;
mod figures;

use crate::Result;
use crate::pack::{self, artifact, cargo_build};
use figures::{Visit, programs};
use std::path::Path;

/// The page with the table. The drawing is beside it.
const PAGE: &str = "docs/performance.md";
/// The page with the main figures.
const SUMMARY: &str = "README.md";
const DRAWING: &str = "performance.svg";
const FIGURES: &str = "performance.json";
const RUN_SCRIPT: &str = include_str!("../compare.sh");

/// Builds `.gpu/` with the programs of these names, separated by commas, or with all, and says how to run it.
///
/// # Errors
/// If a name is no program of the table, if cargo fails (a program is not there yet: name the others), or if the folder
/// would be too large to send.
pub(crate) fn build(root: &Path, only: &str) -> Result<()> {
    let names = chosen(only)?;
    let folder = root.join(".gpu");
    pack::empty(&folder)?;
    let binaries = folder.join("bin");
    pack::create(&binaries)?;
    let targets: Vec<&str> = names.iter().flat_map(|name| ["--bin", name]).collect();
    let messages = cargo_build(root, &[&["--package", "examples"], &targets[..]].concat())?;
    for artifact in messages.iter().filter_map(artifact) {
        if artifact.target_kind == "bin" {
            pack::copy(&artifact.executable, &binaries.join(&artifact.target))?;
        }
    }
    let own = std::env::current_exe().map_err(|error| format!("where is this program? {error}"))?;
    pack::copy(&own, &binaries.join("xtask"))?;
    pack::compress(&folder)?;
    pack::copy_data(&root.join("examples"), &folder.join("data/examples"))?;
    pack::write(&folder.join("run.sh"), RUN_SCRIPT)?;
    let mebibytes = pack::mebibytes(&folder)?;
    println!(".gpu/ holds {mebibytes:.1} MiB. Copy it to a machine with an NVIDIA GPU and PyTorch, and run there:\n");
    println!("    OUT=results bash .gpu/run.sh                  # all that was built");
    println!("    OUT=results bash .gpu/run.sh infer,overlap    # some programs\n");
    println!("Then, here: cargo xtask compare --write results/{FIGURES}");
    Ok(())
}

/// Measures, on the GPU machine: `here` is the folder in which `run.sh` unpacked the programs.
///
/// # Errors
/// If there is no GPU, or if a program or script failed; the others have been measured then.
pub(crate) fn run(here: &str, only: &str) -> Result<()> {
    let here = Path::new(here);
    let (visit, failures) = visit::measure(here, &if only.is_empty() { Vec::new() } else { chosen(only)? })?;
    let results = visit::results(here);
    pack::write(&results.join(FIGURES), &visit.to_json())?;
    pack::write(&results.join(DRAWING), &chart::svg(&visit))?;
    for failure in &failures {
        println!("failed:  {failure}");
    }
    print!("\n{}", page::text(&visit));
    match failures.len() {
        0 => Ok(()),
        count => Err(format!("{count} programs or scripts failed").into()),
    }
}

/// Puts the figures of a visit into the pages, and the drawing beside the first one.
///
/// # Errors
/// If a file cannot be read or written.
pub(crate) fn write(root: &Path, figures: &str) -> Result<()> {
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    let visit = Visit::from_json(&read(Path::new(figures))?).map_err(|error| format!("{figures}: {error}"))?;
    for (name, text) in [(PAGE, page::markdown(&visit)), (SUMMARY, page::summary(&visit))] {
        let page = root.join(name);
        let text = page::replace(&read(&page)?, &text).map_err(|error| format!("{name}: {error}"))?;
        pack::write(&page, &text)?;
    }
    pack::write(&root.join("docs").join(DRAWING), &chart::svg(&visit))?;
    print!("{}", page::text(&visit));
    Ok(())
}

/// The programs of these names, in the order of the table; all, if there is no name.
fn chosen(only: &str) -> Result<Vec<&'static str>> {
    let names: Vec<&str> = only.split(',').filter(|name| !name.is_empty()).collect();
    let all = programs();
    if let Some(unknown) = names.iter().find(|name| !all.contains(name)) {
        return Err(format!("no program `{unknown}` in the table: there are {}", all.join(", ")).into());
    }
    Ok(all
        .into_iter()
        .filter(|name| names.is_empty() || names.contains(name))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_chosen_by_name() {
        assert_eq!(chosen("overlap,infer").expect("two programs"), ["infer", "overlap"]);
        assert_eq!(chosen("").expect("all programs").len(), programs().len());
        assert!(chosen("infr").is_err());
    }

    #[test]
    fn the_pages_have_a_place_for_the_table() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for name in [PAGE, SUMMARY] {
            let page = std::fs::read_to_string(root.join(name)).expect("the page");
            assert!(page::replace(&page, "").is_ok(), "{name}");
        }
    }
}
