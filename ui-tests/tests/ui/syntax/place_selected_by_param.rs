//! The memory that a node touches is fixed when the graph is built; params change between launches.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [[f32; 4]; 4];
        param row: usize = 0;
        memset zero = data[row] <- 0.0;
    }
}

fn main() {}
