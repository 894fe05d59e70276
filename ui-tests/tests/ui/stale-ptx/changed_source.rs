//! The source has changed since the PTX was made of it.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../../ui-tests/kernels/stale.ptx")]
unsafe extern "C" {
    safe fn scaled(data: &mut [f32]);
}

fn main() {}
