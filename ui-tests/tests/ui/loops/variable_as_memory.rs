//! A variable is a number.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        for i in 0..4 {
            kernel k = write<<<1, 1>>>(&mut i);
        }
    }
}

fn main() {}
