//! Library calls end with nothing, or with a result.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        capture calls = (&mut data) |stream| data.address();
    }
}

fn main() {}
