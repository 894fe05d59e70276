//! A setter takes the type of its param.
use graph_runtime::{Device, Result, cuda_graph};

fn run(device: &Device) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        param value: f32 = 0.0;
        memset set = data <- value;
    }?;
    graph.set_value(1)?;
    graph.launch()?;
    Ok(())
}

fn main() {}
