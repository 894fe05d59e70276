//! Brackets behind a resource hold an index or a range.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset zero = data[] <- 0.0;
    }
}

fn main() {}
