//! A graph that is generic over an element type says which kernels it needs.
use graph_runtime::{Element, cuda_graph};
use ui_tests::scale;

cuda_graph! {
    graph Test<T: Element> {
        device data: [T; 64];
        kernel double = scale::<T><<<1, 64>>>(&mut data, T::zeroed());
    }
}

fn main() {}
