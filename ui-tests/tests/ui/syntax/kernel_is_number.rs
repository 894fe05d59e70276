//! A kernel node launches a kernel, named by its path.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        kernel fill = 4<<<1, 4>>>();
    }
}

fn main() {}
