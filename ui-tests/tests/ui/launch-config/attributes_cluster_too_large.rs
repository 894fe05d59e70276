//! No device has clusters of more than 16 blocks.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device data: [f32; 1024];
        #[cluster(32)]
        kernel fill = write<<<32, 32>>>(&mut data);
    }
}

fn main() {}
