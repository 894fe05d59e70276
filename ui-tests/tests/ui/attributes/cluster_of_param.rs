//! Clusters are fixed when the graph is built.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        param  side: usize = 2;
        device data: [f32; 1024];
        #[cluster(side)]
        kernel fill = write<<<4, 256>>>(&mut data);
    }
}

fn main() {}
