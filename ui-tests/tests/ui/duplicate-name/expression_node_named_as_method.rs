//! Graphs that are expressions have two more methods.
use graph_runtime::{Device, Result, cuda_graph};

fn run(device: &Device) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        memset into_parts = data <- 0.0;
        join plan after into_parts;
    }?;
    graph.launch()?;
    Ok(())
}

fn main() {}
