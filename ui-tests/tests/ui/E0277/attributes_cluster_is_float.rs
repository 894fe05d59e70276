//! Clusters are numbers of blocks.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device data: [f32; 1024];
        #[cluster(2.0)]
        kernel fill = write<<<4, 256>>>(&mut data);
    }
}

fn main() {}
