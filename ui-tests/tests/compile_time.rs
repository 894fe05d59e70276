//! The costs of the macros at compile time: a large graph adds little to `cargo check`, and the time grows with its
//! nodes; so do proofs of kernels, and only in the first build.
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
/// The most seconds that 1,000 kernels with three memory arguments may add.
const ARGUMENTS: f64 = 0.7;
/// The most times as long that five times as many may take.
const FIVE_TIMES: f64 = 5.2;
/// The most times as long that a crate may take with 50 proved kernels as with 50 `safe` ones that nobody proves.
const PROOFS: f64 = 1.2;
/// The most times as long that it may take with the verdicts of the build before: the same, as far as it is measured.
const KEPT: f64 = 1.05;
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

/// Prints what proofs cost. `cargo test -p ui-tests --test compile_time -- --ignored --nocapture` runs it.
#[test]
#[ignore = "compares times of two crates, for which the machine has to be quiet"]
fn fifty_proved_kernels_add_at_most_a_fifth_to_cargo_check() {
    let package = Package::new("proof-time", None).expect("a package in the target folder");
    let ptx = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/kernels/samples.ptx");
    let ptx = std::fs::read_to_string(ptx).expect("the PTX of the pages");
    let check = |text: &str| seconds(&package, text);
    let write = |repetition: usize| {
        // PTX of other text has no verdicts of the build before.
        let text = format!("{ptx}\n// {repetition} {:?}\n", std::time::SystemTime::now());
        package
            .write("kernels/samples.ptx", text.as_bytes())
            .expect("PTX can be written");
    };
    write(0);
    check(&kernels(false)); // and with it the dependencies
    let mut least = [f64::INFINITY; 3];
    for repetition in 1..=MAX_REPETITIONS {
        write(repetition);
        check(&kernels(false)); // and with it the verdicts, so that the next one proves nothing
        for (least, proved) in least.iter_mut().zip([false, true, true]) {
            *least = least.min(check(&kernels(proved)));
        }
    }
    let [trusted, first, second] = least;
    let (first, second) = (first / trusted, second / trusted);
    println!("cargo check: {trusted:.2} s without proofs, {first:.3} times as long with them, {second:.3} times again");
    assert!(first < PROOFS && second < KEPT, "{first:.3} times, {second:.3} times");
}

/// Prints what a graph of kernels with three memory arguments each costs, and how that grows.
/// `cargo test -p ui-tests --test compile_time -- --ignored --nocapture` runs it.
#[test]
#[ignore = "compares times, for which the machine has to be quiet"]
fn five_thousand_kernels_take_little_more_than_five_times_as_long_as_a_thousand() {
    let package = Package::new("argument-time", None).expect("a package in the target folder");
    let ptx = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/kernels/samples.ptx");
    let ptx = std::fs::read(ptx).expect("the PTX of the pages");
    package.write("kernels/samples.ptx", &ptx).expect("PTX can be written");
    seconds(&package, &losses(1)); // and with it the dependencies
    let mut least = [f64::INFINITY; 3];
    for _ in 0..MAX_REPETITIONS {
        for (least, nodes) in least.iter_mut().zip([1, 1_000, 5_000]) {
            *least = least.min(seconds(&package, &losses(nodes)));
        }
    }
    let [one, thousand, five_thousand] = least;
    let (thousand, five_thousand) = (thousand - one, five_thousand - one);
    let growth = five_thousand / thousand;
    println!(
        "cargo check: {one:.2} s with 1 kernel, {thousand:.2} s more with 1,000, {growth:.2} times as much with 5,000"
    );
    assert!(
        thousand < ARGUMENTS && growth < FIVE_TIMES,
        "{thousand:.2} s, {growth:.2} times"
    );
}

/// A graph of eight chains of kernels with three memory arguments.
fn losses(nodes: usize) -> String {
    const CHAINS: usize = 8;
    let mut text = String::from(
        "//! Generated.
#[graph_runtime::cuda_kernels(\"kernels/samples.ptx\")]
unsafe extern \"C\" {
    #[requires(threads <= output.len() && threads <= target.len() && 1 <= loss.len())]
    safe fn add_loss(loss: &[graph_runtime::Atomic<f32>], output: &[f32], target: &[f32]);
}
graph_runtime::cuda_graph! {
    pub graph Large {
",
    );
    let mut line = |line: std::fmt::Arguments<'_>| writeln!(text, "        {line}").expect("a string takes any text");
    for chain in 0..CHAINS {
        line(format_args!(
            "device loss{chain}: [f32; 1]; device x{chain}: [f32; 256]; device y{chain}: [f32; 256];"
        ));
    }
    for node in 0..nodes {
        let chain = node % CHAINS;
        let call = format!("kernel n{node} = add_loss<<<2, 128>>>(&loss{chain}, &x{chain}, &y{chain})");
        match node.checked_sub(CHAINS) {
            Some(before) => line(format_args!("{call} after n{before};")),
            None => line(format_args!("{call};")),
        }
    }
    text + "    }\n}\n"
}

/// A crate of 50 kernels, with or without proofs.
fn kernels(proved: bool) -> String {
    const BLOCKS: usize = 5;
    let block = "#[graph_runtime::cuda_kernels(\"kernels/samples.ptx\", prove)]
    unsafe extern \"C\" {
        #[requires(threads <= out.len())]
        pub safe fn write(out: &mut [f32]);
        #[requires(threads <= input.len() && threads <= out.len())]
        pub safe fn read(input: &[f32], out: &mut [f32]);
        #[requires(n <= data.len())]
        pub safe fn scaled(data: &mut [f32], factor: f32, n: u32);
        #[requires(threads <= first.len() && threads <= second.len())]
        pub safe fn two_out(first: &mut [f32], second: &mut [f32]);
        #[requires(threads <= data.len())]
        pub safe fn scale_f32(data: &mut [f32], factor: f32);
        #[requires(threads <= data.len())]
        pub safe fn scale_f64(data: &mut [f64], factor: f64);
        #[requires(threads <= bytes.len() && 256 <= bins.len())]
        pub safe fn histogram(bins: &[graph_runtime::Atomic<u32>], bytes: &[u8]);
        #[requires(threads <= output.len() && threads <= target.len() && 1 <= loss.len())]
        pub safe fn add_loss(loss: &[graph_runtime::Atomic<f32>], output: &[f32], target: &[f32]);
        #[requires(1 <= position.len() && len <= tokens.len() && 1 <= stop.len() && 1 <= more.len())]
        pub safe fn next_token(tokens: &mut [u32], len: u32, stop: &[u32], position: &mut [u32], more: &mut [u32]);
        #[requires(block == 64 && grid <= x.len() && grid <= exps.len() && grid <= y.len())]
        pub safe fn softmax(x: &[[f32; 64]], exps: &mut [[f32; 64]], y: &mut [[f32; 64]]);
    }";
    let block = if proved {
        block.to_owned()
    } else {
        block.replace(", prove", "")
    };
    let modules = (0..BLOCKS).map(|number| format!("pub mod m{number} {{\n    {block}\n}}\n"));
    format!(
        "//! Generated.\n#![allow(missing_docs)]\n{}",
        modules.collect::<String>()
    )
}

/// Runs `cargo check` on a graph with this number of nodes; returns the CPU seconds that it took.
fn seconds_to_check(package: &Package, nodes: usize) -> f64 {
    seconds(package, &source(nodes))
}

/// Runs `cargo check` on a crate of this text; returns the CPU seconds that it took.
fn seconds(package: &Package, text: &str) -> f64 {
    let mut check = package
        .cargo("check", "src/lib.rs", text)
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
