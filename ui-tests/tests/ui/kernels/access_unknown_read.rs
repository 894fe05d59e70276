//! A safe kernel reads nothing but its arguments.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/odd.ptx")]
unsafe extern "C" {
    safe fn gather(table: &[u64], out: &mut [f32]);
}

fn main() {}
