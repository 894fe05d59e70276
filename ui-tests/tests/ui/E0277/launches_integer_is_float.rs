//! Only integers convert to an integer.
use graph_runtime::cuda_graph;
use ui_tests::scaled;

cuda_graph! {
    graph Test(some: f64, all: bool) {
        device data: [f32; 64];
        kernel first = scaled<<<1, 64>>>(&mut data, 2.0, 64.0);
        kernel second = scaled<<<1, 64>>>(&mut data, 2.0, some) after first;
        kernel third = scaled<<<1, 64>>>(&mut data, 2.0, all) after second;
    }
}

fn main() {}
