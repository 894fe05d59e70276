//! A node is no value, and no event.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        device count: [u32; 4];
        memset zero = data <- 0.0;
        memset one = count <- zero after zero;
        wait start = zero;
        join both after one, start;
    }
}

fn main() {}
