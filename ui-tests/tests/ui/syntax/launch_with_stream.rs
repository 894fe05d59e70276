//! A launch has no stream: the graph has one.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = write<<<1, 4, 0, stream>>>(&mut data);
    }
}

fn main() {}
