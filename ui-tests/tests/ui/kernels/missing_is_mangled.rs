//! Without `extern "C"` C++ gives a kernel another name.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/odd.ptx")]
unsafe extern "C" {
    safe fn mangled(out: &mut [f32]);
}

fn main() {}
