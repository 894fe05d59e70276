//! A local that is captured is memory.
use graph_runtime::{Device, Result, cuda_graph};

fn run(device: &Device) -> Result<()> {
    let input = [0.0_f32; 4];
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        memcpy copy = input -> data;
    }?;
    graph.launch()?;
    Ok(())
}

fn main() {}
