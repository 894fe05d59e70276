//! A PTX file is valid PTX.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/broken.ptx")]
unsafe extern "C" {
    safe fn broken(out: &mut [f32]);
}

fn main() {}
