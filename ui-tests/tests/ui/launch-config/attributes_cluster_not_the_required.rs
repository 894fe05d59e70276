//! The kernel is made for clusters of two blocks.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device data: [f32; 1024];
        #[cluster(4)]
        kernel fill = clustered<<<4, 256>>>(&mut data);
    }
}

fn main() {}
