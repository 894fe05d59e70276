//! The PTX file lies beside `Cargo.toml`, or beside the Rust source.
use graph_runtime::cuda_kernels;

#[cuda_kernels("kernels/absent.ptx")]
unsafe extern "C" {
    safe fn write(out: &mut [f32]);
}

fn main() {}
