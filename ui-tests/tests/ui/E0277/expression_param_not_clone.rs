//! A setter copies params, so they are `Clone`.
use graph_runtime::{Device, Result, cuda_graph};

struct Scale(f32);

fn run(device: &Device) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        param scale: Scale = Scale(1.0);
        memset set = data <- scale.0;
    }?;
    graph.launch()
}

fn main() {}
