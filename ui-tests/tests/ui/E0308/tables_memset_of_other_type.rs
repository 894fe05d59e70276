//! A memset sets the elements of a table.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(n: usize, d: usize) {
        device data: [[u32; d]; n];
        memset clear = data <- 0.5;
    }
}

fn main() {}
