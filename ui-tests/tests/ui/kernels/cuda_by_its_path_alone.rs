use graph_runtime::cuda_kernels;

// A path alone is that of PTX.
#[cuda_kernels("../../../kernels/ui.cu")]
unsafe extern "C" {
    safe fn fill(out: &mut [f32]);
}

fn main() {}
