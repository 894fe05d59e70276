//! Mistakes in contracts.
use graph_runtime::{cuda_graph, cuda_kernels};

// Contracts are checked at compile time, even if the PTX is known only later.
#[cuda_kernels(cuda = "../../../kernels/ui.cu")]
unsafe extern "C" {
    #[requires(threads <= out.len())]
    safe fn write(out: &mut [f32]);
}

cuda_graph! {
    graph CudaSource {
        device data: [f32; 64];
        kernel fill = write<<<1, 128>>>(&mut data);
    }
}

// A constant in a contract is an integer.
const LIMIT: f32 = 4.0;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(n <= LIMIT)]
    safe fn scaled(data: &mut [f32], factor: f32, n: u32);
}

fn main() {}
