//! A range that depends on const generics is checked where the graph is used, by `cargo build`.
use graph_runtime::{Device, cuda_graph};

cuda_graph! {
    graph Test<const N: usize> {
        device data: [f32; N];
        memset zero = data[..8] <- 0.0;
    }
}

fn main() {
    Test::<4>::build(&Device::emulator()).unwrap();
}
