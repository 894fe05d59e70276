//! A value is plain data: a type that is `Pod`.
use graph_runtime::cuda_kernels;

pub struct Pair(f32, f32, u32);

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    fn with_struct(data: &mut [f32], p: Pair);
}

fn main() {}
