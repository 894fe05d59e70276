//! The number of nodes is fixed when the graph is built, so the range of a `for` takes no param.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: f32;
        param count: usize = 4;
        for i in 0..count {
            memset set = data <- count as f32;
        }
    }
}

fn main() {}
