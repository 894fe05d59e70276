//! Instructions against the results of an H200 for the same operands, which `kernels/probes.cu` describes.

use crate::common::Argument::Write;
use crate::common::{Gpu, download};

/// The names of kernels, and the words that each wrote.
fn recorded() -> Vec<(&'static str, Vec<u32>)> {
    let mut kernels: Vec<(&str, Vec<u32>)> = Vec::new();
    for line in include_str!("../kernels/probes.txt").lines() {
        let words: Option<Vec<u32>> = line.split(' ').map(|word| u32::from_str_radix(word, 16).ok()).collect();
        match (words, kernels.last_mut()) {
            (Some(words), Some((_, all))) if words.len() > 1 || line.len() == 8 => all.extend(words),
            _ => kernels.push((line, Vec::new())),
        }
    }
    kernels
}

#[test]
fn results_are_those_of_the_hardware() {
    let gpu = Gpu::new(include_str!("../kernels/probes.ptx"));
    let kernels = recorded();
    assert!(kernels.len() >= 25);
    let mut wrong = String::new();
    for (name, expected) in kernels {
        let out = gpu.upload("out", &[0u32; 1024]);
        gpu.run(name, 1, 32, &[Write(&out)]);
        let got = download::<u32>(&out);
        assert!(!expected.is_empty(), "{name}");
        assert!(got[expected.len()..].iter().all(|&word| word == 0), "{name}");
        let differ = || (0..expected.len()).filter(|&index| got[index] != expected[index]);
        for index in differ().take(4) {
            wrong += &format!(
                "{name}[{index}]: {:08x}, but {:08x} on the GPU\n",
                got[index], expected[index]
            );
        }
        if differ().count() > 4 {
            wrong += &format!("{name}: {} of {} words differ\n", differ().count(), expected.len());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
