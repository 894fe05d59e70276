//! A misspelt `after` may order the node, so no race is reported.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = write<<<1, 4>>>(&mut data);
        memset zero = data <- 0.0 aftr fill;
        kernel again = write<<<1, 4>>>(&mut data) atfer zero;
    }
}

fn main() {}
