//! Tuned files are for targets above the first one, each for another.
use graph_runtime::cuda_kernels;

#[cuda_kernels(
    "../../../kernels/tuned.sm_80.ptx",
    tuned = [
        "../../../kernels/tuned.ptx",
        "../../../kernels/tuned.sm_90.ptx",
        "../../../kernels/tuned.sm_90.ptx",
    ]
)]
unsafe extern "C" {
    safe fn numbers(data: &mut [u32]);
}

fn main() {}
