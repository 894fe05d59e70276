//! A graph moves the buffers that it captures.
use graph_runtime::{Device, Result, cuda_graph};

fn run(device: &Device) -> Result<()> {
    let data = device.alloc::<[f32; 4]>()?;
    let mut graph = cuda_graph! { device =>
        memset clear = data <- 0.0;
    }?;
    graph.launch()?;
    println!("{:?}", data.read()?);
    Ok(())
}

fn main() {}
