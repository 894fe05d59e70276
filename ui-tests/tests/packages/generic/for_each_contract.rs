//! The launch of a generic kernel is checked where the graph is used, by `cargo build`.
use graph_runtime::{Device, Element, Kernel, cuda_graph};
use ui_tests::scale;

cuda_graph! {
    graph Test<T: Element> where scale<T>: Kernel {
        device data: [T; 64];
        kernel double = scale::<T><<<1, 65>>>(&mut data, T::zeroed());
    }
}

fn main() {
    Test::<f32>::build(&Device::emulator()).unwrap();
}
