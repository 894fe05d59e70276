//! CUDA copies no arrays in conditional bodies.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device more: u32;
        host picture: [[f32; 8]; 4];
        array from: [[f32; 8]; 4];
        array to: [[f32; 8]; 4];
        while repeat = more {
            memcpy up = picture -> from;
            kernel blur = soften<<<4, 8>>>(&from, &mut to) after up;
            memset stop = more <- 0;
        };
    }
}

fn main() {}
