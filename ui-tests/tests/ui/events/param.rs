//! Params are scalars, and change.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        param rate: f32 = 0.5;
        device data: [f32; 4];
        memset set = data <- rate;
        wait start = rate;
    }
}

fn main() {}
