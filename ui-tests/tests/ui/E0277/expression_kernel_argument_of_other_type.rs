//! Mistakes of types in nodes that params change are rustc's own, once.
use graph_runtime::{Device, Result, cuda_graph};
use ui_tests::scaled;

fn run(device: &Device, n: f64) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        param rate: f32 = 1.0;
        kernel k = scaled<<<1, 4>>>(&mut data, rate, n);
    }?;
    graph.launch()
}

fn main() {}
