//! A launch has its arguments in parentheses, even if there are none.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        kernel fill = write<<<1, 4>>>;
    }
}

fn main() {}
