//! The work of `forward_backward`, as separate stream operations with a synchronisation after each: it shows what a
//! CUDA graph saves.
//!
//! `forward_backward_eager [FILE]` needs a CUDA device.

use examples::bench::runs;
use examples::program::{file_argument, start};
use examples::sample::{check, fill};
use graph_runtime::BoxError;
use graph_runtime::cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use graph_runtime::cudarc::nvrtc::Ptx;
use std::path::PathBuf;

const N: usize = 1024;

fn main() -> Result<(), BoxError> {
    let device = start(&[])?;
    let Some(context) = device.context() else {
        println!("note:    nothing to compare, since stream launches need a CUDA device");
        return Ok(());
    };
    let file = file_argument().map(PathBuf::from);

    let mut input = vec![0.0_f32; N];
    fill(&mut input, file.as_deref())?;
    let mut output = vec![0.0_f32; N];

    let stream = CudaContext::new_stream(context)?;
    let module = context.load_module(Ptx::from_src(include_str!("../../kernels/forward_backward.ptx")))?;
    let forward = module.load_function("kernel_forward")?;
    let backward = module.load_function("kernel_backward")?;
    let mut data = stream.alloc_zeros::<f32>(N)?;
    let config = LaunchConfig {
        grid_dim: (1, 1, 1),
        block_dim: (N as u32, 1, 1),
        shared_mem_bytes: 0,
    };

    let mut run = || -> Result<(), BoxError> {
        stream.memcpy_htod(&input, &mut data)?;
        stream.synchronize()?;
        for kernel in [&forward, &backward] {
            // SAFETY: both kernels take one pointer and touch one element a thread: 1024 threads, 1024 elements.
            unsafe { stream.launch_builder(kernel).arg(&mut data).launch(config) }?;
            stream.synchronize()?;
        }
        stream.memcpy_dtoh(&data, &mut output)?;
        stream.synchronize()?;
        Ok(())
    };
    run()?;
    runs(run)?;
    check(&output, &input)?;
    Ok(())
}
