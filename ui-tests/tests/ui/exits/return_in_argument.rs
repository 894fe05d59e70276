//! An expression ends with its value, or with an error by `?`.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device data: [f32; 1024];
        param factor: f32 = 1.0;
        kernel grow = scaled<<<4, 256>>>(&mut data, if factor > 2.0 { return Ok(()) } else { factor }, 1024);
    }
}

fn main() {}
