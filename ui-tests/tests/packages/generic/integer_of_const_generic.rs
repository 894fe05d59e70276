//! An integer that is a generic constant is compared where the graph is used.
use graph_runtime::{Device, cuda_graph};
use ui_tests::scaled;

cuda_graph! {
    graph Test<const N: i64> {
        device data: [f32; 64];
        kernel double = scaled<<<1, 64>>>(&mut data, 2.0, N);
    }
}

fn main() {
    Test::<64>::build(&Device::emulator()).unwrap();
    Test::<-7>::build(&Device::emulator()).unwrap();
}
