use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx", cuda = "../../../kernels/ui.cu")]
unsafe extern "C" {
    safe fn fill(out: &mut [f32]);
}

fn main() {}
