//! The bounds of a range are `usize`s.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(first: i64, len: u32) {
        device data: [[f32; 4]; 8];
        memset rows = data[..len] <- 0.0;
        memset cell = data[0][first..] <- 1.0 after rows;
        memset some = data[1..len][first..3] <- 2.0 after cell;
    }
}

fn main() {}
