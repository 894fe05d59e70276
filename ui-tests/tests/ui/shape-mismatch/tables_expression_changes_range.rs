//! Locals are compared by name.
use graph_runtime::{Device, Result, cuda_graph};

fn run(device: &Device, n: usize, d: usize) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        host input: [[f32; d]; n];
        device data: [[f32; d]; n];
        memcpy upload = input[..n - 1] -> data;
    }?;
    graph.launch()
}

fn main() {
    let _: fn(&Device, usize, usize) -> Result<()> = run;
}
