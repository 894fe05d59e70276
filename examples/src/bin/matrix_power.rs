//! Library calls in a loop on the GPU: one launch multiplies vectors by a matrix as often as the host has asked for.
//! cuBLAS computes the product, captured in the body of a `while`.
//!
//! Capturing needs a CUDA device and cuBLAS (`libcublas`, which cudarc loads when it is first used). On the CPU
//! emulator, plain Rust stands for it. Conditional nodes need a driver of CUDA 12.3.

use examples::bench::launches;
use examples::compare::close;
use examples::cublas::{built, gemm, multiply, whole_numbers};
use examples::program::start;
use graph_runtime::{BoxError, Result, cuda_graph};

/// Rows and columns of the matrix.
const N: usize = 64;
/// The number of vectors, multiplied together.
const VECTORS: usize = 4;
/// The most rounds in one launch.
const MAX_ROUNDS: usize = 16;

cuda_graph! {
    /// `x = x a`, once for each 1 before the first 0 in `rounds`: each round moves these numbers one place to the left.
    pub graph MatrixPower {
        host   rounds: [u32; MAX_ROUNDS + 1];
        host   matrix: [[f32; N]; N];
        host   input:  [[f32; N]; VECTORS];
        host   output: [[f32; N]; VECTORS];
        device more:   [u32; MAX_ROUNDS + 1];
        device moved:  [u32; MAX_ROUNDS];
        device a:      [[f32; N]; N];
        device x:      [[f32; N]; VECTORS];
        device y:      [[f32; N]; VECTORS];

        memcpy start    = rounds -> more;
        memcpy upload_a = matrix -> a;
        memcpy upload_x = input -> x;
        while repeat = more[0] {
            capture product = (&a, &x, &mut y) |stream| {
                // SAFETY: the node reads `a` and `x`, and writes `y`.
                unsafe { gemm(stream, &x, &a, &y) }
            } else |a, x, y| {
                multiply(x, a, y)
            };
            memcpy  back    = y -> x after product;
            memcpy  left    = more[1..] -> moved;
            memcpy  next    = moved -> more[..MAX_ROUNDS] after left;
        } after start, upload_a, upload_x;
        memcpy download = x -> output after repeat;
    }
}

fn main() -> Result<(), BoxError> {
    let device = start(&[MatrixPower::PLAN])?;
    let mut graph = built(&device, || MatrixPower::build(&device))?;
    fill(&mut graph)?;
    for rounds in [0, 1, 5, MAX_ROUNDS] {
        *graph.rounds_mut()? = std::array::from_fn(|round| u32::from(round < rounds));
        graph.launch()?;
        check(&graph, rounds)?;
    }
    println!("check:   {N} x {N} matrix, up to {MAX_ROUNDS} products in a launch, all numbers as on the CPU");
    launches(&mut graph)?;
    Ok(())
}

/// A matrix that moves each vector's elements one place on and turns every third sign, and small whole numbers: all
/// products are exact.
fn fill(graph: &mut MatrixPower) -> Result<()> {
    for (column, image) in graph.matrix_mut()?.iter_mut().enumerate() {
        *image = [0.0; N];
        image[(column + 1) % N] = if column % 3 == 0 { -1.0 } else { 1.0 };
    }
    whole_numbers(0, graph.input_mut()?.as_flattened_mut());
    Ok(())
}

/// Compares the vectors with those of the CPU.
fn check(graph: &MatrixPower, rounds: usize) -> Result<(), BoxError> {
    let mut expected = *graph.input()?;
    for _ in 0..rounds {
        for vector in &mut expected {
            let before = *vector;
            for (column, number) in before.iter().enumerate() {
                vector[(column + 1) % N] = if column % 3 == 0 { -number } else { *number };
            }
        }
    }
    let name = format!("{rounds} rounds");
    close(&name, graph.output()?.as_flattened(), expected.as_flattened(), 0.0)?;
    Ok(())
}
