//! The variable of a loop is another value than a local of its name that gives a length.
use graph_runtime::{Device, Result, cuda_graph};

fn run(device: &Device, i: usize, n: usize) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        device x: [[f32; n]; i];
        device y: [[f32; n]; 2];
        for i in 0..3 {
            memset row = x[i] <- 1.0;
            memcpy two = x[i..i + 2] -> y after row;
        }
    }?;
    graph.launch()
}

pub(crate) fn main() {
    let _: fn(&Device, usize, usize) -> Result<()> = run;
}
