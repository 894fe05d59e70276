use graph_runtime::cuda_kernels;

// The file is read when the program is compiled, so that it has to be there.
#[cuda_kernels(cuda = "../../../kernels/nowhere.cu")]
unsafe extern "C" {
    safe fn fill(out: &mut [f32]);
}

fn main() {}
