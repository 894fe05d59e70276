//! Mistakes in declarations of kernels.
use graph_runtime::cuda_kernels;

// The file is read when the program is compiled, so that it has to be there.
#[cuda_kernels(cuda = "../../../kernels/nowhere.cu")]
unsafe extern "C" {
    safe fn fill(out: &mut [f32]);
}

// The PTX file lies beside `Cargo.toml`, or beside the Rust source.
#[cuda_kernels("kernels/absent.ptx")]
unsafe extern "C" {
    safe fn write(out: &mut [f32]);
}

// Another file of the folder has the kernel.
#[cuda_kernels("../../../kernels/counts.ptx")]
unsafe extern "C" {
    safe fn count(bins: &[graph_runtime::Atomic<u32>]);
}

fn main() {}
