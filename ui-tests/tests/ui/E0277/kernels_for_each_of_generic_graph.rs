//! The kernels of a generic graph exist for the types that `#[for_each(..)]` lists.
use graph_runtime::{Device, Element, Kernel, cuda_graph};
use ui_tests::scale;

cuda_graph! {
    graph Test<T: Element> where scale<T>: Kernel {
        device data: [T; 64];
        kernel double = scale::<T><<<1, 64>>>(&mut data, T::zeroed());
    }
}

fn main() {
    Test::<u32>::build(&Device::emulator()).unwrap();
}
