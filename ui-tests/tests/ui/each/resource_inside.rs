//! An `each` holds nodes and loops.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        each i in 0..4 {
            device data: [f32; 4];
            memset fill = data <- 0.0;
        }
    }
}

fn main() {}
