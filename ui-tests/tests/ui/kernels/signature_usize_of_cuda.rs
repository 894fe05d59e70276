//! The size of a value does not depend on the host. A CUDA source does not tell it before it is compiled.
use graph_runtime::cuda_kernels;

#[cuda_kernels(cuda = "../../../kernels/ui.cu")]
unsafe extern "C" {
    safe fn scaled(data: &mut [f32], factor: f32, n: usize);
}

fn main() {}
