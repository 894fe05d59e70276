//! A graph in a context and on a stream of a cudarc that is not graph-runtime's.

use cudarc::driver::CudaContext;
use graph_runtime::{AnyGraph, Device, cuda_graph};

cuda_graph! {
    graph Halves {
        host   result: [f32; 4];
        device data: [f32; 4];
        memset clear = data <- 0.5;
        memcpy down  = data -> result after clear;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    // SAFETY: `context` keeps the context alive, and the device keeps `context`. No event of the device outlives it.
    let device = unsafe { Device::from_raw_context(context.cu_ctx().cast(), context.clone()) }?;
    let mut graph = Halves::build(&device)?;
    // SAFETY: the stream is of the context, and lives.
    unsafe { graph.launch_on_raw(stream.cu_stream().cast()) }?;
    assert_eq!(graph.result()?, &[0.5; 4]);
    let raw = graph.raw().ok_or("a graph on CUDA")?;
    assert!(!raw.exec.is_null() && device.raw().is_some_and(|raw| raw.cast() == context.cu_ctx()));
    Ok(())
}
