//! The PTX file is named by its path alone.
use graph_runtime::cuda_kernels;

#[cuda_kernels(path = "../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn write(out: &mut [f32]);
}

fn main() {}
