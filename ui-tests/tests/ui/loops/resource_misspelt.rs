//! Names in a `for` are those of the graph.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        for i in 0..4 {
            memset set = dta[i] <- 1.0;
        }
    }
}

fn main() {}
