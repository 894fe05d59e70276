//! Kernels are declared as foreign functions are.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
mod kernels {
    pub fn write(_: &mut [f32]) {}
}

fn main() {}
