//! A kernel compiled with `__launch_bounds__(128)` has no larger blocks.
use graph_runtime::cuda_graph;
use ui_tests::bounded;

cuda_graph! {
    graph Test {
        device data: [f32; 256];
        kernel fill = bounded<<<1, 256>>>(&mut data);
    }
}

fn main() {}
