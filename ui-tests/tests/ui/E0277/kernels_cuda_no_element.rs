use graph_runtime::cuda_kernels;

struct Padded(u8, u32);

// By-value types are checked as for PTX.
#[cuda_kernels(cuda = "../../../kernels/ui.cu")]
unsafe extern "C" {
    safe fn fill(out: &mut [f32], by: Padded);
}

fn main() {}
