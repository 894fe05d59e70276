//! A priority is an `i32`.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device data: [f32; 1024];
        #[priority("high")]
        kernel fill = write<<<4, 256>>>(&mut data);
    }
}

fn main() {}
