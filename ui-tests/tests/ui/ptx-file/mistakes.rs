//! Mistakes of the code `ptx-file`.
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

// Tuned files are for targets above the first one, each for another.
#[cuda_kernels(
    "../../../kernels/tuned.sm_80.ptx",
    tuned = [
        "../../../kernels/tuned.ptx",
        "../../../kernels/tuned.sm_90.ptx",
        "../../../kernels/tuned.sm_90.ptx",
    ]
)]
unsafe extern "C" {
    safe fn numbers(data: &mut [u32]);
}

fn main() {}
