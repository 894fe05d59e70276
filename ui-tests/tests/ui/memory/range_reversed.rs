//! A range does not end before it starts.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test<const N: usize> {
        device data: [f32; N];
        memset zero = data[5..3] <- 0.0;
    }
}

fn main() {}
