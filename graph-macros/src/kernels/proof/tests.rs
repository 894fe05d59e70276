//! The kernels of this repository: which of them are proved.

use crate::calls::{Call, calls, root};
use crate::kernels::declaration::Declaration;
use crate::kernels::{check, parse, source};
use crate::report::Report;
use graph_ptx::proof::{Analysis, Effort, Gap, Kind, Reason, Verdict};
use proc_macro2::TokenStream;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A kernel of this repository.
struct Known {
    /// The file that declares it.
    file: PathBuf,
    /// The path of its PTX.
    ptx: String,
    entry: String,
    verdict: Verdict,
}

/// The time of a processor that the proof of a kernel took.
struct Timed {
    time: Duration,
    /// The part of it that found the verdict after the run with symbols.
    judging: Duration,
    instructions: usize,
    kernel: String,
}

/// The time that a processor has run this thread, where Linux tells it, so that other programs do not count; else the
/// time since `start`.
fn processor_time(start: Instant) -> Duration {
    let known = fs::read_to_string("/proc/thread-self/schedstat");
    let nanoseconds = known.ok().and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

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
    let start = Instant::now();
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
    let mut seen: BTreeMap<String, Known> = BTreeMap::new();
    let mut times: Vec<Timed> = Vec::new();
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
                            let before = processor_time(start);
                            let analysis = Analysis::of(&ptx.module, &described, &Effort::FULL);
                            let between = processor_time(start);
                            let verdict = analysis.verdict();
                            let after = processor_time(start);
                            let functions = &mut ptx.module.functions.iter();
                            let function = functions.find(|function| function.name == described.entry);
                            let body = function.and_then(|function| function.code());
                            times.push(Timed {
                                time: after - before,
                                judging: after - between,
                                instructions: body.map_or(0, |body| body.instructions.len()),
                                kernel: format!("`{}` of {}", described.entry, ptx.path),
                            });
                            let contract: Vec<&str> =
                                kernel.contracts.iter().map(|contract| contract.text.as_str()).collect();
                            let key = format!("{} {} {}", ptx.path, described.entry, contract.join(" && "));
                            let known = Known {
                                file: file.clone(),
                                ptx: ptx.path.clone(),
                                entry: described.entry.clone(),
                                verdict,
                            };
                            seen.insert(key, known);
                        }
                    }
                }
            }
        }
    }
    let proved = seen.values().filter(|known| known.verdict == Verdict::Proved).count();
    let count = format!("{proved} of {} kernels are proved", seen.len());
    println!("{count}");
    for (which, most) in [
        ("the slowest of at most 200 instructions", 200),
        ("the slowest", usize::MAX),
    ] {
        let timed = times.iter().filter(|timed| timed.instructions <= most);
        let Timed {
            time,
            judging,
            instructions,
            kernel,
        } = timed.max_by_key(|timed| timed.time).expect("there are kernels");
        println!("{which}: {time:?}, {judging:?} of them for the verdict, for {instructions} instructions, {kernel}");
    }
    assert!(proved * 100 >= seen.len() * 60, "{count}");
    // Every kernel of the pages that teach.
    for (kernel, known) in &seen {
        let teaches = ["README.md", "tutorial.md", "language.md"]
            .iter()
            .any(|page| known.file.ends_with(page));
        assert!(
            !teaches || known.verdict == Verdict::Proved,
            "{kernel} ({}): {:?}",
            known.file.display(),
            known.verdict
        );
    }
    is_on_the_page(&table(&root, &seen));
}

/// Memory of one length may be a null pointer, of which a kernel can access nothing.
#[test]
fn optional_memory_has_no_least_length() {
    let attribute: TokenStream = "\"graph-runtime/tests/kernels/optional.ptx\", prove".parse().unwrap();
    let item = "unsafe extern \"C\" {
        safe fn split(x: &[f32; 4], whole: Option<&mut [f32; 4]>, part: Option<&Atomic<u32>>, n: i32);
    }";
    let mut report = Report::default();
    let block = parse::block(attribute, item.parse().unwrap(), &mut report).unwrap();
    let kernel = super::described(&block.kernels[0], &[], true);
    let lengths = kernel.params.iter().filter_map(|param| match param.kind {
        Kind::Memory { len, .. } => Some(len),
        _ => None,
    });
    assert_eq!(lengths.collect::<Vec<_>>(), [Some(4), None, None]);
}

/// The kernels that are not proved, and the reason for each.
fn table(root: &Path, seen: &BTreeMap<String, Known>) -> String {
    let mut rows: Vec<String> = Vec::new();
    for known in seen.values() {
        let why = match &known.verdict {
            Verdict::Proved => continue,
            Verdict::Refuted(witness) => format!(
                "it can leave `{}`, on line {}: its contract is short of a condition",
                witness.memory, witness.line
            ),
            Verdict::Unknown(reasons) => reasons.first().map_or_else(String::new, why),
        };
        let path = Path::new(&known.ptx)
            .strip_prefix(root)
            .unwrap_or(Path::new(&known.ptx));
        let row = format!("| `{}` | `{}` | {why} |\n", path.display(), known.entry);
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows.sort();
    format!(
        "| PTX | kernel | why it is not proved |\n| --- | --- | --- |\n{}",
        rows.concat()
    )
}

/// The reason without its numbers, which are long.
fn why(reason: &Reason) -> String {
    let text = match &reason.gap {
        Gap::Bounds { memory, .. } => format!("the access to `{memory}` is not bounded"),
        _ => reason.text(),
    };
    format!("line {}: {text}", reason.line)
}

/// Holds that the page of proved kernels ends with this text, or writes it.
#[track_caller]
fn is_on_the_page(text: &str) {
    const BEFORE: &str = "are not proved:\n\n";
    let path = root().join("docs/proved.md");
    let page = fs::read_to_string(&path).unwrap_or_default();
    let (introduction, known) = page.split_once(BEFORE).expect("the line before the text");
    if std::env::var_os("PROVED").is_some_and(|value| value == "overwrite") {
        fs::write(&path, format!("{introduction}{BEFORE}{text}")).unwrap();
        return;
    }
    assert!(
        known == text,
        "docs/proved.md is not what the proofs say; `PROVED=overwrite cargo test -p graph-macros own_kernels` writes \
         it\n{text}"
    );
}
