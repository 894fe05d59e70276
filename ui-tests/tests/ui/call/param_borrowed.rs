//! Params are no memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        param rate: f32 = 0.5;
        device data: [f32; 4];
        memset set = data <- rate;
        call show = |&rate| println!("{rate}");
    }
}

fn main() {}
