use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx", prove)]
unsafe extern "C" {
    #[requires(1 <= table.len())]
    safe fn noisy(table: &[ui_tests::Params], data: &mut [f32]);
}

fn main() {}
