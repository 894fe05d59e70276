//! Blocks are deepest in x: z is at most 64.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = write<<<1, (1, 1, 65)>>>(&mut data);
    }
}

fn main() {}
