//! Rows are of one type, so only the outermost length is a local.
use graph_runtime::{Device, Result, cuda_graph};

fn run(device: &Device, n: usize) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        device data: [[f32; n]; 4];
        memset clear = data <- 0.0;
    }?;
    graph.launch()?;
    Ok(())
}

fn main() {}
