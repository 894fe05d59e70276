//! A kernel is named by a path that is in scope.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = fill_all<<<1, 4>>>(&mut data);
    }
}

fn main() {}
