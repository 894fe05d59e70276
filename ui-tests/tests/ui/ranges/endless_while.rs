//! A memset of a range that a param chooses may set nothing, which ends no `while`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device go: [u32; 4];
        param n: usize = 1;
        while repeat = go[0] {
            memset stop = go[..n] <- 0;
        };
    }
}

fn main() {}
