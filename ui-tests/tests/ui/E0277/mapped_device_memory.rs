//! The host cannot reach device memory.
use graph_runtime::cuda_graph;
use ui_tests::announce;

cuda_graph! {
    graph Test {
        device news: [u32; 4];
        kernel tell = announce<<<1, 4>>>(&news, 7);
    }
}

fn main() {}
