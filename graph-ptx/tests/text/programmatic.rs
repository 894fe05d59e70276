//! The accesses of kernels before `griddepcontrol.wait`, and their writes after `griddepcontrol.launch_dependents`:
//! `data/programmatic.cu`, compiled by NVRTC 12.4 for `sm_90`, and small texts.

use graph_ptx::ast::Cluster;
use graph_ptx::{KernelSummary, Touched, parse, summarize};

const TEXT: &str = include_str!("../data/programmatic.ptx");

fn summary(text: &str, name: &str, pointers: &[bool]) -> KernelSummary {
    summarize(&parse(text).unwrap(), name, pointers).unwrap()
}

/// Describes a kernel in [`TEXT`]: `exit` if it may end without waiting, `early` and `nc` with the parameters touched
/// in that way, `?` for unknown memory and variables by name.
fn faults(text: &str, name: &str, pointers: &[bool]) -> String {
    let summary = summary(text, name, pointers);
    let list = |title: &str, touched: Vec<(Touched<'_>, u32)>| {
        let names = touched.into_iter().map(|(touched, _)| match touched {
            Touched::Param(index) => index.to_string(),
            Touched::Variable(name) => name.to_owned(),
            Touched::Unknown => "?".to_owned(),
        });
        let names: Vec<String> = names.collect();
        (!names.is_empty()).then(|| format!("{title} {}", names.join(" ")))
    };
    let exit = summary.early_exit.map(|_| "exit".to_owned());
    let parts = [exit, list("early", summary.early()), list("nc", summary.noncoherent())];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn check(name: &str, pointers: &[bool], expected: &str) {
    assert_eq!(faults(TEXT, name, pointers), expected, "{name}");
}

const TWO: &[bool] = &[true, true];
const TWO_AND_VALUE: &[bool] = &[true, true, false];

#[test]
fn accesses_behind_the_wait_are_not_early() {
    check("right", TWO, "");
    check("waits_on_all_paths", TWO_AND_VALUE, "");
    check("waits_in_a_function", TWO, "");
    check("traps", &[true, false], "");
}

#[test]
fn accesses_before_the_wait_are_early() {
    check("weights", &[true; 3], "early 0");
    check("writes_early", TWO, "early 1");
    check("counts_early", &[true], "early 0");
    check("writes_early_in_a_function", &[true], "early 0");
    check("variables", &[true, false], "early bias table, nc table");
}

#[test]
fn what_leads_nowhere_known_is_early_too() {
    check("follows_early", &[true], "early ? 0");
    // Passed by value, the pointer leads to memory that no parameter declares.
    check("writes_early", &[true, false], "early ?");
}

#[test]
fn a_wait_that_some_path_avoids_does_not_count() {
    check("returns_early", TWO_AND_VALUE, "exit");
    check("waits_sometimes", TWO_AND_VALUE, "exit, early 0 1");
    check("waits_guarded", TWO_AND_VALUE, "exit, early 0 1");
    check("waits_in_a_loop", TWO_AND_VALUE, "exit, early 0 1");
}

#[test]
fn a_kernel_that_never_waits_only_says_so() {
    check("never_waits", TWO, "exit");
    let summary = summary(TEXT, "never_waits", TWO);
    assert_eq!(summary.dependency_wait, None);
    assert!(summary.launch_dependents.is_some());
}

#[test]
fn loads_that_are_not_coherent_are_found_anywhere() {
    check("restricted", TWO, "nc 0");
}

#[test]
fn lines_are_those_of_the_instructions() {
    let summary = summary(TEXT, "writes_early", TWO);
    let line = |line: Option<u32>| TEXT.lines().nth(line.unwrap() as usize - 1).unwrap().trim();
    assert_eq!(line(summary.dependency_wait), "griddepcontrol.wait;");
    assert_eq!(line(summary.params[1].access.early), "st.global.u32 \t[%rd6], %r5;");
    assert_eq!(summary.params[0].access.early, None);
    let early = self::summary(TEXT, "returns_early", TWO_AND_VALUE);
    assert_eq!(line(early.early_exit), "ret;");
}

#[test]
fn clusters_are_recorded() {
    let cluster = |text: &str| summary(text, "clustered", &[true]).cluster;
    let required = Cluster {
        required: Some([2, 1, 1]),
        explicit: true,
        ..Cluster::default()
    };
    assert_eq!(cluster(TEXT), required);
    let header = ".version 8.4\n.target sm_90\n.entry clustered(.param .u64 a)\n";
    let text = format!("{header}.explicitcluster .maxclusterrank 8 {{ ret; }}");
    let largest = Cluster {
        max_blocks: Some(8),
        explicit: true,
        ..Cluster::default()
    };
    assert_eq!(cluster(&text), largest);
    let text = format!("{header}.reqntid 32 .reqnctapercluster 2 .blocksareclusters {{ ret; }}");
    assert!(cluster(&text).counts_grid);
}

/// A kernel of these instructions, with a pointer `a` in `%rd1`, a value `n` in `%rd2`, and the variable `v`.
fn kernel(functions: &str, body: &str) -> String {
    format!(
        ".version 8.4\n.target sm_90\n.address_size 64\n.global .u32 v;\n{functions}
         .entry k(.param .u64 a, .param .u64 n) {{
         .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
         ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [n];\n{body}\n}}"
    )
}

fn check_body(functions: &str, body: &str, expected: &str) {
    let wanted = expected;
    assert_eq!(faults(&kernel(functions, body), "k", &[true, false]), wanted, "{body}");
}

#[test]
fn every_kind_of_access_counts() {
    let early = [
        "ld.volatile.global.u32 %r1, [%rd1];",
        "st.global.u32 [%rd1], %r1;",
        "red.global.add.u32 [%rd1], 1;",
        "atom.global.cas.b32 %r1, [%rd1], 0, 1;",
        "cp.async.ca.shared.global [%r1], [%rd1], 4;",
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;",
        "discard.global.L2 [%rd1], 128;",
    ];
    for access in early {
        check_body("", &format!("{access} griddepcontrol.wait; ret;"), "early 0");
        check_body("", &format!("griddepcontrol.wait; {access} ret;"), "");
    }
    let noncoherent = [
        "ld.global.nc.L1::no_allocate.u32 %r1, [%rd1];",
        "ldu.global.u32 %r1, [%rd1];",
        "prefetch.tensormap [%rd1];",
    ];
    for load in noncoherent {
        check_body("", &format!("griddepcontrol.wait; {load} ret;"), "nc 0");
    }
    check_body("", "prefetch.global.L2 [%rd1]; griddepcontrol.wait; ret;", "");
    check_body("", "ld.shared.u32 %r1, [%r2]; griddepcontrol.wait; ret;", "");
    // A texture, whose handle comes by value.
    check_body(
        "",
        "griddepcontrol.wait; tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd2, {%r5}]; ret;",
        "nc ?",
    );
}

#[test]
fn functions_are_followed() {
    let exits = ".func f() { exit; }";
    check_body(exits, "call f; griddepcontrol.wait; ret;", "exit");
    let maybe = ".func f() { .reg .pred p; @p ret; griddepcontrol.wait; }";
    check_body(maybe, "call f; st.global.u32 [%rd1], 1; ret;", "exit, early 0");
    let certainly = ".func g() { griddepcontrol.wait; } .func f() { call g; }";
    check_body(certainly, "call f; st.global.u32 [%rd1], 1; ret;", "");
    check_body(certainly, "@%p1 call f; st.global.u32 [%rd1], 1; ret;", "exit, early 0");
    let forever = ".func f() { .reg .pred p; @p call f; griddepcontrol.wait; }";
    check_body(forever, "call f; st.global.u32 [%rd1], 1; ret;", "");
    let variable = ".func f() { st.global.u32 [v], 1; }";
    check_body(variable, "call f; griddepcontrol.wait; call f; ret;", "early v");
    check_body(variable, "griddepcontrol.wait; call f; ret;", "");
    // Code that is not here may do anything and does not wait.
    let external = ".extern .func f(.param .u64 p);";
    check_body(
        external,
        "call f, (%rd2); griddepcontrol.wait; ret;",
        "early ? , nc ?".replace(" ,", ",").as_str(),
    );
}

/// The lines, from the first of the body, of the last write and of the last that may come after a trigger.
fn check_writes(functions: &str, body: &str, expected: [Option<u32>; 2]) {
    let text = kernel(functions, body);
    let before = text.split_once(body).unwrap().0.lines().count();
    let summary = summary(&text, "k", &[true, false]);
    let line = |line: Option<u32>| Some(line? - u32::try_from(before).unwrap());
    let found = [summary.last_write, summary.last_triggered_write].map(line);
    assert_eq!(found, expected, "{functions}\n{body}");
}

#[test]
fn writes_that_may_come_after_a_trigger_are_found() {
    let trigger = "griddepcontrol.launch_dependents;";
    let store = "st.global.u32 [%rd1], 1;";
    check_writes("", &format!("{store}\n{trigger}\nret;"), [Some(1), None]);
    check_writes("", &format!("{trigger}\n{store}\n{store}\nret;"), [Some(3); 2]);
    check_writes(
        "",
        &format!("{store}\n{trigger}\ngriddepcontrol.wait;\n{store}\nret;"),
        [Some(4); 2],
    );
    check_writes("", &format!("{trigger}\nret;"), [None; 2]);
    check_writes("", &format!("{store}\nret;"), [Some(1), None]);
    // Reads, and writes of other memory, are none.
    check_writes(
        "",
        &format!("{trigger}\nld.global.u32 %r1, [%rd1];\nst.shared.u32 [%r2], 1;\nret;"),
        [None; 2],
    );
    // Around a loop, the write is after the trigger.
    check_writes("", &format!("L:\n{store}\n{trigger}\n@%p1 bra L;\nret;"), [Some(2); 2]);
    // A trigger of some threads is one.
    check_writes(
        "",
        &format!("@%p1 {trigger}\nred.global.add.u32 [%rd1], 1;\nret;"),
        [Some(2); 2],
    );
    check_writes(
        "",
        &format!("@%p1 bra L;\n{trigger}\nret;\nL: {store}\nret;"),
        [Some(4), None],
    );
    // The callers of a function that triggers go on, and so do functions that are called.
    let triggers = ".func f() { griddepcontrol.launch_dependents; }";
    check_writes(triggers, &format!("{store}\ncall f;\nret;"), [Some(1), None]);
    check_writes(triggers, &format!("{store}\ncall f;\n{store}\nret;"), [Some(3); 2]);
    let ends = ".func f() { griddepcontrol.launch_dependents; exit; }";
    check_writes(ends, &format!("@%p1 call f;\n{store}\nret;"), [Some(2), None]);
    // An address of a value, and a call of code that is not here, may lead anywhere.
    check_writes("", &format!("{trigger}\nst.global.u32 [%rd2], 1;\nret;"), [Some(2); 2]);
    check_writes(".extern .func f();", &format!("{trigger}\ncall f;\nret;"), [Some(2); 2]);
}
