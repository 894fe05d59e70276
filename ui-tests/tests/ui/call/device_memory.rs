//! Host functions borrow host memory.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        memset set = data <- 1.0;
        call show = |&data| println!("{data:?}") after set;
    }
}

fn main() {}
