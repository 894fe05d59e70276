//! Rows are of one type, so only the outermost length is a build argument.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(n: usize) {
        device data: [[f32; n]; 4];
        memset clear = data <- 0.0;
    }
}

fn main() {}
