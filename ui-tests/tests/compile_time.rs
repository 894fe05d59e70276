//! The costs of `cuda_graph!` at compile time: a large graph adds little to `cargo check`, and the time grows with its
//! nodes.
//!
//! The times are user CPU seconds. If they are too long they are measured again and the least counts, so that a busy
//! machine does not fail the test.

mod package;

use std::fmt::Write;

use package::Package;

/// The most seconds that 1,000 nodes may add.
const PROMISE: f64 = 1.0;
/// The most times as long that twice as many nodes may take.
const GROWTH: f64 = 2.5;
/// How often each crate is checked at most, while the times are too long.
const MAX_REPETITIONS: usize = 5;

#[test]
fn a_thousand_nodes_add_less_than_a_second_to_cargo_check() {
    let package = Package::new("compile-time", None).expect("a package in the target folder");
    seconds_to_check(&package, 1); // and with it the dependencies
    let mut least = [f64::INFINITY; 3];
    for repetition in 1..=MAX_REPETITIONS {
        for (least, nodes) in least.iter_mut().zip([1, 1_000, 2_000]) {
            *least = least.min(seconds_to_check(&package, nodes));
        }
        let [one, thousand, two_thousand] = least;
        let (thousand, two_thousand) = (thousand - one, two_thousand - one);
        println!(
            "cargo check: {one:.2} s with 1 node, {thousand:.2} s more with 1,000, {two_thousand:.2} s more with 2,000"
        );
        let growth = two_thousand / thousand;
        if repetition < MAX_REPETITIONS && !(thousand < PROMISE && growth < GROWTH) {
            continue;
        }
        assert!(thousand < PROMISE, "1,000 nodes add {thousand:.2} s");
        assert!(growth < GROWTH, "2,000 nodes take {growth:.2} times as long as 1,000");
        break;
    }
}

/// Runs `cargo check` on a graph with this number of nodes; returns the CPU seconds that it took.
fn seconds_to_check(package: &Package, nodes: usize) -> f64 {
    let mut check = package
        .cargo("check", "src/lib.rs", &source(nodes))
        .expect("the source can be written");
    let start = children_seconds();
    let output = check.output().expect("cargo runs");
    let seconds = children_seconds() - start;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    seconds
}

/// A graph of eight chains, each with buffers of its own, of every kind of node.
fn source(nodes: usize) -> String {
    const CHAINS: usize = 8;
    let mut text = String::from("//! Generated.\ngraph_runtime::cuda_graph! {\n    pub graph Large {\n");
    let mut line = |line: std::fmt::Arguments<'_>| writeln!(text, "        {line}").expect("a string takes any text");
    for chain in 0..CHAINS {
        line(format_args!("#[allow(unused_resource)] device a{chain}: [f32; 256];"));
        line(format_args!("#[allow(unused_resource)] device b{chain}: [f32; 256];"));
    }
    for node in 0..nodes {
        let (chain, threads) = (node % CHAINS, 32 * (1 + node % 8));
        let action = match node / CHAINS % 6 {
            0 => format!("kernel n{node} = ui_tests::write<<<1, {threads}>>>(&mut a{chain})"),
            1 => format!("kernel n{node} = ui_tests::scaled<<<1, 256>>>(&mut a{chain}, 0.5, {node} % 256)"),
            2 => format!("kernel n{node} = ui_tests::read<<<1, {threads}>>>(&a{chain}, &mut b{chain})"),
            3 => format!("memset n{node} = a{chain}[{threads}..] <- {node}.0"),
            4 => format!("memcpy n{node} = a{chain}[..{threads}] -> b{chain}[..{threads}]"),
            _ => format!("join n{node}"),
        };
        match node.checked_sub(CHAINS) {
            Some(before) => line(format_args!("{action} after n{before};")),
            None => line(format_args!("{action};")),
        }
    }
    text + "    }\n}\n"
}

/// The user CPU seconds of all child processes that were waited for, and of theirs.
#[cfg(target_os = "linux")]
fn children_seconds() -> f64 {
    // proc_pid_stat(5): `cutime` is the 16th field, counted in hundredths of a second; the second, in parentheses, may
    // hold spaces.
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux has /proc");
    let (_, fields) = stat.rsplit_once(')').expect("a command in parentheses");
    let ticks = fields.split_whitespace().nth(13).expect("more than 16 fields");
    ticks.parse::<f64>().expect("a number") / 100.0
}

/// Seconds since the first call: what other systems have without further dependencies.
#[cfg(not(target_os = "linux"))]
fn children_seconds() -> f64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}
