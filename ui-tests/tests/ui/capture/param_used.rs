//! Captured calls are made once; params change.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        param rate: f32 = 0.5;
        device data: [f32; 4];
        memset set = data <- rate;
        capture calls = (&mut data, rate) |stream| drop(rate * 2.0) after set;
    }
}

fn main() {}
