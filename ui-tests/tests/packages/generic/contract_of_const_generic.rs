//! A contract that depends on const generics is checked where the graph is used, by `cargo build`.
use graph_runtime::{Device, cuda_graph};
use ui_tests::write;

cuda_graph! {
    graph Test<const N: usize> {
        device data: [f32; N];
        kernel fill = write<<<4, 256>>>(&mut data);
    }
}

fn main() {
    Test::<1024>::build(&Device::emulator()).unwrap();
    Test::<1000>::build(&Device::emulator()).unwrap();
}
