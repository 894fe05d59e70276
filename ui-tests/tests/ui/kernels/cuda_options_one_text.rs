use graph_runtime::cuda_kernels;

#[cuda_kernels(cuda = "../../../kernels/ui.cu", options = "--use_fast_math")]
unsafe extern "C" {
    safe fn fill(out: &mut [f32]);
}

fn main() {}
