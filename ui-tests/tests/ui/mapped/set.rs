//! A memset could meet accesses of the host.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        mapped news: [u32; 4];
        memset clear = news <- 0;
    }
}

fn main() {}
