//! The sample: host to device, double, halve, device to host, as one CUDA graph.
//!
//! `forward_backward [FILE]` takes a file of numbers, one a line. It runs on the first CUDA device, or on the CPU
//! emulator if there is none. `RUST_LOG=graph_runtime=trace` shows the graph being built call by call.

use examples::{check, fill, kernel_backward, kernel_forward, log, time};
use graph_runtime::{Device, cuda_graph};
use std::error::Error;
use std::path::PathBuf;

cuda_graph! {
    /// Upload, double, halve, download.
    pub graph ForwardBackward<const N: usize> {
        host   input:  [f32; N];
        device data:   [f32; N];
        host   output: [f32; N];

        memcpy upload   = input -> data;
        kernel forward  = kernel_forward<<<1, N>>>(&mut data)    after upload;
        kernel backward = kernel_backward<<<1, N>>>(&mut data)   after forward;
        memcpy download = data -> output                         after backward;
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    log();
    let device = Device::any()?;
    println!("device:  {}", device.name());
    let file = std::env::args_os().nth(1).map(PathBuf::from);

    let mut graph = ForwardBackward::<1024>::build(&device)?;
    fill(graph.input_mut()?, file.as_deref())?;
    let expected = *graph.input()?;
    graph.launch()?;
    check(graph.output()?, &expected)?;

    time(|| {
        graph.launch()?;
        graph.synchronize()
    })?;
    Ok(())
}
