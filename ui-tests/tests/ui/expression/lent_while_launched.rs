//! What a graph lends borrows it, also if it is memory that it has captured.
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
