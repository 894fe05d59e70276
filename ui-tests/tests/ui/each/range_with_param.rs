//! The number of iterations is fixed when the graph is built.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        param n: usize = 4;
        device data: [f32; 4];
        each i in 0..n {
            memset fill = data[i] <- 0.0;
        }
    }
}

fn main() {}
