//! A block of kernels declares kernels and nothing else.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    static COUNT: u32;
}

fn main() {}
