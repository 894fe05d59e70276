//! A declaration that cannot be parsed does not affect other kernels.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn write(out &mut [f32]);
    #[requires(threads <= out.len())]
    safe fn write_f64(out: &mut [f64]);
}

fn main() {}
