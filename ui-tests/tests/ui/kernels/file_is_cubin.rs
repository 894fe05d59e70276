//! A PTX file is text.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.cubin")]
unsafe extern "C" {
    safe fn write(out: &mut [f32]);
}

fn main() {}
