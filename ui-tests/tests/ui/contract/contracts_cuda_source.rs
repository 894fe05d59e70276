//! Contracts are checked at compile time, even if the PTX is known only later.
use graph_runtime::{cuda_graph, cuda_kernels};

#[cuda_kernels(cuda = "../../../kernels/ui.cu")]
unsafe extern "C" {
    #[requires(threads <= out.len())]
    safe fn write(out: &mut [f32]);
}

cuda_graph! {
    graph Test {
        device data: [f32; 64];
        kernel fill = write<<<1, 128>>>(&mut data);
    }
}

fn main() {}
