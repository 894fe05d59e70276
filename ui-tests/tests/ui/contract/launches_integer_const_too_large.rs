//! The value of a constant is compared with its parameter, and with the contract, whatever its type is.
use graph_runtime::cuda_graph;
use ui_tests::scaled;

const LEN: usize = 64;
const ALL: u64 = 1 << 32;

cuda_graph! {
    graph Test {
        device data: [f32; LEN];
        kernel first = scaled<<<1, 64>>>(&mut data, 2.0, ALL);
        kernel second = scaled<<<1, 64>>>(&mut data, 2.0, LEN + 1) after first;
    }
}

fn main() {}
