//! Mutants of proved kernels that leave their memory on the emulator are not proved.

use crate::judge::{EFFORT, FILES, alone, fault, is_of_access, is_small, proved, run, text};
use crate::random::Random;
use crate::unwritten::planted_and_proved;
use graph_emulator::FaultKind;
use graph_ptx::ast::{Body, Function, Module};
use graph_ptx::proof::{Effort, Kernel, Verdict, prove, samples};
use std::collections::HashSet;
use std::time::Instant;

/// The ways to change a line.
const WAYS: usize = 22;

/// A proved kernel, alone in its PTX.
struct Source {
    lines: Vec<String>,
    kernel: Kernel,
    body: Body,
    effort: Effort,
}

/// A mutant: the number of its source, and the lines that are changed, with the ways.
type Mutant = (usize, Vec<(usize, usize)>);

fn body_of(module: &Module, entry: &str) -> Option<Body> {
    let named = |function: &&Function| function.entry && function.name == entry;
    module.functions.iter().find(named)?.code().cloned()
}

/// The proved kernels of a file.
fn sources(text: &str, effort: Effort) -> Vec<Source> {
    let kernels = proved(&graph_ptx::parse(text).unwrap(), &effort).into_iter();
    kernels
        .map(|kernel| source(&alone(text, &kernel.entry), kernel, effort))
        .collect()
}

fn source(text: &str, kernel: Kernel, effort: Effort) -> Source {
    let module = graph_ptx::parse(text).unwrap();
    let lines = text.lines().map(str::to_owned).collect();
    assert_eq!(prove(&module, &kernel, &effort), Verdict::Proved, "{}", kernel.entry);
    let body = body_of(&module, &kernel.entry).unwrap();
    Source {
        lines,
        kernel,
        body,
        effort,
    }
}

/// The instruction with another constant as its last operand.
fn with_last(code: &str, change: impl Fn(i64) -> i64) -> Option<String> {
    let (before, number) = code.rsplit_once(", ")?;
    Some(format!("{before}, {};", change(number.parse().ok()?)))
}

/// The instruction with its last two operands in the other order.
fn swapped(code: &str) -> Option<String> {
    let (before, last) = code.rsplit_once(", ")?;
    let (before, first) = before.rsplit_once(", ")?;
    Some(format!("{before}, {last}, {first};"))
}

/// One line changed; `None` if this way does not change it.
fn changed(line: &str, way: usize) -> Option<String> {
    let line = line.trim();
    let code = line.strip_suffix(';')?;
    let is = |names: &[&str]| names.iter().any(|name| line.starts_with(name));
    let is_branch = line.starts_with('@') && line.contains("bra");
    let is_access = line.contains(']') && is(&["ld.global", "st.global", "ld.shared", "st.shared", "atom.", "red."]);
    let changed = match way {
        0 if is(&["setp."]) => {
            let turned = [
                ("ge", "gt"),
                ("gt", "ge"),
                ("lt", "le"),
                ("le", "lt"),
                ("ne", "eq"),
                ("eq", "ne"),
            ];
            let (from, to) = turned
                .iter()
                .find(|(from, _)| line.starts_with(&format!("setp.{from}.")))?;
            line.replacen(&format!("setp.{from}."), &format!("setp.{to}."), 1)
        }
        1 if is(&["mul.wide.", "mul.lo."]) => with_last(code, |by| by.wrapping_mul(2))?,
        2 if is_branch => String::new(),
        3 if is(&["mad.lo.s32"]) || is(&["mov.u32"]) && line.contains("%tid") => {
            let register = code.split_whitespace().nth(1)?.trim_end_matches(',');
            format!("{line} add.s32 {register}, {register}, 1;")
        }
        4 if is_access => line.replacen(']', "+4]", 1).replacen("+4+4]", "+8]", 1),
        5 if is(&["add.s", "add.u"]) => with_last(code, |number| number.wrapping_add(1))?,
        6 if is(&["mov.u32"]) && line.contains("%ntid") => line.replace("%ntid", "%nctaid"),
        7 if is(&["shl.b"]) => with_last(code, |by| by.wrapping_add(1))?,
        8 if is(&["setp."]) => line.replacen(".u32", ".s32", 1),
        9 if is(&["mul.wide.u32"]) => line.replacen("mul.wide.u32", "mul.wide.s32", 1),
        10 if is(&["add.s", "add.u"]) => with_last(code, |number| number.wrapping_mul(2))?,
        11 if is(&["setp."]) => with_last(code, |number| number.wrapping_add(1))?,
        12 if is(&["setp.", "sub.s", "sub.u"]) => swapped(code)?,
        13 if is_branch => match line.strip_prefix("@!") {
            Some(rest) => format!("@{rest}"),
            None => line.replacen('@', "@!", 1),
        },
        14 if is(&["and.b", "shr.u", "shr.s", "shr.b"]) => with_last(code, |number| number / 2)?,
        15 if is(&["cvt."]) => line.replacen("cvt.u64.u32", "cvt.s64.s32", 1).replacen(
            "cvt.s64.s32 ",
            "cvt.u64.u32 ",
            usize::from(line.contains("cvt.s64")),
        ),
        16 if is(&["min."]) => line.replacen("min.", "max.", 1),
        16 if is(&["max."]) => line.replacen("max.", "min.", 1),
        17 if is_access => line.replacen(']', "+-4]", 1),
        18 if is(&["mad.lo.s32", "mad.lo.u32", "mad.wide"]) => {
            // The row is the width.
            let (before, last) = code.rsplit_once(", ")?;
            let (before, _) = before.rsplit_once(", ")?;
            format!("{before}, {last}, {last};")
        }
        19 if is(&["mov.u32"]) && line.contains("%ctaid") => line.replace("%ctaid", "%tid"),
        20 if is(&["st.global"]) => String::new(),
        21 if is(&["bar.sync"]) => String::new(),
        _ => return None,
    };
    (changed != line).then_some(changed)
}

/// At most `wanted` different mutants: first those of one change, then those of two.
fn mutants(sources: &[Source], wanted: usize, random: &mut Random) -> Vec<Mutant> {
    let changes: Vec<Vec<(usize, usize)>> = sources
        .iter()
        .map(|source| {
            let lines = source.lines.iter().enumerate();
            let all = lines.flat_map(|(index, line)| (0..WAYS).map(move |way| (index, way, line)));
            all.filter_map(|(index, way, line)| changed(line, way).map(|_| (index, way)))
                .collect()
        })
        .collect();
    let mut all: Vec<Mutant> = Vec::new();
    for (number, changes) in changes.iter().enumerate() {
        all.extend(changes.iter().map(|&change| (number, vec![change])));
    }
    for index in (1..all.len()).rev() {
        all.swap(index, random.below(index + 1));
    }
    let mut known: HashSet<Mutant> = HashSet::new();
    for _ in 0..wanted * 40 {
        if all.len() > wanted * 2 {
            break;
        }
        let number = random.below(sources.len());
        let own = &changes[number];
        let mut pair = vec![own[random.below(own.len())], own[random.below(own.len())]];
        pair.sort_unstable();
        if pair[0].0 != pair[1].0 && known.insert((number, pair.clone())) {
            all.push((number, pair));
        }
    }
    all
}

#[test]
fn mutants_that_leave_their_memory_are_not_proved() {
    let wanted: usize = std::env::var("PROOF_MUTANTS").map_or(150, |number| number.parse().unwrap());
    let mut sources: Vec<Source> = FILES
        .iter()
        .flat_map(|file| self::sources(&text(file), EFFORT))
        .collect();
    sources.extend(planted_and_proved().map(|(text, kernel)| source(&text, kernel, EFFORT)));
    let files = std::env::var("PROOF_FILES").unwrap_or_default();
    for file in files.split(':').filter(|file| !file.is_empty()) {
        sources.extend(self::sources(&std::fs::read_to_string(file).unwrap(), EFFORT));
    }
    let start = Instant::now();
    let (mut mutants, mut kept, mut runs, mut faulty, mut endless) = (0, 0, 0, 0, 0);
    let mut wrong: Vec<String> = Vec::new();
    for (number, changes) in self::mutants(&sources, wanted, &mut Random(3)) {
        if mutants == wanted {
            break;
        }
        let Source {
            lines,
            kernel,
            body,
            effort,
        } = &sources[number];
        let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let new: Vec<String> = changes
            .iter()
            .filter_map(|&(index, way)| changed(lines[index], way))
            .collect();
        for ((index, _), line) in changes.iter().zip(&new) {
            lines[*index] = line;
        }
        let text = lines.join("\n");
        let Ok(module) = graph_ptx::parse(&text) else {
            continue;
        };
        // Lines of other functions may be changed, too.
        if body_of(&module, &kernel.entry).as_ref() == Some(body) {
            continue;
        }
        mutants += 1;
        match prove(&module, kernel, effort) {
            Verdict::Proved => {
                kept += 1;
                for launch in samples(&module, kernel, mutants as u64, 6) {
                    if is_small(&launch, 1024) {
                        runs += 1;
                        if let Some(fault) = fault(&text, &module, kernel, &launch, None) {
                            wrong.push(format!("{fault}: {}: {launch:?}\n{new:#?}\n{text}", kernel.entry));
                        }
                    }
                }
            }
            Verdict::Refuted(witness) => {
                if is_small(&witness.launch, 4096) {
                    let fault = run(&text, &module, kernel, &witness.launch, Some(witness.fill), false);
                    match fault.map(|fault| fault.kind) {
                        Some(kind) if is_of_access(&kind) => faulty += 1,
                        // Another block, which the emulator runs before, has no end.
                        Some(FaultKind::StepLimit(_)) => endless += 1,
                        other => wrong.push(format!("{other:?}: {}: {witness:?}\n{new:#?}\n{text}", kernel.entry)),
                    }
                }
            }
            Verdict::Unknown(_) => {}
        }
        if mutants % 1000 == 0 {
            println!(
                "{mutants} mutants in {:?}: {kept} are proved, {faulty} fault",
                start.elapsed()
            );
        }
    }
    println!(
        "{mutants} different mutants of {} kernels: {kept} are proved and ran {runs} times, {faulty} are refuted and \
         fault, {endless} are refuted and have no end",
        sources.len()
    );
    assert!(
        wrong.is_empty(),
        "{} verdicts are wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(mutants >= wanted && faulty > 10, "{mutants} mutants, {faulty} faults");
}
