//! A range that a param chooses may be empty, so that nothing is initialised.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        scratch sums: [f32; 64];
        host output: [f32; 64];
        param n: usize = 64;
        memset clear = sums[..n] <- 0.0;
        memcpy down = sums -> output after clear;
    }
}

fn main() {}
