//! A launch has a grid and a block.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = write<<<, 4>>>(&mut data);
    }
}

fn main() {}
