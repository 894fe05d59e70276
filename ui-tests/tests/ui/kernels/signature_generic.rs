//! A kernel has no generics: the PTX has one kernel for each instance.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn write<T>(out: &mut [T]);
}

fn main() {}
