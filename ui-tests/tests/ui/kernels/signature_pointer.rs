//! Memory is passed as references, which say whether it is written and how long it is.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn write(out: *mut f32);
}

fn main() {}
