//! The path leads to the runtime, and not beside it.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../../ui-tests/kernels/ui.ptx", crate = graph_runtime::private::plans)]
unsafe extern "C" {
    #[requires(threads <= out.len())]
    pub safe fn write(out: &mut [f32]);
}

fn main() {}
