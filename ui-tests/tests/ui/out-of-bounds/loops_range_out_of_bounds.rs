//! Literals tell that an iteration leaves its memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 12];
        for i in 0..=2 {
            for j in i..3 {
                memset set = data[4 * i + j..4 * i + 2 * j + 1] <- 1.0;
            }
        }
    }
}

fn main() {}
