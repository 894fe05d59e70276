//! A launch that depends on const generics is checked where the graph is used, by `cargo build`.
use graph_runtime::{Device, cuda_graph};
use ui_tests::write;

cuda_graph! {
    graph Test<const N: usize> {
        device data: [f32; N];
        kernel fill = write<<<1, N>>>(&mut data);
    }
}

fn main() {
    Test::<2048>::build(&Device::emulator()).unwrap();
}
