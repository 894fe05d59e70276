//! `after` stands behind the bodies.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: [f32; 4];
        memset one = data <- 1.0;
        if maybe = flag after one {
            memset zero = data <- 0.0;
        };
    }
}

fn main() {}
