//! Threads of a kernel that race: a warning, if the kernel is proved.
#![deny(warnings)]
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/race.ptx", prove)]
unsafe extern "C" {
    #[requires(n < data.len())]
    safe fn smooth(data: &mut [f32], n: u32);
}

fn main() {}
