//! A path is not quoted.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../../ui-tests/kernels/ui.ptx", crate = "graph_runtime")]
unsafe extern "C" {
    pub safe fn write(out: &mut [f32]);
}

fn main() {}
