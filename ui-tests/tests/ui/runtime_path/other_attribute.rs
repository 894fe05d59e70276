//! Only the path comes first.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    #![allow(unused_resource)]

    graph Test {
        host output: [f32; 4];
        device data: [f32; 4];
        param value: f32 = 1.0;
        memset fill = data <- value;
        kernel ones = write<<<1, 4>>>(&mut data) after fill;
        memcpy down = data -> output after ones;
    }
}

fn main() {}
