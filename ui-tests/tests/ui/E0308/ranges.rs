//! Mistakes in ranges.
use graph_runtime::cuda_graph;

// The bounds of a range are `usize`s.
cuda_graph! {
    graph BoundNotUsize(first: i64, len: u32) {
        device data: [[f32; 4]; 8];
        memset rows = data[..len] <- 0.0;
        memset cell = data[0][first..] <- 1.0 after rows;
        memset some = data[1..len][first..3] <- 2.0 after cell;
    }
}

// The ends of a range are `usize`s, whose types rustc checks.
cuda_graph! {
    graph OtherType {
        host input: [f32; 64];
        device data: [f32; 64];
        param n: u32 = 64;
        memcpy up = input[..n] -> data;
    }
}

fn main() {}
