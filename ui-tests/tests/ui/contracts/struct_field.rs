//! A contract cannot look into structs.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(p.n <= data.len())]
    fn with_struct(data: &mut [f32], p: ui_tests::Params);
}

fn main() {}
