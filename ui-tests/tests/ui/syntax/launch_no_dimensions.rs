//! A grid and a block have at least one dimension.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = write<<<1, ()>>>(&mut data);
    }
}

fn main() {}
