//! A captured graph: a matrix product of cuBLAS and a kernel that is launched by hand, recorded from a stream,
//! replayed, and recorded again with other work and other memory.
//!
//! Capturing needs a CUDA device and cuBLAS (`libcublas`, which cudarc loads when it is first used). On the CPU
//! emulator, the program says so and ends.

use examples::{check_cublas, gemm, log, time};
use graph_runtime::cudarc::driver::{CudaFunction, LaunchConfig, PushKernelArg};
use graph_runtime::cudarc::nvrtc::Ptx;
use graph_runtime::{
    BoxError, CaptureOptions, CaptureStream, CapturedGraph, Device, DeviceBuffer, Error, GraphBuilder, OnDevice, Place,
    Pointer, PointerMut,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Rows and columns.
const N: usize = 256;
/// Threads of a block.
const BLOCK: u32 = 256;

type Matrix = [[f32; N]; N];

/// The PTX of the kernel that is launched by hand, `data[i] *= 2`.
const PTX: &str = include_str!("../../kernels/forward_backward.ptx");

/// Queues the work: `out = a b`, which is then doubled `times` times.
fn step<'n, K>(
    stream: &CaptureStream<'n, K>,
    a: &Pointer<'n, Matrix, OnDevice>,
    b: &Pointer<'n, Matrix, OnDevice>,
    out: &PointerMut<'n, Matrix, OnDevice>,
    times: u32,
) -> Result<(), BoxError> {
    // Loading a module is forbidden in a capture, so `prepare` does it, once.
    let double = stream.prepare(|| -> Result<CudaFunction, BoxError> {
        let module = stream.context().load_module(Ptx::from_src(PTX))?;
        Ok(module.load_function("kernel_forward")?)
    })?;
    // SAFETY: the graph reads `a` and `b`, and writes `out`.
    unsafe { gemm(stream, a, b, out) }?;
    let config = LaunchConfig {
        grid_dim: ((N * N) as u32 / BLOCK, 1, 1),
        block_dim: (BLOCK, 1, 1),
        shared_mem_bytes: 0,
    };
    // SAFETY: the launches below write `out`.
    let queue = unsafe { stream.cudarc() };
    for _ in 0..times {
        // SAFETY: the kernel takes one address, of at least one number for each thread.
        unsafe { queue.launch_builder(&double).arg(&out.address()).launch(config) }?;
    }
    Ok(())
}

/// Records the work, after it has warmed up. `times` says how often the product is doubled.
fn record(
    device: &Device,
    [a, b, product]: [&DeviceBuffer<Matrix>; 3],
    times: &Arc<AtomicU32>,
) -> graph_runtime::Result<(CapturedGraph, Place<Matrix, OnDevice>)> {
    let mut builder = GraphBuilder::new(device, "Step");
    let (a, b) = (builder.shared("a", a, false), builder.shared("b", b, false));
    let mut product = builder.shared("product", product, true);
    let options = CaptureOptions {
        warm_up: 3,
        ..Default::default()
    };
    let times = times.clone();
    let graph = builder.build_captured(options, (&a, &b, &mut product), move |stream| {
        let (a, b, product) = stream.memory();
        step(stream, &a, &b, &product, times.load(Relaxed))
    })?;
    Ok((graph, b))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    log();
    let device = Device::any()?;
    println!("device:  {}", device.name());
    check_cublas(&device)?;
    let matrices = [matrix(&device, 0)?, matrix(&device, 1)?, matrix(&device, 2)?];
    let [a, b, other] = &matrices;
    let product = device.alloc::<Matrix>()?;
    let times = Arc::new(AtomicU32::new(1));
    let (mut graph, second) = match record(&device, [a, b, &product], &times) {
        Err(error @ Error::Unsupported { .. }) if device.is_emulator() => {
            println!("nothing was run: {error}");
            return Ok(());
        }
        recorded => recorded?,
    };

    product.copy_from(&[[0.0; N]; N])?; // the warm-up has written it
    graph.launch()?;
    check("a b, doubled", a, b, 2.0, &product)?;

    times.store(3, Relaxed);
    graph.record_again()?; // other work: more kernels
    graph.launch()?;
    check("a b, doubled three times", a, b, 8.0, &product)?;

    graph.rebind(&second, other)?; // the same work with other memory: recorded again, and changed in place
    graph.launch()?;
    check("a c, doubled three times", a, other, 8.0, &product)?;
    println!("check:   three recordings of {N} x {N} matrices, all numbers as on the CPU");
    time(|| {
        graph.launch()?;
        graph.synchronize()
    })?;
    Ok(())
}

/// Small whole numbers: every sum of their products is exact, in any order, and also if a GPU multiplies TF32.
fn matrix(device: &Device, seed: usize) -> graph_runtime::Result<DeviceBuffer<Matrix>> {
    let mut numbers = vec![[0.0; N]; N];
    for (index, number) in numbers.as_flattened_mut().iter_mut().enumerate() {
        *number = (index * (7 + seed) % 13) as f32 - 6.0;
    }
    let buffer = device.alloc::<Matrix>()?;
    buffer.rows(..)?.copy_from(&numbers)?;
    Ok(buffer)
}

/// Compares `factor a b` with that of the CPU.
fn check(
    name: &str,
    a: &DeviceBuffer<Matrix>,
    b: &DeviceBuffer<Matrix>,
    factor: f32,
    product: &DeviceBuffer<Matrix>,
) -> Result<(), Box<dyn std::error::Error>> {
    let (a, b, product) = (a.read()?, b.read()?, product.read()?);
    for (index, (row, results)) in a.iter().zip(product.iter()).enumerate() {
        for (column, result) in results.iter().enumerate() {
            let sum: f32 = row
                .iter()
                .zip(b.iter())
                .map(|(number, others)| number * others[column])
                .sum();
            if *result != factor * sum {
                return Err(format!("`{name}` at {index}, {column} is {result}, expected {}", factor * sum).into());
            }
        }
    }
    Ok(())
}
