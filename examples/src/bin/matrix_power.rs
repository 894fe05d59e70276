//! Library calls in a loop on the GPU: one launch multiplies vectors by a matrix as often as the host has asked for.
//! cuBLAS computes the product, captured in the body of a `while`.
//!
//! Capturing needs a CUDA device and cuBLAS (`libcublas`, which cudarc loads when it is first used). On the CPU
//! emulator the program says what is missing, and ends. Conditional nodes need a driver of CUDA 12.3.

use cudarc::cublas::sys::cublasOperation_t::CUBLAS_OP_N;
use cudarc::cublas::{Gemm, GemmConfig};
use examples::{check_cublas, cublas, log, time};
use graph_runtime::{BoxError, CaptureStream, Device, Error, OnDevice, Pointer, PointerMut, cuda_graph};

/// Rows and columns of the matrix.
const N: usize = 64;
/// The number of vectors, multiplied together.
const VECTORS: usize = 4;
/// The most rounds in one launch.
const MAX_ROUNDS: usize = 16;

type Matrix = [[f32; N]; N];
type Vectors = [[f32; N]; VECTORS];

cuda_graph! {
    /// `x = a x`, once for each 1 before the first 0 in `rounds`: each round moves these numbers one place to the left.
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
            capture product = (&a, &x, &mut y) |stream| gemm(stream, &a, &x, &y);
            memcpy  back    = y -> x after product;
            memcpy  left    = more[1..] -> moved;
            memcpy  next    = moved -> more[..MAX_ROUNDS] after left;
        } after start, upload_a, upload_x;
        memcpy download = x -> output after repeat;
    }
}

/// `out = a x`, by cuBLAS, on the stream of a `capture` node that declares to read `a` and `x` and to write `out`.
fn gemm<'n, K>(
    stream: &CaptureStream<'n, K>,
    a: &Pointer<'n, Matrix, OnDevice>,
    x: &Pointer<'n, Vectors, OnDevice>,
    out: &PointerMut<'n, Vectors, OnDevice>,
) -> Result<(), BoxError> {
    // SAFETY: the handle queues nothing but the product below.
    let blas = unsafe { cublas(stream) }?;
    let size = N as i32;
    // cuBLAS counts by columns: each row of `a` is a column of its matrix, and each vector a column of `x` and `out`.
    let config = GemmConfig {
        transa: CUBLAS_OP_N,
        transb: CUBLAS_OP_N,
        m: size,
        n: VECTORS as i32,
        k: size,
        alpha: 1.0,
        lda: size,
        ldb: size,
        beta: 0.0,
        ldc: size,
    };
    // SAFETY: all three are used on their node's stream.
    let first = unsafe { stream.slice(a) };
    // SAFETY: as above.
    let second = unsafe { stream.slice(x) };
    // SAFETY: as above.
    let mut product = unsafe { stream.slice_mut(out) };
    // SAFETY: the sizes are those of the types, and the node declares to read the first two and to write the third.
    unsafe { blas.gemm(config, &first, &second, &mut product) }?;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    log();
    let device = Device::any()?;
    println!("device:  {}", device.name());
    check_cublas(&device)?;
    let mut graph = match MatrixPower::build(&device) {
        Err(error @ Error::Unsupported { .. }) if device.is_emulator() => {
            println!("nothing was run: {error}");
            return Ok(());
        }
        graph => graph?,
    };
    fill(&mut graph)?;
    for rounds in [0, 1, 5, MAX_ROUNDS] {
        *graph.rounds_mut()? = std::array::from_fn(|round| u32::from(round < rounds));
        graph.launch()?;
        check(&graph, rounds)?;
    }
    println!("check:   {N} x {N} matrix, up to {MAX_ROUNDS} products in a launch, all numbers as on the CPU");
    time(|| {
        graph.launch()?;
        graph.synchronize()
    })?;
    Ok(())
}

/// A matrix that moves each vector's elements one place on and turns every third sign, and small whole numbers: all
/// products are exact.
fn fill(graph: &mut MatrixPower) -> Result<(), Error> {
    for (column, image) in graph.matrix_mut()?.iter_mut().enumerate() {
        *image = [0.0; N];
        image[(column + 1) % N] = if column % 3 == 0 { -1.0 } else { 1.0 };
    }
    for (index, number) in graph.input_mut()?.as_flattened_mut().iter_mut().enumerate() {
        *number = (index * 7 % 13) as f32 - 6.0;
    }
    Ok(())
}

/// Compares the vectors with those of the CPU.
fn check(graph: &MatrixPower, rounds: usize) -> Result<(), Box<dyn std::error::Error>> {
    let mut expected = *graph.input()?;
    for _ in 0..rounds {
        for vector in &mut expected {
            let before = *vector;
            for (column, number) in before.iter().enumerate() {
                vector[(column + 1) % N] = if column % 3 == 0 { -number } else { *number };
            }
        }
    }
    if *graph.output()? != expected {
        return Err(format!("wrong numbers after {rounds} rounds").into());
    }
    Ok(())
}
