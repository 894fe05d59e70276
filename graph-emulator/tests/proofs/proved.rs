//! Proved kernels stay within their memory on the emulator.

use crate::judge::{EFFORT, FILES, alone, fault, is_small, proved, text};
use graph_ptx::proof::{Effort, samples};

/// Runs the proved kernels of a file on memory of the least size. Returns the numbers of kernels and of launches.
fn judge(file: &str, text: &str, effort: &Effort) -> (u64, usize) {
    let module = graph_ptx::parse(text).unwrap();
    let (mut kernels, mut launches) = (0, 0);
    for kernel in proved(&module, effort) {
        kernels += 1;
        let text = alone(text, &kernel.entry);
        for launch in samples(&module, &kernel, kernels, 12) {
            if is_small(&launch, 4096) {
                launches += 1;
                let fault = fault(&text, &module, &kernel, &launch, None);
                assert_eq!(fault, None, "{file}: {}: {launch:?}", kernel.entry);
            }
        }
    }
    (kernels, launches)
}

#[test]
fn proved_kernels_run_on_memory_of_the_least_size() {
    let (mut kernels, mut launches) = (0, 0);
    for file in FILES {
        let (some, runs) = judge(file, &text(file), &EFFORT);
        (kernels, launches) = (kernels + some, launches + runs);
    }
    println!("{kernels} proved kernels, {launches} launches");
    assert!(
        kernels >= 25 && launches >= 100,
        "{kernels} kernels, {launches} launches"
    );
}

/// Kernels of others, whose PTX is named by `PROOF_FILES`: those that are proved run, and at least two in five are.
#[test]
fn public_kernels_are_proved() {
    let Ok(files) = std::env::var("PROOF_FILES") else {
        return;
    };
    let (mut all, mut kernels, mut launches) = (0, 0, 0);
    for file in files.split(':') {
        let text = std::fs::read_to_string(file).unwrap_or_else(|fault| panic!("{file}: {fault}"));
        let start = std::time::Instant::now();
        let (some, runs) = judge(file, &text, &Effort::FULL);
        let module = graph_ptx::parse(&text).unwrap();
        let entries = module.functions.iter().filter(|function| function.entry).count();
        println!(
            "{file}: {some} of {entries} kernels are proved, {runs} launches, {:?}",
            start.elapsed()
        );
        (all, kernels, launches) = (all + entries as u64, kernels + some, launches + runs);
    }
    println!("{kernels} of {all} kernels are proved, {launches} launches");
    assert!(kernels * 5 >= all * 2, "{kernels} of {all}");
}
