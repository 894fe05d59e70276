//! The report on a file: what each kernel does to each parameter, and what keeps it from running.

use std::fmt::Write as _;

use graph_ptx::Access;

use super::Subject;
use super::kernel::{Kernel, Param};
use super::lines::Lines;
use super::programmatic;
use super::proof::Proof;
use graph_ptx::proof::{Race, RaceAccess};

/// The most threads of a block, on every GPU.
const MAX_THREADS: u32 = 1024;

/// The whole report.
pub(super) fn text(subject: &Subject, kernels: &[Kernel], proofs: &[Proof], lines: &Lines<'_>) -> String {
    let ((major, minor), target) = (subject.module.version, &subject.module.target);
    let count = match kernels.len() {
        0 => "no kernels".to_owned(),
        1 => "1 kernel".to_owned(),
        count => format!("{count} kernels"),
    };
    let refused = kernels.iter().filter(|kernel| kernel.refused.is_some()).count();
    let emulated = match (kernels.len(), refused) {
        (0, _) => String::new(),
        (_, 0) => "; the emulator runs all".to_owned(),
        (_, refused) => format!("; the emulator REFUSES {refused}"),
    };
    let mut text = format!(
        "{}: {count}, PTX {major}.{minor} for {target}{emulated}\n",
        subject.shown
    );
    for (kernel, proof) in kernels.iter().zip(proofs) {
        let rows = rows(kernel, proof, lines);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{}", kernel.name.trim_start_matches("r#"));
        let width = |column: fn(&Row) -> usize| rows.iter().map(column).max().unwrap_or(0);
        let (first, second) = (width(|row| row.0.len()), width(|row| row.1.len()));
        for (name, ty, facts) in &rows {
            let row = match ty.is_empty() {
                true => format!("  {name:<first$}  {facts}"),
                false => format!("  {name:<first$}  {ty:<second$}  {facts}"),
            };
            let _ = writeln!(text, "{}", row.trim_end());
        }
    }
    let unconcerned = kernels
        .iter()
        .filter(|kernel| !programmatic::is_concerned(kernel))
        .count();
    let which = match (unconcerned, kernels.len()) {
        (0, _) => return text,
        (1, 1) => "the kernel".to_owned(),
        (count, all) if count == all => format!("all {all} kernels"),
        (count, all) => format!("{count} of {all} kernels"),
    };
    let _ = writeln!(
        text,
        "\nwithout `griddepcontrol`, which programmatic edges need (sm_90): {which}"
    );
    text
}

/// A name, a type (or nothing), and facts.
type Row = (String, String, String);

fn rows(kernel: &Kernel, proof: &Proof, lines: &Lines<'_>) -> Vec<Row> {
    let summary = &kernel.summary;
    let mut rows = Vec::new();
    for (param, facts) in kernel.params.iter().zip(&summary.params) {
        let ty = param.ty.clone().unwrap_or_else(|| format!("{} bytes", facts.size));
        let facts = match (param.is_memory, facts.address) {
            (true, _) => accesses(&facts.access, lines).unwrap_or_else(|| "not accessed".to_owned()),
            (false, Some(line)) => format!("a value that is used as an address ({})", lines.shown(line)),
            (false, None) => "a value".to_owned(),
        };
        rows.push((param.name.clone(), ty, facts));
    }
    for variable in &summary.variables {
        if let Some(facts) = accesses(&variable.access, lines) {
            rows.push((variable.name.clone(), "variable".to_owned(), facts));
        }
    }
    for (name, size) in &kernel.tables {
        let facts =
            format!("reads; {size} bytes that the host sets, in a graph by `constant {name}: shape = \"{name}\";`");
        rows.push((name.clone(), "constant".to_owned(), facts));
    }
    let mut plain = |name: &str, facts: String| rows.push((name.to_owned(), String::new(), facts));
    plain("launch", launch(kernel));
    if programmatic::is_concerned(kernel) {
        plain("programmatic", programmatic::ends(kernel, lines));
    }
    plain("safe fn", safety(kernel, proof, lines));
    if let Proof::Under { race, initialises, .. } = proof {
        if !initialises.is_empty() {
            let names: Vec<String> = initialises.iter().map(|name| format!("`{name}`")).collect();
            let facts = format!(
                "{} before it reads it: `&mut [MaybeUninit<..>]` is proved, too",
                names.join(" and ")
            );
            plain("writes", facts);
        }
        if let Some(race) = race {
            plain("race", raced(race, lines));
        }
    }
    if let Some(reason) = &kernel.refused {
        plain("emulator", format!("REFUSED: {reason}"));
    }
    rows
}

/// `reads (line 3), writes (line 4)`; `None` if there is no access.
fn accesses(access: &Access, lines: &Lines<'_>) -> Option<String> {
    let has_handle = access.any_through(|_| true).is_some();
    let plain = access
        .stored
        .filter(|_| !has_handle && (access.plain.is_some() || access.atomic.is_none()));
    let parts = [
        ("reads", access.loaded.filter(|_| !has_handle)),
        ("reads through a texture", access.any_through(|form| !form.is_surface())),
        (
            "accesses through a surface",
            access.any_through(graph_ptx::Through::is_surface),
        ),
        ("writes", plain),
        ("updates atomically", access.atomic),
        ("updates atomically for its own block alone", access.narrow),
    ];
    let parts = parts
        .into_iter()
        .filter_map(|(verb, line)| Some(format!("{verb} ({})", lines.shown(line?))));
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The limits of a launch, and its needs.
fn launch(kernel: &Kernel) -> String {
    let summary = &kernel.summary;
    let triple = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
    let block = match (summary.required_block, summary.max_block) {
        (Some(block), _) => format!("blocks of exactly {} threads", triple(block)),
        (None, Some([x, y, z])) => {
            let threads = x.saturating_mul(y).saturating_mul(z).min(MAX_THREADS);
            format!("blocks of up to {threads} threads")
        }
        (None, None) => format!("blocks of up to {MAX_THREADS} threads"),
    };
    let mut parts = vec![block];
    if let Some(cluster) = summary.cluster.required {
        parts.push(format!("clusters of {} blocks", triple(cluster)));
    } else if let Some(max) = summary.cluster.max_blocks {
        parts.push(format!("clusters of up to {max} blocks"));
    }
    if summary.static_shared > 0 {
        parts.push(format!("{} bytes of shared memory", summary.static_shared));
    }
    if kernel.needs.dynamic_shared {
        parts.push("NEEDS dynamic shared memory: `<<<grid, block, bytes>>>`".to_owned());
    }
    if kernel.needs.cooperative {
        parts.push("NEEDS a cooperative launch: `#[cooperative]` before its node".to_owned());
    }
    parts.join(", ")
}

/// Two threads that race.
fn raced(race: &Race, lines: &Lines<'_>) -> String {
    let place = |[x, y, z]: [u32; 3]| match (y, z) {
        (0, 0) => x.to_string(),
        _ => format!("({x}, {y}, {z})"),
    };
    let access = |access: &RaceAccess| {
        let verb = if access.writes { "writes" } else { "reads" };
        let (thread, block) = (place(access.thread), place(access.block));
        format!("thread {thread} of block {block} {verb} ({})", lines.shown(access.line))
    };
    let [first, second] = race.accesses.each_ref().map(access);
    let memory = &race.memory;
    format!("YES: {first} what {second}, in `{memory}`, with no barrier between")
}

/// Whether the PTX allows a `safe fn`.
fn safety(kernel: &Kernel, proof: &Proof, lines: &Lines<'_>) -> String {
    let summary = &kernel.summary;
    let params = kernel.params.iter().zip(&summary.params);
    let address = params
        .filter(|(param, _)| !param.is_memory)
        .find_map(|(param, facts): (&Param, _)| Some((param, facts.address?)));
    let because = |what: String, line: u32| format!("no: {what} ({})", lines.shown(line));
    match (address, summary.unknown_store, summary.unknown_load) {
        (Some((param, line)), ..) => because(format!("it uses the value of `{}` as an address", param.name), line),
        (None, Some(line), _) => because("it writes through an address of unknown origin".to_owned(), line),
        (None, None, Some(line)) => because("it reads through an address of unknown origin".to_owned(), line),
        (None, None, None) => match proof {
            Proof::Under { contract, .. } if contract.is_empty() => "proved".to_owned(),
            Proof::Under { contract, .. } => format!("proved, with `#[requires({contract})]`"),
            Proof::Open(reason, line) => {
                let place = line.map_or_else(String::new, |line| format!(" ({})", lines.shown(line)));
                format!("possible, but not proved: {reason}{place}")
            }
        },
    }
}
