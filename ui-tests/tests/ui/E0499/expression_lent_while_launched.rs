//! Memory that a graph lends borrows the graph, even if the graph has captured it.
use graph_runtime::{Device, Result, cuda_graph};

fn run(device: &Device) -> Result<()> {
    let (from, to) = (device.alloc_host::<[f32; 4]>()?, device.alloc::<[f32; 4]>()?);
    let mut graph = cuda_graph! { device => memcpy up = from -> to; }?;
    let numbers = graph.from_mut()?;
    graph.launch()?;
    numbers.fill(1.0);
    Ok(())
}

fn main() {}
