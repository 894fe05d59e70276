//! The host cannot look into an array.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        array from: [[f32; 8]; 4];
        array to: [[f32; 8]; 4];
        kernel blur = soften<<<4, 8>>>(&from, &mut to);
        call print = |&to| println!("{to:?}") after blur;
    }
}

fn main() {}
