//! A kernel takes structs by value.
use graph_runtime::bytemuck::{Pod, Zeroable};
use graph_runtime::{cuda_graph, cuda_kernels};

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Pair {
    parts: [u16; 4],
}

// SAFETY: all zeroes is a value of an array of integers.
unsafe impl Zeroable for Pair {}
// SAFETY: `repr(C)`, one array of integers, so without padding.
unsafe impl Pod for Pair {}

#[cuda_kernels("kernels/odd.ptx")]
unsafe extern "C" {
    #[requires(threads <= out.len())]
    safe fn with_pair(out: &mut [f32], pair: Pair);
}

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = with_pair<<<1, 4>>>(&mut data, Pair { parts: [1, 2, 3, 4] });
    }
}
