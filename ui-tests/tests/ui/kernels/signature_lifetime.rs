//! A graph keeps alive what it uses: lifetimes are not needed.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn write(out: &'static mut [f32]);
}

fn main() {}
