//! An index or a range selects from the outermost dimension.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [[f32; 4]; 4];
        memset zero = data[1][2] <- 0.0;
    }
}

fn main() {}
