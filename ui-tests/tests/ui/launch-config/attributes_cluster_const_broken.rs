//! A grid that is not made of whole clusters, which only rustc knows.
use graph_runtime::cuda_graph;
use ui_tests::*;

const BLOCKS: usize = 4;

cuda_graph! {
    graph Test {
        device data: [f32; 1024];
        #[cluster(BLOCKS - 1, 1, 1)]
        kernel fill = write<<<BLOCKS, 256>>>(&mut data);
    }
}

fn main() {}
