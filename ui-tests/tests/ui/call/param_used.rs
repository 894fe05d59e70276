//! Closures are made once; params change.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        param rate: f32 = 0.5;
        device data: [f32; 4];
        host output: [f32; 4];
        memset set = data <- rate;
        call scale = |&mut output| output[0] *= rate;
    }
}

fn main() {}
