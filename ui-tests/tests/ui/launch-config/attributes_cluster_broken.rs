//! A grid is made of whole clusters.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device data: [f32; 1024];
        #[cluster(3)]
        kernel fill = write<<<4, 256>>>(&mut data);
    }
}

fn main() {}
