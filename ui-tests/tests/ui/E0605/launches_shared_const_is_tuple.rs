//! The shared memory of a block is one number of bytes.
use graph_runtime::cuda_graph;
use ui_tests::write;

const BYTES: (u32, u32) = (64, 64);

cuda_graph! {
    graph Test {
        device data: [f32; 2048];
        kernel fill = write<<<1, 64, BYTES>>>(&mut data);
    }
}

fn main() {}
