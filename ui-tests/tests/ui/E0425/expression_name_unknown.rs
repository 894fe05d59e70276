//! A name that is neither declared nor a local is rustc's own error.
use graph_runtime::{Device, Result, cuda_graph};

fn run(device: &Device) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        memcpy copy = input -> data;
    }?;
    graph.launch()?;
    println!("{:?}", graph.data()?.read()?);
    Ok(())
}

fn main() {}
