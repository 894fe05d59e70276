//! Host functions borrow host memory, to write it, too.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        call fill = |&mut data| data.fill(1.0);
    }
}

fn main() {}
