//! One index or range selects from the outermost dimension; a second is not part of this version.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [[f32; 4]; 4];
        memset zero = data[1][2] <- 0.0;
    }
}

fn main() {}
