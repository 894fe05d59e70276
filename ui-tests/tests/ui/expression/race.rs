//! Nodes of an expression are analysed as those of an item.
use graph_runtime::{Device, Result, cuda_graph};

fn run(device: &Device) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        host output: [f32; 4];
        device data: [f32; 4];
        memset set = data <- 1.0;
        memcpy down = data -> output;
    }?;
    graph.launch()?;
    println!("{:?}", graph.output()?);
    Ok(())
}

fn main() {}
