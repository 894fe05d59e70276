//! CUDA disables kernels, copies and memsets.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        #[disabled]
        join all;
    }
}

fn main() {}
