//! A copy could meet accesses of the host.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        mapped news: [u32; 4];
        host seen: [u32; 4];
        memcpy look = news -> seen;
    }
}

fn main() {}
