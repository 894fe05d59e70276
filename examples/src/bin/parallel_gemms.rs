//! Library calls in a graph: two matrix products of cuBLAS, captured as nodes that can run at the same time.
//!
//! Capturing needs a CUDA device and cuBLAS (`libcublas`, which cudarc loads when it is first used). On the CPU
//! emulator the program shows the graph's structure, says what is missing, and ends.

use examples::{check_cublas, gemm, log, time};
use graph_runtime::{Device, Error, cuda_graph};

/// Rows and columns.
const N: usize = 256;

type Matrix = [[f32; N]; N];

cuda_graph! {
    /// `left = a b` and `right = a c`, each with a stream, a handle and a workspace of its own.
    pub graph ParallelGemms {
        host   input:   [[[f32; N]; N]; 3];
        device a:       [[f32; N]; N];
        device b:       [[f32; N]; N];
        device c:       [[f32; N]; N];
        device left:    [[f32; N]; N];
        device right:   [[f32; N]; N];
        host   outputs: [[[f32; N]; N]; 2];

        memcpy upload_a = input[0] -> a;
        memcpy upload_b = input[1] -> b;
        memcpy upload_c = input[2] -> c;
        capture a_times_b = (&a, &b, &mut left) |stream| {
            // SAFETY: the node reads `a` and `b`, and writes `left`.
            unsafe { gemm(stream, &a, &b, &left) }
        } after upload_a, upload_b;
        capture a_times_c = (&a, &c, &mut right) |stream| {
            // SAFETY: the node reads `a` and `c`, and writes `right`.
            unsafe { gemm(stream, &a, &c, &right) }
        } after upload_a, upload_c;
        memcpy download_left  = left -> outputs[0]    after a_times_b;
        memcpy download_right = right -> outputs[1]   after a_times_c;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    log();
    let device = Device::any()?;
    println!("device:  {}", device.name());
    show_levels();
    check_cublas(&device)?;
    let mut graph = match ParallelGemms::build(&device) {
        Err(error @ Error::Unsupported { .. }) if device.is_emulator() => {
            println!("nothing was run: {error}");
            return Ok(());
        }
        graph => graph?,
    };
    fill(graph.input_mut()?);
    graph.launch()?;
    check(&graph)?;
    time(|| {
        graph.launch()?;
        graph.synchronize()
    })?;
    Ok(())
}

/// Prints which nodes can run at the same time.
fn show_levels() {
    let plan = ParallelGemms::PLAN;
    for level in 0..plan.levels() {
        let nodes = plan.nodes.iter().filter(|node| node.level == level);
        let names: Vec<&str> = nodes.map(|node| &*node.name).collect();
        println!("level {level}: {}", names.join(", "));
    }
}

/// Small whole numbers: every sum of their products is exact, in any order, and also if a GPU multiplies TF32.
fn fill(input: &mut [Matrix; 3]) {
    for (index, number) in input.as_flattened_mut().as_flattened_mut().iter_mut().enumerate() {
        *number = (index * 7 % 13) as f32 - 6.0;
    }
}

/// Compares both products with those of the CPU.
fn check(graph: &ParallelGemms) -> Result<(), Box<dyn std::error::Error>> {
    let ([a, b, c], outputs) = (graph.input()?, graph.outputs()?);
    for (name, other, output) in [("a b", b, &outputs[0]), ("a c", c, &outputs[1])] {
        for (index, (row, results)) in a.iter().zip(output).enumerate() {
            for (column, result) in results.iter().enumerate() {
                let expected: f32 = row
                    .iter()
                    .zip(other)
                    .map(|(number, others)| number * others[column])
                    .sum();
                if *result != expected {
                    return Err(format!("`{name}` at {index}, {column} is {result}, expected {expected}").into());
                }
            }
        }
    }
    println!("check:   two products of {N} x {N} matrices, all numbers as on the CPU");
    Ok(())
}
