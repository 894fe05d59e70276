//! Shapes of captured memory are compared by type.
use graph_runtime::{Device, Result, cuda_graph};

fn run(device: &Device) -> Result<()> {
    let (from, to) = (device.alloc::<[f32; 4]>()?, device.alloc::<[f32; 8]>()?);
    let mut graph = cuda_graph! { device =>
        memcpy copy = from -> to;
    }?;
    graph.launch()?;
    Ok(())
}

fn main() {}
