//! A borrowed argument is a resource or a part of one.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = write<<<1, 4>>>(&mut data.rows(..));
    }
}

fn main() {}
