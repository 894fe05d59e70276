//! Memory is borrowed, so that it is said whether a kernel writes it.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = write<<<1, 4>>>(data);
    }
}

fn main() {}
