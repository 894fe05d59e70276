//! `#[link_name]` says the name in the PTX.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[link_name]
    safe fn write(out: &mut [f32]);
}

fn main() {}
