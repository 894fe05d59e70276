//! A contract is about scalars.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(p <= 4)]
    fn with_struct(data: &mut [f32], p: ui_tests::Params);
}

fn main() {}
