//! rustc reports a wrong argument in a loop once.
use graph_runtime::cuda_graph;
use ui_tests::scaled;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        for i in 0..4 {
            kernel k = scaled<<<1, 1>>>(&mut data[i..], i, 1);
        }
    }
}

fn main() {}
