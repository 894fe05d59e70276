//! The updates of a body are unordered with what its node is unordered with.
use graph_runtime::cuda_graph;
use ui_tests::{count, look};

cuda_graph! {
    graph Test {
        device flag: u32;
        device bins: [u32; 4];
        device out: [u32; 4];
        if maybe = flag {
            kernel update = count<<<1, 4>>>(&bins);
        };
        kernel read = look<<<1, 4>>>(&bins, &mut out);
    }
}

fn main() {}
