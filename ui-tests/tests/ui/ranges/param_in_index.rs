//! Params choose ranges, but not elements.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [[f32; 64]; 4];
        device row: [f32; 64];
        param i: usize = 1;
        param n: usize = 32;
        memcpy copy = data[i][..n] -> row[..n];
    }
}

fn main() {}
