//! Only `after` orders nodes, not the order of declaration: this is the race that a CUDA graph does not report.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        device data: [f32; 4];
        memcpy upload = input -> data;
        kernel fill = write<<<1, 4>>>(&mut data);
    }
}

fn main() {}
