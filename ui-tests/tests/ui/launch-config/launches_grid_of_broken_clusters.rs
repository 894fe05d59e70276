//! A kernel that runs in clusters of two blocks needs an even number of them.
use graph_runtime::cuda_graph;
use ui_tests::clustered;

cuda_graph! {
    graph Test {
        device data: [f32; 96];
        kernel fill = clustered<<<3, 32>>>(&mut data);
    }
}

fn main() {}
