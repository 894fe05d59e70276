//! Library calls in a graph: two matrix products of cuBLAS, captured as nodes that can run at the same time.
//!
//! Capturing needs a CUDA device and cuBLAS (`libcublas`, which cudarc loads when it is first used). On the CPU
//! emulator, plain Rust stands for cuBLAS: the closures after `else`.

use examples::bench::launches;
use examples::compare::close;
use examples::cublas::{built, gemm, multiply, product, whole_numbers};
use examples::program::start;
use graph_runtime::{BoxError, cuda_graph};

/// Rows and columns.
const N: usize = 256;

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
        } else |a, b, left| {
            multiply(a, b, left)
        } after upload_a, upload_b;
        capture a_times_c = (&a, &c, &mut right) |stream| {
            // SAFETY: the node reads `a` and `c`, and writes `right`.
            unsafe { gemm(stream, &a, &c, &right) }
        } else |a, c, right| {
            multiply(a, c, right)
        } after upload_a, upload_c;
        memcpy download_left  = left -> outputs[0]    after a_times_b;
        memcpy download_right = right -> outputs[1]   after a_times_c;
    }
}

fn main() -> Result<(), BoxError> {
    let device = start(&[ParallelGemms::PLAN])?;
    show_levels();
    let mut graph = built(&device, || ParallelGemms::build(&device))?;
    whole_numbers(0, graph.input_mut()?.as_flattened_mut().as_flattened_mut());
    graph.launch()?;
    let ([a, b, c], [left, right]) = (graph.input()?, graph.outputs()?);
    close("a b", left.as_flattened(), &product(1.0, a, b), 0.0)?;
    close("a c", right.as_flattened(), &product(1.0, a, c), 0.0)?;
    println!("check:   two products of {N} x {N} matrices, all numbers as on the CPU");
    if !device.is_emulator() {
        launches(&mut graph)?;
    }
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
