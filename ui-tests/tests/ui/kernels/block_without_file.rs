//! The PTX file is named.
use graph_runtime::cuda_kernels;

#[cuda_kernels]
unsafe extern "C" {
    safe fn write(out: &mut [f32]);
}

fn main() {}
