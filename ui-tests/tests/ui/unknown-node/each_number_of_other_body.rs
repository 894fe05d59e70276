//! Each iteration has a body of its own.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: [u32; 4];
        device data: [f32; 4];
        each i in 0..4 {
            if choice = flag[i] {
                memset fill = data[i] <- 0.0 after fill(i - 1);
            };
        }
    }
}

fn main() {}
