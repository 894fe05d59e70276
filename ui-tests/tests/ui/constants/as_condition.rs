//! Conditions are in device memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        constant totals: [u32; 2] = "totals";
        device   data:   [f32; 4];
        if maybe = totals[0] {
            memset clear = data <- 0.0;
        };
    }
}

fn main() {}
