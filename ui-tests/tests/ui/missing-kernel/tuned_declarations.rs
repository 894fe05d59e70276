//! A declaration holds for all files.
use graph_runtime::cuda_kernels;

#[cuda_kernels(
    "../../../kernels/tuned.ptx",
    tuned = ["../../../kernels/tuned.sm_80.ptx", "../../../kernels/tuned.sm_90.ptx"]
)]
unsafe extern "C" {
    safe fn one(data: &mut [u32]);
    safe fn moved(from: &[u32], to: &mut [u32]);
    safe fn numbers(data: &mut [u32], n: u32);
}

#[cuda_kernels("../../../kernels/tuned.ptx", tuned = [], tuned = [])]
unsafe extern "C" {}

#[cuda_kernels("../../../kernels/tuned.ptx", "../../../kernels/tuned.sm_90.ptx")]
unsafe extern "C" {}

fn main() {}
