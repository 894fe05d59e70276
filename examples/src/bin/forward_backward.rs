//! The sample: host to device, double, halve, device to host, as one CUDA graph.
//!
//! `forward_backward [FILE]` takes a file of numbers, one a line. It runs on the first CUDA device, or on the CPU
//! emulator if there is none. `RUST_LOG=graph_runtime=trace` shows the graph being built call by call.

use examples::bench::launches;
use examples::program::{file_argument, start};
use examples::sample::{check, fill, kernel_backward, kernel_forward};
use graph_runtime::{BoxError, cuda_graph};
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

fn main() -> Result<(), BoxError> {
    let device = start(&[ForwardBackward::<1024>::PLAN])?;
    let file = file_argument().map(PathBuf::from);

    let mut graph = ForwardBackward::<1024>::build(&device)?;
    fill(graph.input_mut()?, file.as_deref())?;
    let expected = *graph.input()?;
    graph.launch()?;
    check(graph.output()?, &expected)?;

    launches(&mut graph)?;
    Ok(())
}
