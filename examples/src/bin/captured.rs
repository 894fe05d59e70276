//! A captured graph: a matrix product of cuBLAS and a kernel that is launched by hand, recorded from a stream,
//! replayed, and recorded again with other work and other memory.
//!
//! Capturing needs a CUDA device and cuBLAS (`libcublas`, which cudarc loads when it is first used). On the CPU
//! emulator, plain Rust stands for both, and runs in each launch.

use examples::bench::launches;
use examples::compare::close;
use examples::cublas::{built, gemm, multiply, product, whole_numbers};
use examples::program::start;
use graph_runtime::cudarc::driver::{CudaFunction, LaunchConfig, PushKernelArg};
use graph_runtime::cudarc::nvrtc::Ptx;
use graph_runtime::{
    BoxError, CaptureOptions, CaptureStream, CapturedGraph, Device, DeviceBuffer, GraphBuilder, OnDevice, Place,
    Pointer, PointerMut,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Rows and columns.
const N: usize = 256;

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
    let config = LaunchConfig::for_num_elems((N * N) as u32);
    // SAFETY: the launches below write `out`.
    let queue = unsafe { stream.cudarc() };
    for _ in 0..times {
        // SAFETY: the kernel takes one address, of a number for each thread: they are whole blocks.
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
    let (times, also) = (times.clone(), times.clone());
    let graph = builder.build_captured_or_else(
        options,
        (&a, &b, &mut product),
        move |stream| {
            let (a, b, product) = stream.memory();
            step(stream, &a, &b, &product, times.load(Relaxed))
        },
        move |(a, b, product)| {
            multiply(a, b, product);
            let factor = (1 << also.load(Relaxed)) as f32;
            product
                .as_flattened_mut()
                .iter_mut()
                .for_each(|number| *number *= factor);
        },
    )?;
    Ok((graph, b))
}

fn main() -> Result<(), BoxError> {
    let device = start(&[])?;
    let matrices = [matrix(&device, 0)?, matrix(&device, 1)?, matrix(&device, 2)?];
    let [a, b, other] = &matrices;
    let out = device.alloc::<Matrix>()?;
    let times = Arc::new(AtomicU32::new(1));
    let (mut graph, second) = built(&device, || record(&device, [a, b, &out], &times))?;
    let check = |name, factor, b: &DeviceBuffer<Matrix>| -> Result<_, BoxError> {
        let expected = product(factor, &*a.read()?, &*b.read()?);
        Ok(close(name, out.read()?.as_flattened(), &expected, 0.0)?)
    };

    out.copy_from(&[[0.0; N]; N])?; // the warm-up has written it
    graph.launch()?;
    check("a b, doubled", 2.0, b)?;

    times.store(3, Relaxed);
    graph.record_again()?; // other work: more kernels
    graph.launch()?;
    check("a b, doubled three times", 8.0, b)?;

    graph.rebind(&second, other)?; // the same work with other memory: recorded again, and changed in place
    graph.launch()?;
    check("a c, doubled three times", 8.0, other)?;
    println!("check:   three recordings of {N} x {N} matrices, all numbers as on the CPU");
    if !device.is_emulator() {
        launches(&mut graph)?;
    }
    Ok(())
}

/// A matrix of small whole numbers.
fn matrix(device: &Device, seed: usize) -> graph_runtime::Result<DeviceBuffer<Matrix>> {
    let mut numbers = vec![[0.0; N]; N];
    whole_numbers(seed, numbers.as_flattened_mut());
    let buffer = device.alloc::<Matrix>()?;
    buffer.rows(..)?.copy_from(&numbers)?;
    Ok(buffer)
}
