//! An index that depends on const generics is checked where the graph is used, by `cargo build`.
use graph_runtime::{Device, cuda_graph};

cuda_graph! {
    graph Test<const I: usize> {
        device data: [[f32; 4]; 8];
        memset zero = data[I] <- 0.0;
    }
}

fn main() {
    Test::<8>::build(&Device::emulator()).unwrap();
}
