//! An index is a `usize`, as everywhere in Rust.
use graph_runtime::cuda_graph;

const LAYER: u32 = 1;

cuda_graph! {
    graph Test {
        device rows: [[f32; 4]; 4];
        memset zero = rows[LAYER] <- 0.0;
    }
}

fn main() {}
