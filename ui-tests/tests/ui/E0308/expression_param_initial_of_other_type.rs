//! The initial value of a param has its type.
use graph_runtime::{Device, Result, cuda_graph};

fn run(device: &Device, n: u32) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        param value: f32 = n;
        memset set = data <- value;
    }?;
    graph.launch()
}

fn main() {}
