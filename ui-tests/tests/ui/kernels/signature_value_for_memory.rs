//! A parameter has the size that the kernel takes.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    fn write(out: u32);
}

fn main() {}
