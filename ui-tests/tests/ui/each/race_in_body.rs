//! The bodies of different iterations run at the same time.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: [u32; 4];
        device data: [f32; 4];
        each i in 0..4 {
            if choice = flag[i] {
                memset clear = data <- 0.0;
            };
        }
    }
}

fn main() {}
