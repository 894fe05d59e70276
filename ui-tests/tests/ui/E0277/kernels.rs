//! Mistakes in declarations of kernels.
use graph_runtime::{Device, Element, Kernel, cuda_graph, cuda_kernels};
use ui_tests::scale;

struct Padded(u8, u32);

// By-value types are checked as for PTX.
#[cuda_kernels(cuda = "../../../kernels/ui.cu")]
unsafe extern "C" {
    safe fn fill(out: &mut [f32], by: Padded);
}

// The kernels of a generic graph exist for the types that `#[for_each(..)]` lists.
cuda_graph! {
    graph ForEachOfGenericGraph<T: Element> where scale<T>: Kernel {
        device data: [T; 64];
        kernel double = scale::<T><<<1, 64>>>(&mut data, T::zeroed());
    }
}

fn for_each_of_generic_graph() {
    ForEachOfGenericGraph::<u32>::build(&Device::emulator()).unwrap();
}

// A value is plain data: a type that is `Pod`.
pub struct Pair(f32, f32, u32);

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    fn with_struct(data: &mut [f32], p: Pair);
}

fn main() {}
