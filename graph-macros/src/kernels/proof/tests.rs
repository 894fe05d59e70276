//! The kernels of this repository: which of them are proved.

use crate::calls::{Call, calls, root};
use crate::kernels::declaration::Declaration;
use crate::kernels::{check, parse, source};
use crate::report::Report;
use graph_ptx::proof::{Effort, Verdict, prove};
use proc_macro2::TokenStream;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// All Rust files and Markdown files below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        found.push(folder.to_owned());
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() {
            if name != "target" && name != ".git" {
                files(&path, found);
            }
        } else if path
            .extension()
            .is_some_and(|extension| extension == "rs" || extension == "md")
        {
            found.push(path);
        }
    }
}

/// The Rust of a file: all of it, or the samples of a page.
fn texts(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    if file.extension().is_some_and(|extension| extension == "md") {
        let samples = text.split("```").skip(1).step_by(2);
        return samples
            .filter_map(|sample| sample.strip_prefix("rust"))
            .map(|sample| {
                let (_, code) = sample.split_once('\n').unwrap_or(("", sample));
                let line = |line: &str| line.strip_prefix("# ").unwrap_or(line).to_owned() + "\n";
                code.lines().map(line).collect()
            })
            .collect();
    }
    // Documentation has samples, too.
    let docs: String = text
        .lines()
        .filter_map(|line| {
            line.trim_start()
                .strip_prefix("//!")
                .or(line.trim_start().strip_prefix("///"))
        })
        .map(|line| line.trim_start().trim_start_matches("# ").to_owned() + "\n")
        .collect();
    let samples = docs.split("```").skip(1).step_by(2);
    let samples: Vec<String> = samples
        .map(|sample| sample.split_once('\n').unwrap_or(("", sample)).1.to_owned())
        .collect();
    std::iter::once(text).chain(samples).collect()
}

#[test]
fn own_kernels_are_proved() {
    let root = root();
    let mut found = Vec::new();
    let folders = [
        "README.md",
        "docs",
        "examples",
        "graph-runtime",
        "cargo-cuda-graph/tests",
    ];
    folders.iter().for_each(|folder| files(&root.join(folder), &mut found));
    found.sort();
    let mut seen: BTreeMap<String, (String, Verdict)> = BTreeMap::new();
    for file in found {
        for text in texts(&file) {
            let Ok(tokens) = text.parse::<TokenStream>() else {
                continue;
            };
            for call in calls(tokens, file.parent().unwrap_or(&root)) {
                let Call::Kernels { attribute, item } = call else {
                    continue;
                };
                let mut report = Report::default();
                let Some(mut block) = parse::block(attribute, item, &mut report) else {
                    continue;
                };
                let declarations: Vec<Declaration> = std::mem::take(&mut block.kernels);
                let Some(path) = block.file.take() else { continue };
                let entries: Vec<&str> = declarations.iter().flat_map(Declaration::entries).collect();
                let Some(source) = source::load(path, &entries, &mut report) else {
                    continue;
                };
                for declaration in declarations {
                    let checked = check::kernel(declaration, Some(&source), false);
                    let instances = checked.instances.iter().map(|(_, instance)| instance);
                    let all: Vec<_> = if checked.instances.is_empty() {
                        vec![&checked]
                    } else {
                        instances.collect()
                    };
                    for kernel in all {
                        if kernel.declaration.safe.is_none() {
                            continue;
                        }
                        let described = super::described(&kernel.declaration, &kernel.contracts, true);
                        for ptx in source.files() {
                            let start = Instant::now();
                            let verdict = prove(&ptx.module, &described, &Effort::FULL);
                            let time = start.elapsed();
                            let contract: Vec<&str> =
                                kernel.contracts.iter().map(|contract| contract.text.as_str()).collect();
                            let key = format!("{} {} {}", ptx.path, described.entry, contract.join(" && "));
                            if time.as_millis() > 50 {
                                println!("slow: {key} {time:?}");
                            }
                            seen.insert(key, (file.display().to_string(), verdict));
                        }
                    }
                }
            }
        }
    }
    let proved = seen.values().filter(|(_, verdict)| *verdict == Verdict::Proved).count();
    for (kernel, (file, verdict)) in &seen {
        if let Verdict::Unknown(reasons) = verdict {
            println!("{kernel} ({file}): {:?}", &reasons[..reasons.len().min(4)]);
        }
    }
    println!("{proved} of {} kernels are proved", seen.len());
    assert!(proved * 2 >= seen.len(), "{proved} of {}", seen.len());
    // Every kernel of the pages that teach.
    for (kernel, (file, verdict)) in &seen {
        let teaches = ["README.md", "tutorial.md", "language.md"]
            .iter()
            .any(|page| file.ends_with(page));
        assert!(
            !teaches || *verdict == Verdict::Proved,
            "{kernel} ({file}): {verdict:?}"
        );
    }
}
