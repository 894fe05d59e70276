//! Memory that is updated atomically has the elements that the kernel declares.
use graph_runtime::cuda_graph;
use ui_tests::count;

cuda_graph! {
    graph Test {
        device bins: [f32; 4];
        kernel update = count<<<1, 4>>>(&bins);
    }
}

fn main() {}
