//! A kernel is declared under its name in the PTX, which `#[link_name]` can say.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/odd.ptx")]
unsafe extern "C" {
    #[link_name = "_Z7mangledPd"]
    safe fn mangled(out: &mut [f32]);
}

fn main() {}
