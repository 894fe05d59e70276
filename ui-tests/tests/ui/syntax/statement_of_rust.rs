//! What no statement begins with: the name behind it is known all the same.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        let data: [f32; 4] = [0.0; 4];
        memset zero = data <- 0.0;
    }
}

fn main() {}
