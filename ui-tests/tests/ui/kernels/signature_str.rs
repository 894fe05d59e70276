//! Text is passed as bytes.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn read(input: &str, out: &mut [f32]);
}

fn main() {}
