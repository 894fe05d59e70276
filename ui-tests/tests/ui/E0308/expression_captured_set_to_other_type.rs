//! A memset of captured memory sets elements of its type.
use graph_runtime::{Device, Result, cuda_graph};

fn run(device: &Device) -> Result<()> {
    let data = device.alloc::<[f32; 4]>()?;
    let mut graph = cuda_graph! { device =>
        memset clear = data <- 0.0_f64;
    }?;
    graph.launch()?;
    Ok(())
}

fn main() {}
