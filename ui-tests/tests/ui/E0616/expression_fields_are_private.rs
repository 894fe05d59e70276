//! Nobody else gets at what a graph has captured.
use graph_runtime::{Device, Result, cuda_graph};

fn run(device: &Device) -> Result<()> {
    let (from, to) = (device.alloc_host::<[f32; 4]>()?, device.alloc::<[f32; 4]>()?);
    let graph = cuda_graph! { device => memcpy up = from -> to; }?;
    let _ = graph.from;
    drop(graph.__graph);
    Ok(())
}

fn main() {}
